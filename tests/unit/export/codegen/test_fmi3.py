"""The FMI 3.0 face: the same core as FMI 2.0, bit for bit."""

from __future__ import annotations

import math
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy import extract, read_model_description, simulate_fmu
from fmpy.fmi1 import FMICallException
from fmpy.fmi3 import FMU3Slave
from fmpy.validation import validate_fmu
from lxml import etree

from orchestrator.export import build_model
from orchestrator.export.codegen.compiler import library_command, run_compiler

ROOT = Path(__file__).parents[4] / "modelica"

DUFFING = """model Duffing "nonlinear oscillator with every kind of variable"
  parameter Real k(min=0) = 2 "cubic stiffness";
  parameter Real x0 = 0.5;
  parameter Real k2 = 2*k "derived";
  parameter Integer n = 3;
  parameter Boolean driven = true;
  input Real u(start=0.25);
  input Boolean off;
  output Real x(start=x0, fixed=true);
  output Real y "feed-through";
  output Boolean high;
  output Integer twice;
  Real v(start=0, fixed=true);
  Real energy;
equation
  der(x) = v;
  der(v) = -x - k*x^3 - 0.1*v + (if driven and not off then u*cos(n*time) else 0);
  y = k2*x + 3*u;
  energy = v^2/2 + x^2/2 + k*x^4/4;
  high = noEvent(x > 0.1);
  twice = 2*n;
end Duffing;
"""


class Slave3:
    """One FMI 3.0 instance, Float64 variables by name, messages collected."""

    def __init__(self, fmu: Path, folder: Path, **options: Any) -> None:
        description = read_model_description(str(fmu))
        self.references = {v.name: v.valueReference for v in description.modelVariables}
        self.messages: list[str] = []
        self.time = 0.0
        self.fmu = FMU3Slave(
            guid=description.guid,
            unzipDirectory=extract(str(fmu), str(folder)),
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName="unit 100 %s",
        )
        self.fmu.instantiate(logMessage=self._log, **options)

    def _log(self, environment: Any, status: int, category: bytes, text: bytes) -> None:
        self.messages.append(text.decode())

    def initialize(self, stop_time: float | None = None, **values: float) -> Slave3:
        self.set(**values)
        self.fmu.enterInitializationMode(startTime=0.0, stopTime=stop_time)
        self.fmu.exitInitializationMode()
        return self

    def set(self, **values: float) -> None:
        for name, value in values.items():
            self.fmu.setFloat64([self.references[name]], [value])

    def get(self, *names: str) -> list[float]:
        return list(self.fmu.getFloat64([self.references[name] for name in names]))

    def step(self, size: float, count: int = 1) -> None:
        for _ in range(count):
            self.fmu.doStep(self.time, size)
            self.time += size


@pytest.fixture(scope="session")
def both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("root")
    (root / "Duffing.mo").write_text(DUFFING, encoding="utf-8")
    built = build_model("Duffing", root, tmp_path_factory.mktemp("b"), fmi=("2.0", "3.0"))
    return dict(built.files)


@pytest.fixture
def slave(both: dict[str, Path], tmp_path: Path) -> Iterator[Slave3]:
    opened = Slave3(both["3.0"], tmp_path / "unzipped")
    yield opened
    opened.fmu.freeInstance()


def refused(slave: Slave3, pattern: str, call: Callable[[], Any]) -> None:
    with pytest.raises(FMICallException):
        call()
    assert pattern in slave.messages[-1]


def test_two_archives_side_by_side(both: dict[str, Path]) -> None:
    assert [path.name for path in both.values()] == ["Duffing.fmu", "Duffing.fmi3.fmu"]
    assert read_model_description(str(both["2.0"])).fmiVersion == "2.0"
    assert read_model_description(str(both["3.0"])).fmiVersion == "3.0"


