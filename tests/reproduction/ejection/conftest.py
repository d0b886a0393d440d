"""Plants that several modules eject, built once where the example expects them."""

from __future__ import annotations

from pathlib import Path

import pytest
from compile_cache import exclusive

from orchestrator import build_recipe

RECIPES = Path(__file__).parents[3] / "examples" / "ejection" / "plants"


@pytest.fixture(scope="session")
def arms() -> tuple[Path, ...]:
    """The arm on the table as FMU of FMI 2.0 and of FMI 3.0."""
    recipe = RECIPES / "PlanarArm.toml"
    with exclusive(str(recipe)):
        return tuple(build_recipe(recipe, RECIPES / "build").files.values())
