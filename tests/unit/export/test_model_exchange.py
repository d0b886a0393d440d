"""Model exchange, FMI 2.0 and 3.0: FMPy integrates."""

from __future__ import annotations

import ctypes
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy import extract, read_model_description, simulate_fmu
from fmpy.fmi1 import FMICallException
from fmpy.fmi2 import FMU2Model
from fmpy.fmi3 import FMU3Model

from orchestrator.export import build_model

SOURCE = """model Spring "damped oscillator with an input"
  parameter Real w = 3;
  parameter Real zeta = 0.2;
  parameter Real p0 = 0.5;
  input Real u;
  output Real p(start=p0, fixed=true, nominal=2);
  Real v(start=0, fixed=true);
  output Real a;
equation
  der(p) = v;
  der(v) = a;
  a = w^2*(u - p) - 2*zeta*w*v;
end Spring;
"""


@pytest.fixture(scope="module")
def springs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("root")
    (root / "Spring.mo").write_text(SOURCE, encoding="utf-8")
    return dict(build_model("Spring", root, tmp_path_factory.mktemp("b"), fmi=("2.0", "3.0")).files)


class Instance:
    """Both versions behind the same few calls."""

    def __init__(self, fmu: Path, folder: Path, version: str) -> None:
        description = read_model_description(str(fmu))
        self.references = {v.name: v.valueReference for v in description.modelVariables}
        self.second = version == "2.0"
        kind = FMU2Model if self.second else FMU3Model
        self.fmu = kind(
            guid=description.guid,
            unzipDirectory=extract(str(fmu), str(folder)),
            modelIdentifier=description.modelExchange.modelIdentifier,
            instanceName="unit",
        )
        self.messages: list[str] = []
        if self.second:
            self.fmu.instantiate()
        else:
            self.fmu.instantiate(logMessage=lambda e, s, c, text: self.messages.append(text))

    def initialize(self) -> None:
        if self.second:
            self.fmu.setupExperiment(startTime=0.0)
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()

    def set(self, name: str, value: float) -> None:
        setter = self.fmu.setReal if self.second else self.fmu.setFloat64
        setter([self.references[name]], [value])

    def vector(self, name: str) -> list[float]:
        values = (ctypes.c_double * 2)()
        getattr(self.fmu, name)(values, 2)
        return list(values)

    def write(self, *values: float) -> None:
        self.fmu.setContinuousStates((ctypes.c_double * 2)(*values), 2)


@pytest.fixture(params=["2.0", "3.0"])
def instance(request: Any, springs: dict[str, Path], tmp_path: Path) -> Any:
    opened = Instance(springs[request.param], tmp_path, request.param)
    yield opened
    opened.fmu.freeInstance()


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_against_closed_form(springs: dict[str, Path], version: str) -> None:
    result = simulate_fmu(
        str(springs[version]),
        stop_time=3.0,
        output_interval=0.1,
        relative_tolerance=1e-10,
        start_values={"u": 1.0, "p0": 0.25},
        output=["p", "v", "a"],
        fmi_type="ModelExchange",
        solver="CVode",
    )
    t, w, zeta = result["time"], 3.0, 0.2
    damped = w * math.sqrt(1 - zeta**2)
    shape = np.cos(damped * t) + zeta / math.sqrt(1 - zeta**2) * np.sin(damped * t)
    exact = 1.0 - 0.75 * np.exp(-zeta * w * t) * shape
    # CVode's local tolerance of 1e-10 over 3 s
    np.testing.assert_allclose(result["p"], exact, atol=2e-8)
    np.testing.assert_allclose(
        result["a"], 9 * (1 - result["p"]) - 2 * zeta * w * result["v"], atol=1e-12
    )


def test_states_derivatives_nominals(instance: Any) -> None:
    instance.set("p0", 0.75)
    instance.initialize()
    assert instance.vector("getContinuousStates") == [0.75, 0.0]
    assert instance.vector("getNominalsOfContinuousStates") == [2.0, 1.0]
    instance.fmu.enterContinuousTimeMode()
    instance.set("u", 1.0)
    instance.fmu.setTime(0.5)
    instance.write(0.5, 2.0)
    name = "getDerivatives" if instance.second else "getContinuousStateDerivatives"
    assert instance.vector(name) == [2.0, pytest.approx(9 * 0.5 - 1.2 * 2.0)]
    assert instance.fmu.completedIntegratorStep() in [(0, 0), (False, False)]


def test_state_machine(instance: Any) -> None:
    instance.initialize()
    with pytest.raises(FMICallException):
        instance.write(1.0, 0.0)  # event mode: the states belong to the model
    instance.set("w", 4.0)
    instance.fmu.enterContinuousTimeMode()
    with pytest.raises(FMICallException):
        instance.set("w", 5.0)
    with pytest.raises(FMICallException):
        instance.fmu.enterContinuousTimeMode()
    with pytest.raises(FMICallException) as caught:
        instance.write(math.nan, 0.0)
    assert caught.value.status == 2  # discard: the importer may try a shorter step
    instance.fmu.enterEventMode()
    instance.set("w", 5.0)
    instance.fmu.enterContinuousTimeMode()
    instance.fmu.terminate()
