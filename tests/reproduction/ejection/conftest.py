"""The plant of the ejection, built once where the example expects it."""

from __future__ import annotations

from pathlib import Path

import pytest
from compile_cache import exclusive

from orchestrator import build_recipe

PLANTS = Path(__file__).parents[3] / "examples" / "ejection" / "plants"


@pytest.fixture(scope="session")
def arms() -> tuple[Path, ...]:
    """The arm on the table as FMU of FMI 2.0 and of FMI 3.0."""
    recipe = PLANTS / "PlanarArm.toml"
    with exclusive(str(recipe)):
        return tuple(build_recipe(recipe, PLANTS / "build").files.values())
