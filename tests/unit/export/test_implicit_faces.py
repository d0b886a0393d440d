"""Implicit equations in FMI 3.0, in model exchange and under error control."""

from __future__ import annotations

import ctypes
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fmpy import extract, read_model_description, simulate_fmu
from fmpy.fmi1 import FMICallException
from fmpy.fmi2 import FMU2Model, fmi2CallbackFunctions, fmi2CallbackLoggerTYPE
from fmpy.fmi3 import FMU3Model, FMU3Slave
from fmpy.validation import validate_fmu
from lxml import etree

from orchestrator.export import build_model

# sqrt(1 - x) = 1 - t/2 until t = 2, where the equation for y becomes singular.
_ROOT = """model Root
  input Real u(start=1); output Real x(start=0, fixed=true); output Real y(start=1);
equation
  der(x) = y; y*y = u - x;
end Root;"""

_DISCARD = 2


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("root")
    (root / "Root.mo").write_text(_ROOT, encoding="utf-8")
    return dict(build_model("Root", root, tmp_path_factory.mktemp("b"), fmi=("2.0", "3.0")).files)


def _open(fmu: Path, folder: Path, kind: Any, messages: list[str]) -> tuple[Any, dict[str, int]]:
    description = read_model_description(str(fmu))
    opened = kind(
        guid=description.guid,
        unzipDirectory=extract(str(fmu), str(folder)),
        modelIdentifier="Root",
        instanceName="unit",
    )
    if kind is FMU2Model:
        callbacks = fmi2CallbackFunctions()
        callbacks.logger = fmi2CallbackLoggerTYPE(lambda *_: None)
        opened.instantiate(callbacks=callbacks)
        opened.kept = callbacks  # C calls them later
        opened.setupExperiment(startTime=0.0)
    else:
        opened.instantiate(
            logMessage=lambda e, s, c, text: messages.append(text.decode()), loggingOn=True
        )
    opened.enterInitializationMode()
    opened.exitInitializationMode()
    return opened, {v.name: v.valueReference for v in description.modelVariables}


def test_both_versions_give_the_same_bits(roots: dict[str, Path]) -> None:
    second, third = (
        simulate_fmu(str(fmu), stop_time=1.5, output_interval=0.1, fmi_type="CoSimulation")
        for fmu in roots.values()
    )
    assert second["x"].tolist() == third["x"].tolist()
    assert third["x"][-1] == pytest.approx(1 - 0.25**2, abs=1e-7)


def test_both_derivatives_pass_through_the_block(roots: dict[str, Path], tmp_path: Path) -> None:
    fmu = roots["3.0"]
    assert validate_fmu(str(fmu)) == []
    with zipfile.ZipFile(fmu) as archive:
        root = etree.fromstring(archive.read("modelDescription.xml"))
    for tag in ("CoSimulation", "ModelExchange"):
        (interface,) = root.findall(tag)
        assert interface.get("providesDirectionalDerivatives") == "true"
        assert interface.get("providesAdjointDerivatives") == "true"
    opened, reference = _open(fmu, tmp_path, FMU3Slave, [])
    y, x = [reference["y"]], [reference["x"]]
    assert opened.getDirectionalDerivative(y, x, [1.0]) == [pytest.approx(-0.5, rel=1e-14)]
    assert opened.getAdjointDerivative(y, x, [1.0], 1) == [pytest.approx(-0.5, rel=1e-14)]
    opened.freeInstance()


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_model_exchange_discards_states_without_a_solution(
    version: str, roots: dict[str, Path], tmp_path: Path
) -> None:
    messages: list[str] = []
    kind = FMU2Model if version == "2.0" else FMU3Model
    opened, _ = _open(roots[version], tmp_path, kind, messages)
    opened.enterContinuousTimeMode()
    name = "getDerivatives" if version == "2.0" else "getContinuousStateDerivatives"
    slope = (ctypes.c_double * 1)()
    opened.setContinuousStates((ctypes.c_double * 1)(2.0), 1)
    with pytest.raises(FMICallException) as caught:
        getattr(opened, name)(slope, 1)
    assert caught.value.status == _DISCARD
    assert version == "2.0" or "no solution of the equations for y" in messages[-1]
    opened.setContinuousStates((ctypes.c_double * 1)(0.75), 1)
    getattr(opened, name)(slope, 1)
    assert slope[0] == pytest.approx(0.5, rel=1e-14)
    opened.freeInstance()


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_model_exchange_against_closed_form(version: str, roots: dict[str, Path]) -> None:
    result = simulate_fmu(
        str(roots[version]),
        stop_time=1.5,
        output_interval=0.1,
        relative_tolerance=1e-10,
        fmi_type="ModelExchange",
    )
    assert result["x"][-1] == pytest.approx(1 - 0.25**2, abs=1e-7)


def test_error_control_takes_shorter_steps_where_there_is_no_solution(
    roots: dict[str, Path], open_fmu: Callable[..., Any]
) -> None:
    unit = open_fmu(roots["2.0"]).initialize()
    unit.step(1.99)
    assert unit.get("x") == [pytest.approx(1 - 0.005**2, abs=1e-7)]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_a_step_without_solution_names_the_unknowns(
    method: str, build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    text = _ROOT.replace("der(x) = y", "der(x) = 1 + 0*y")
    unit = open_fmu(build_text("Root", text, method=method)).initialize()
    unit.step(0.5)
    with pytest.raises(FMICallException):
        unit.step(1.0)
    assert "no solution of the equations for y" in unit.messages[-1]
    assert unit.messages[-1].startswith("fmi2DoStep: ")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_a_failure_elsewhere_is_not_blamed_on_the_equations(
    method: str, build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    text = _ROOT.replace("der(x) = y", "der(x) = sqrt(0.5 - time) + 0*y")
    unit = open_fmu(build_text("Root", text, method=method)).initialize()
    with pytest.raises(FMICallException):
        unit.step(0.7)
    assert "'x'" in unit.messages[-1]
    assert "no solution" not in unit.messages[-1]
