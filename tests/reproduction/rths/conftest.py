"""The plants of the benchmark, built once where the example expects them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
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
def script(frames: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Import a script of the example by its name; its ``systems`` are not those of the tests."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    shared = sys.modules.pop("systems", None)
    yield importlib.import_module
    sys.modules.pop("systems", None)
    if shared is not None:
        sys.modules["systems"] = shared
