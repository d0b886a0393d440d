"""Polices the Modelica package: descriptions, documentation, order files, experiments."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from orchestrator.core.units.conversion import base_unit
from orchestrator.export import Recipe, find_recipes
from orchestrator.export.dae.explicit_ode import make_explicit
from orchestrator.export.modelica.flat.reader import read
from orchestrator.export.modelica.frontend import flatten

ROOT = Path(__file__).parents[4] / "modelica"
FILES = sorted((ROOT / "SpaceDocking").rglob("*.mo"))
CLASSES = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in FILES]
MODELS = [
    name
    for name, path in zip(CLASSES, FILES, strict=True)
    if re.search(r"^model ", path.read_text(encoding="utf-8"), re.MULTILINE)
]
SHIPPED = {Recipe.read(path).model for path in find_recipes(ROOT.parent / "fmus")}


@pytest.mark.parametrize("path", FILES, ids=CLASSES)
def test_class_is_documented(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("within")
    assert re.search(r'^(partial )?(model|package|function) \w+\s+"[A-Z]', text, re.MULTILINE)
    assert "Documentation(info" in text
    if path.parent.name == "Examples" and path.name != "package.mo":
        assert "experiment(" in text


@pytest.mark.parametrize("folder", sorted({path.parent for path in FILES}), ids=lambda p: p.name)
def test_order_file_lists_every_class(folder: Path) -> None:
    packages = {path.parent.name for path in folder.glob("*/package.mo")}
    found = {p.stem for p in folder.glob("*.mo")} | packages
    order = folder / "package.order"
    listed = order.read_text(encoding="utf-8").split() if order.exists() else []
    assert sorted(listed) == sorted(found - {"package"})


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_model_exports_with_units_and_descriptions(model: str) -> None:
    dae = read(flatten(model, ROOT))
    if model not in SHIPPED:  # those are made explicit where they are built, once for all tests
        make_explicit(dae)
    for variable in dae.variables:
        assert variable.description, variable.name
        if variable.type.value == "Real":
            assert variable.unit, variable.name
            base_unit(variable.unit)
