"""The plants of the benchmark, built once where the example expects them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from compile_cache import exclusive

from orchestrator import build_recipe

EXAMPLE = Path(__file__).parents[3] / "examples" / "rths"


@pytest.fixture(scope="session")
def frames() -> Path:
    """Folder of the FMUs."""
    for recipe in sorted((EXAMPLE / "plants").glob("*.toml")):
        with exclusive(str(recipe)):
            build_recipe(recipe, EXAMPLE / "plants" / "build")
    return EXAMPLE / "plants" / "build"


@pytest.fixture
def script(frames: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Import a script of the example by its name."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    return importlib.import_module
