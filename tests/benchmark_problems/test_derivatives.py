"""Newton by the directional derivatives of FMUs: the same solution, with fewer passes."""

import numpy as np
import pytest
from oracle.reference import Reference

from orchestrator.core.diagnostics import CapabilityError, UnknownNameError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import block, fmu
from orchestrator.core.system import Fault, System
from orchestrator.export import Solver, build_model

pytestmark = pytest.mark.usefixtures("sample_blocks")
STEP_NS = 1_000_000
STEPS = 50
#: A nonlinear conductance, and a capacitor behind a resistor: current and voltage act at once.
DIODE = """
model Diode
  input Real v;
  output Real i;
equation
  i = exp(2*v) - 1;
end Diode;
"""
SOURCE = """
model Source
  input Real i;
  output Real v;
  parameter Real R = 400;
  Real charge(start = 0, fixed = true);
equation
  der(charge) = i;
  v = 2*sin(200*time) - R*i - 5*charge;
end Source;
"""


@pytest.fixture(scope="module")
def circuit(tmp_path_factory):
    folder = tmp_path_factory.mktemp("derivatives")
    paths = {}
    for name, text in {"Diode": DIODE, "Source": SOURCE}.items():
        source = folder / f"{name}.mo"
        source.write_text(text)
        paths[name] = build_model(None, source, folder, solver=Solver(tolerance=1e-11)).path
    return (
        System("circuit")
        .add("diode", fmu(paths["Diode"]))
        .add("source", fmu(paths["Source"]))
        .connect("source.v", "diode.v")
        .connect("diode.i", "source.i", factor=1e-3)  # mA
    )


def execution(system, jacobian, faults=()):
    options = {"jacobian": jacobian, "tolerance": 1e-11}
    step = f"{STEP_NS} ns"
    return Execution(
        system, step=step, algorithm="newton", algorithm_options=options, faults=faults
    )


def test_the_same_solution_with_fewer_passes(circuit):
    runs, passes = {}, {}
    for jacobian in ("differences", "derivatives", "auto"):
        with execution(circuit, jacobian) as run:
            run.advance(f"{STEPS * STEP_NS} ns")
            runs[jacobian] = run.recording().values
            passes[jacobian] = run._engine.loops[0][0]
    # Voltages of 2, each step solved to 1e-11, with what earlier ones left in the charge.
    np.testing.assert_allclose(runs["derivatives"], runs["differences"], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(runs["auto"], runs["derivatives"])
    assert np.ptp(runs["auto"], axis=0).min() > 1e-3
    assert passes["derivatives"] < passes["differences"]


def test_engine_equals_reference(circuit):
    one, two = (execution(circuit, "derivatives") for _ in range(2))
    one.advance(f"{STEPS * STEP_NS} ns")
    recording = one.recording()
    _, rows = Reference(two).run(STEPS)
    for column, name in enumerate(recording.names):
        slot, _ = one.schedule.slots[name]
        np.testing.assert_array_equal(recording.values[:, column], rows[:, slot], err_msg=name)


def test_a_discrete_output_has_derivatives_of_zero(tmp_path):
    """Between events it does not change, whatever reads it."""
    source = tmp_path / "Counting.mo"
    source.write_text(
        "model Counting input Real u; output Real y; discrete output Real held(start = 0, fixed ="
        " true); Real x(start = 0, fixed = true); equation der(x) = u - x; y = x + 0.5*u;"
        " when x > 0.2 then held = pre(held) + u; end when; end Counting;"
    )
    path = build_model(None, source, tmp_path).path
    system = System("s").add("a", fmu(path)).add("b", fmu(path))
    system = system.connect("a.y", "b.u", factor=-0.5, offset=1.0).connect("b.y", "a.u")
    values = []
    for jacobian in ("derivatives", "differences"):
        with execution(system, jacobian) as run:
            run.advance("1 s")
            values.append([run.get("a.y"), run.get("a.held")])
    assert values[0] == pytest.approx(values[1], abs=1e-9)
    assert values[0][1] > 0.5


def test_refusals(circuit):
    with pytest.raises(UnknownNameError, match="expected one of auto, derivatives, differences"):
        execution(circuit, "exact")
    ring = (
        System("ring")
        .add("a", block("gain"), k=0.5)
        .add("b", block("gain"), k=0.5)
        .connect("a.y", "b.u")
        .connect("b.y", "a.u")
    )
    with pytest.raises(CapabilityError, match="'a', 'b' give no directional derivatives"):
        execution(ring, "derivatives")


@pytest.mark.parametrize(
    ("kind", "figures"),
    [
        ("drop", {}),
        ("delay-step", {"delay": "3 ms"}),
        ("stuck", {}),
        ("scale", {"factor": 0.3}),
        ("noise", {"sigma": 0.05}),
    ],
)
def test_faults_in_the_loop_are_part_of_its_jacobian(circuit, kind, figures):
    """A step with the right derivatives needs few passes; wrong ones need new Jacobians."""
    fault = Fault.of(kind, "source.v", "10 ms", "30 ms", **figures)
    one, two = (execution(circuit, "derivatives", [fault]) for _ in range(2))
    with one, two, execution(circuit, "differences", [fault]) as third:
        for run in (one, third):
            run.advance(f"{STEPS * STEP_NS} ns")
        recording = one.recording()
        _, rows = Reference(two).run(STEPS)
        for column, name in enumerate(recording.names):
            slot, _ = one.schedule.slots[name]
            np.testing.assert_array_equal(recording.values[:, column], rows[:, slot])
        # As for the loop without faults.
        np.testing.assert_allclose(recording.values, third.recording().values, rtol=0, atol=1e-9)
        assert one._engine.loops[0][0] < third._engine.loops[0][0]
