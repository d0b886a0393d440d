"""Plants that several modules eject, built once."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator import build_recipe

RECIPES = Path(__file__).parents[3] / "examples" / "ejection" / "plants"


@pytest.fixture(scope="session")
def arms(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """The arm on the table as FMU of FMI 2.0 and of FMI 3.0."""
    folder = tmp_path_factory.mktemp("plants")
    return tuple(build_recipe(RECIPES / "PlanarArm.toml", folder).files.values())