def test_description(both: dict[str, Path]) -> None:
    assert validate_fmu(str(both["3.0"])) == []
    description = read_model_description(str(both["3.0"]))
    shown = {
        v.name: (v.type, v.causality, v.variability, v.initial) for v in description.modelVariables
    }
    assert shown["k"] == ("Float64", "parameter", "tunable", "exact")
    assert shown["n"] == ("Int32", "parameter", "fixed", "exact")
    assert shown["high"] == ("Boolean", "output", "discrete", "calculated")
    assert shown["time"] == ("Float64", "independent", "continuous", None)
    depends = {o.variable.name: [d.name for d in o.dependencies] for o in description.outputs}
    assert depends == {"x": ["x"], "y": ["u", "x"], "high": ["x"], "twice": []}
    assert [d.variable.derivative.name for d in description.derivatives] == ["x", "v"]
    cs = description.coSimulation
    assert (cs.hasEventMode, cs.providesAdjointDerivatives) == (False, True)


@pytest.mark.parametrize("name", ["Bodies.Chaser", "Contact.Compliance", "Robots.PositionAxis"])
def test_plants_are_valid(name: str, tmp_path: Path) -> None:
    built = build_model(f"SpaceDocking.{name}", ROOT, tmp_path, fmi=("3.0",))
    assert validate_fmu(str(built.path)) == []


def test_sources_and_build_description(both: dict[str, Path], tmp_path: Path) -> None:
    import fmpy

    with zipfile.ZipFile(both["3.0"]) as archive:
        archive.extractall(tmp_path)
    schema = Path(fmpy.__file__).parent / "schema" / "fmi3" / "fmi3BuildDescription.xsd"
    document = etree.parse(tmp_path / "sources" / "buildDescription.xml")
    etree.XMLSchema(etree.parse(schema)).assertValid(document)
    _compile_as_for_users(tmp_path)
    assert not list((tmp_path / "sources").glob("fmi2*"))


def _compile_as_for_users(folder: Path) -> Path:
    library = folder / "strict.so"
    strict = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
    run_compiler(library_command("fmu.c", library, strict), folder / "sources")
    return library


def test_every_function_of_the_standard_is_exported(both: dict[str, Path], tmp_path: Path) -> None:
    import fmpy

    headers = Path(fmpy.__file__).parent / "c-code"
    text = (headers / "fmi3FunctionTypes.h").read_text(encoding="utf-8")
    expected = {w[:-4] for w in text.replace("(", " ").split() if w[-4:] == "TYPE"}
    with zipfile.ZipFile(both["3.0"]) as archive:
        archive.extractall(tmp_path)
    library = _compile_as_for_users(tmp_path)
    listed = subprocess.run(  # noqa: S603 - a library of ours
        ["nm", "-D", "--defined-only", library],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    )
    assert {line.split()[-1] for line in listed.stdout.splitlines()} == expected


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_same_bits_as_fmi_2_in_fmpy(both: dict[str, Path], kind: str) -> None:
    time = np.linspace(0, 2, 41)
    signal = np.array(
        list(zip(time, np.sin(3 * time), strict=True)), dtype=[("time", float), ("u", float)]
    )
    results = [
        simulate_fmu(
            str(both[version]),
            stop_time=2.0,
            step_size=0.05,
            output_interval=0.05,
            input=signal,
            start_values={"k": 3.0, "n": 4},
            output=["x", "v", "y", "energy", "high", "twice"],
            fmi_type=kind,
        )
        for version in ("2.0", "3.0")
    ]
    assert len(results[0]) == 41
    for name in ("time", "x", "v", "y", "energy", "high", "twice"):
        np.testing.assert_array_equal(results[0][name], results[1][name])
    assert np.ptp(results[0]["x"]) > 0.1


def test_state_machine(slave: Slave3) -> None:
    refused(slave, "fmi3DoStep: not allowed in state 'instantiated'", lambda: slave.step(0.1))
    refused(slave, "fmi3GetFloat64: not allowed", lambda: slave.get("x"))
    slave.initialize(stop_time=1.0)
    refused(slave, "not allowed in state 'step mode'", slave.fmu.enterInitializationMode)
    refused(slave, "not allowed in state 'step mode'", slave.fmu.enterEventMode)
    refused(slave, "no structural parameters", slave.fmu.enterConfigurationMode)
    refused(slave, "always in step mode", slave.fmu.enterStepMode)
    refused(slave, "after the stop time", lambda: slave.fmu.doStep(0.0, 1.1))
    assert slave.fmu.doStep(0.0, 0.25) == (False, False, False, 0.25)
    assert slave.get("time") == [0.25]
    slave.fmu.terminate()
    refused(slave, "state 'terminated'", lambda: slave.fmu.doStep(0.25, 0.1))
    slave.fmu.reset()
    slave.time = 0.0
    slave.initialize()
    assert slave.get("x", "time") == [0.5, 0.0]


