"""All plants of the manipulator's docking are valid FMUs of FMI 2.0 and 3.0, of both interfaces."""

from __future__ import annotations

import pytest
from fmpy import read_model_description
from fmpy.validation import validate_fmu

from orchestrator.export import build_recipe, find_recipes

WITH_ARRAYS = (
    "AttachedBody",
    "CaptureContact",
    "DragScrew",
    "LockedManipulator",
    "ManipulatorDocking",
    "ManipulatorDockingIdeal",
    "ReducedLegs",
    "StewartPlatform",
    "StewartRobot",
    "WrenchSensor",
)
SCALAR = ("AxialDocking", "AxialDockingIdeal", "ForceSensor")


def check(path, version):
    assert validate_fmu(str(path)) == []
    description = read_model_description(str(path))
    assert description.fmiVersion.startswith(version)
    assert description.coSimulation is not None
    assert description.modelExchange is not None
    for variable in description.modelVariables:
        assert variable.description, variable.name


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_ARRAYS)
def test_both_versions_of_plants_with_arrays(plants, name):
    check(plants / f"{name}.fmu", "2.0")
    check(plants / f"{name}.fmi3.fmu", "3.0")


@pytest.mark.parametrize("name", SCALAR)
def test_both_versions_of_scalar_plants(plants, name, tmp_path):
    check(plants / f"{name}.fmu", "2.0")
    (recipe,) = [r for r in find_recipes(plants.parent) if r.stem == name]
    build_recipe(recipe, tmp_path, fmi=["3.0"])
    check(tmp_path / f"{name}.fmi3.fmu", "3.0")
