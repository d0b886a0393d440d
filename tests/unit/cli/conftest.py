import shutil
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "epos"


@pytest.fixture(autouse=True)
def _plots_are_looked_at_elsewhere(no_pictures):
    """Here it is about commands; drawing takes nine tenths of a run's time."""


@pytest.fixture
def example(plants, tmp_path):
    """A copy of the example beside copies of the FMUs, for tests that damage something."""
    folder = tmp_path / "examples" / "epos"
    shutil.copytree(EXAMPLE, folder)
    shutil.copytree(plants, tmp_path / "fmus" / "build")
    return folder