def test_unsupported_functions_say_so(slave: Slave3) -> None:
    slave.initialize()
    refused(slave, "the model has no Float32 variable", lambda: slave.fmu.getFloat32([0]))
    refused(slave, "the model has no String variable", lambda: slave.fmu.setString([0], ["a"]))
    refused(slave, "the model has no Clock variable", lambda: slave.fmu.getClock([0]))
    refused(slave, "is no Real output", lambda: slave.fmu.getOutputDerivatives([0], [1]))
    y = slave.references["y"]
    refused(slave, "only order 1", lambda: slave.fmu.getOutputDerivatives([y], [2]))
    refused(slave, "'n' is Integer, not Real", lambda: slave.get("n"))
    refused(
        slave,
        "2 values for 1 variables of 1 elements",
        lambda: slave.fmu.setFloat64([0], [1.0, 2.0]),
    )


def test_limits(slave: Slave3) -> None:
    refused(slave, "'k' = -1 is outside of its limits: min 0", lambda: slave.set(k=-1.0))
    refused(slave, "'u' is not a number", lambda: slave.set(u=math.nan))
    slave.initialize()
    assert slave.get("k") == [2.0]


def test_event_mode_is_refused_at_instantiation(both: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(Exception, match="Failed to instantiate"):
        Slave3(both["3.0"], tmp_path, eventModeUsed=True)


def test_booleans_and_integers(slave: Slave3) -> None:
    refs = slave.references
    slave.fmu.setInt32([refs["n"]], [5])
    slave.fmu.setBoolean([refs["driven"]], [False])
    slave.initialize()
    assert list(slave.fmu.getBoolean([refs["driven"], refs["high"]])) == [False, True]
    assert list(slave.fmu.getInt32([refs["n"], refs["twice"]])) == [5, 10]


def test_saved_state_is_bit_exact(slave: Slave3) -> None:
    slave.initialize()
    slave.step(0.013, 7)
    saved, time = slave.fmu.getFMUState(), slave.time
    data = slave.fmu.serializeFMUState(saved)
    slave.step(0.013, 20)
    first = slave.get("x", "v", "y", "energy")
    slave.set(u=0.9)
    restored = slave.fmu.deserializeFMUState(data)
    slave.fmu.setFMUState(restored)
    slave.time = time
    slave.step(0.013, 20)
    assert slave.get("x", "v", "y", "energy") == first
    for state in (saved, restored):
        slave.fmu.freeFMUState(state)


def test_directional_and_adjoint_derivatives_agree(slave: Slave3) -> None:
    slave.initialize()
    slave.step(0.01, 30)
    unknowns, knowns = ["y", "der(x)", "der(v)", "energy", "x"], ["u", "x", "v"]
    rows = [slave.references[name] for name in unknowns]
    columns = [slave.references[name] for name in knowns]
    forward = np.array(
        [slave.fmu.getDirectionalDerivative(rows, [column], [1.0]) for column in columns]
    ).T
    backward = np.array(
        [slave.fmu.getAdjointDerivative([unknown], columns, [1.0], 3) for unknown in rows]
    )
    np.testing.assert_allclose(forward, backward, rtol=1e-14)
    x, v = slave.get("x", "v")
    expected = [
        [3, 4, 0],
        [0, 0, 1],
        [math.cos(3 * slave.time), -1 - 6 * x**2, -0.1],
        [0, x + 2 * x**3, v],
        [0, 1, 0],
    ]
    np.testing.assert_allclose(forward, expected, rtol=1e-12)
    seed = [0.3, -1.2, 0.7, 2.0, 1.0]
    product = slave.fmu.getAdjointDerivative(rows, columns, seed, 3)
    np.testing.assert_allclose(product, np.array(seed) @ forward, rtol=1e-13)
