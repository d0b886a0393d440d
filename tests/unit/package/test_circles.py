"""No files import each other in a circle, not even within functions."""

import pytest
from import_graph import circles, home_of

#: What annotations alone bring together, each the methods of one class that stand in other files.
OF_SYSTEMS = "orchestrator.core.system."
OF_LINEAR_SYSTEMS = "orchestrator.loops."


def test_no_circle_of_imports():
    assert circles(annotations=False) == []


def test_annotations_make_circles_of_methods_only():
    rooms = {name.rpartition(".")[0] + "." for group in circles(annotations=True) for name in group}
    assert rooms == {OF_SYSTEMS, OF_LINEAR_SYSTEMS}


@pytest.mark.parametrize("name", ["System", "Connection"])
def test_a_face_is_seen_through(name):
    """So a circle through a package's face counts, too."""
    assert home_of("orchestrator.core.system", name) == f"{OF_SYSTEMS}{name.lower()}"
