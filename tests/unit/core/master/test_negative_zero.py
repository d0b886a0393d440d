"""A connection copies a value to the bit: -0.0 arrives as -0.0, whose atan2 is another angle."""

import math

import numpy as np
import pytest

from orchestrator.core.master import Execution
from orchestrator.core.simunits import Block, Input, Output, block, fmu
from orchestrator.core.system import Connector, System
from orchestrator.core.system.ports import Causality, DataType
from orchestrator.export.system import export_system

SIGNS = [-1.0, 1.0, -1.0]


class Zeros(Block):
    """Outputs zeros of both signs."""

    y: float = Output(depends_on=(), unit="m", start=-0.0)
    v: np.ndarray = Output(shape=(3,), depends_on=(), unit="m")

    def initialise(self, t):
        self.step(t, 0.0)

    def step(self, t, h):
        self.y = -0.0
        self.v[:] = np.copysign(0.0, SIGNS)


class Angles(Block):
    """The angle of (u, -1): -pi for -0.0, pi for 0.0; and the signs of an array."""

    u: float = Input(unit="m")
    v: np.ndarray = Input(shape=(3,), unit="mm")
    angle: float = Output()
    signs: np.ndarray = Output(shape=(3,))

    def step(self, t, h):
        self.angle = math.atan2(self.u, -1.0)
        self.signs[:] = np.copysign(1.0, self.v)


@pytest.fixture(scope="module")
def zeros(register):
    register(zeros=Zeros, angles=Angles)
    return System("s").add("a", block("zeros")).add("b", block("angles"))


def connected(system, **options):
    return system.connect("a.y", "b.u", **options).connect("a.v", "b.v", **options)


def expect_signs(run):
    run.step(12)
    assert run.get("b.angle") == -math.pi
    assert run.get("b.signs").tolist() == SIGNS


@pytest.mark.parametrize("mode", ["waveform", "mean", "plain"])
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
@pytest.mark.parametrize("extrapolation", ["hold", "linear", "quadratic"])
@pytest.mark.parametrize("delay", ["0 ms", "1 ms", "3 ms", "3.5 ms"])
def test_delayed(zeros, mode, algorithm, extrapolation, delay):
    system = connected(zeros, delay=delay, extrapolation=extrapolation)
    with Execution(system, step="1 ms", delay=mode, algorithm=algorithm) as run:
        expect_signs(run)


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel", "fixed-point", "step-doubling"])
@pytest.mark.parametrize("options", [{}, {"factor": 2.0}])
def test_undelayed(zeros, algorithm, options):
    with Execution(connected(zeros, **options), step="1 ms", algorithm=algorithm) as run:
        expect_signs(run)


def test_compensated(zeros):
    with Execution(connected(zeros, compensation="nepce"), step="1 ms", algorithm="jacobi") as run:
        expect_signs(run)


def test_factor_turns_the_sign(zeros):
    system = zeros.connect("a.y", "b.u", factor=-1.0)
    with Execution(system.connect("a.v", "b.v"), step="1 ms") as run:
        run.step(3)
        assert run.get("b.angle") == math.pi


@pytest.mark.parametrize("delay", [None, "3 ms", "3.5 ms"])
def test_set_and_recorded(small_fmu, delay):
    passing = small_fmu("rude", "-DPASSES_ON")
    system = System("s").add("a", fmu(passing)).add("b", fmu(passing))
    with Execution(system.connect("a.y", "b.u", delay=delay), step="1 ms") as run:
        run.set("a.u", -0.0)
        run.step(12)
        values = run.recording().values
        assert values[-1].tobytes() == np.array([-0.0, -0.0]).tobytes()


@pytest.mark.native
@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("delay", [None, "3 ms", "3.5 ms"])
def test_exported_system(small_fmu, tmp_path, fmi, delay):
    """Its own input, which was 0.0, becomes -0.0, passes two FMUs and comes out."""
    passing = small_fmu("rude", "-DPASSES_ON")
    own = {
        "u": Connector("u", Causality.INPUT, DataType.REAL, start=0.0),
        "y": Connector("y", Causality.OUTPUT, DataType.REAL),
    }
    system = System("s", connectors=own).add("a", fmu(passing)).add("b", fmu(passing))
    system = system.connect("u", "a.u").connect("a.y", "b.u", delay=delay).connect("b.y", "y")
    export_system(system, tmp_path / "s.fmu", fmi=fmi, step="1 ms")
    with Execution(System("w").add("s", fmu(tmp_path / "s.fmu")), step="1 ms") as run:
        run.set("s.u", -0.0)
        run.step(12)
        assert math.copysign(1.0, run.get("s.y")) == -1.0
