"""The examples' systems declare what they use; the sources say the rest."""

from pathlib import Path

import pytest

from orchestrator import read_system
from orchestrator.core.ssp.write.ssd import with_used_connectors

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    "path", sorted(EXAMPLES.glob("*/*.ssd")), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_no_connector_is_declared_that_nothing_uses(path: Path) -> None:
    system = read_system(path)
    assert system == with_used_connectors(system)
