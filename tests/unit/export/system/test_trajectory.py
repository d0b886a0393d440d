"""An exported system gives the trajectory of the system itself, in another importer.

The engine and its tables are the same on both sides, so every comparison is of bits. Loops that are
solved at the start are the exception: NumPy's solver is not the engine's.
"""

from dataclasses import replace

import pytest

from orchestrator.core.simunits import fmu
from orchestrator.core.system import (
    Compensation,
    Fault,
    Jitter,
    JitterKind,
    System,
    TransportDelay,
    Variation,
)
from orchestrator.export import build_model

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
  Real charge(start = 0, fixed = true);
equation
  der(charge) = i;
  v = 2*sin(200*time) - 400*i - 5*charge;
end Source;
"""
FIXED = ["jacobi", "gauss-seidel", "newton", "fixed-point"]


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("mode", ["mean", "plain", "waveform"])
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
def test_a_delayed_loop_is_the_same_bit_by_bit(capture, compare, algorithm, mode, fmi):
    found = compare(capture(), fmi=fmi, algorithm=algorithm, delay=mode)
    assert (found.difference, found.rows, found.signals) == (0.0, 301, 8)
    assert found.largest > 1.0  # the bodies have met


@pytest.mark.parametrize("delay", ["0.4 ms", None])
def test_a_loop_that_is_iterated_over_the_step_is_the_same_bit_by_bit(capture, compare, delay):
    found = compare(capture(delay=delay), algorithm="waveform", delay="waveform")
    assert (found.difference, found.rows) == (0.0, 301)


@pytest.mark.parametrize(
    ("delay", "way"), [("3.7 ms", "cubic"), ("0 ms", "linear"), ("2.5 ms", "hold")]
)
def test_delays_off_the_grid_are_read_in_the_same_way(capture, compare, delay, way):
    assert compare(capture(delay=delay, interpolation=way)).difference == 0.0


def test_a_delay_that_varies_draws_the_same_numbers(capture, compare):
    jitter = Variation(jitter=Jitter(JitterKind.UNIFORM, 4_000_000), seed=7, loss=0.05)
    assert compare(capture(delay=TransportDelay(16_000_000, variation=jitter))).difference == 0.0


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
@pytest.mark.parametrize(
    ("kind", "figures"),
    [
        ("drop", {}),
        ("stuck", {}),
        ("bias", {"value": 0.01}),
        ("noise", {"sigma": 0.001, "seed": 5}),
        ("delay-step", {"delay": "30 ms"}),
    ],
)
@pytest.mark.parametrize("begin", ["0 s", "0.1 s"])
def test_faults_act_as_they_do_inside(capture, compare, algorithm, kind, figures, begin):
    line = "chaser.position -> sheet.position_a"
    fault = Fault.of(kind, line, begin, "0.2 s", **figures)
    assert compare(capture(), algorithm=algorithm, faults=[fault]).difference == 0.0


@pytest.mark.parametrize("algorithm", FIXED)
def test_algorithms_of_fixed_steps(capture, compare, algorithm):
    assert compare(capture(delay=None), algorithm=algorithm).difference <= 1e-12


def test_several_rates(capture, compare):
    assert compare(capture(), rates={"chaser": 5}).difference == 0.0


def test_predicted_inputs(capture, compare):
    system = capture(delay=None).with_extrapolation("linear")
    assert compare(system).difference == 0.0


@pytest.mark.parametrize(
    ("way", "line"),
    [("nepce", "force_a"), ("energy", "force_a"), ("corrector", "velocity")],
)
def test_compensated_inputs(capture, compare, way, line):
    system = capture(delay=None)
    lines = [
        replace(c, compensation=Compensation(way)) if c.source.connector == line else c
        for c in system.connections
    ]
    changed = compare(replace(system, connections=tuple(lines)), algorithm="jacobi")
    assert changed.difference == 0.0
    assert changed.largest != compare(system, algorithm="jacobi").largest


def test_communication_steps_of_several_own_steps(capture, compare):
    found = compare(capture(), every=10)
    assert (found.difference, found.rows) == (0.0, 31)


@pytest.mark.parametrize("solver", ["dopri5", "cvode"])
def test_model_exchange_inside(capture, compare, solver):
    system = capture().with_options("chaser", interface="me", solver=solver)
    assert compare(system).difference == 0.0


def test_event_mode_inside(c_fmu, compare):
    system = (
        System("chain")
        .add("source", fmu(c_fmu("source3")), period=0.1)
        .add("relay", fmu(c_fmu("relay3")))
        .add("counter", fmu(c_fmu("counter3")))
        .connect("source.tick", "relay.in")
        .connect("source.count", "relay.value")
        .connect("relay.out", "counter.tick")
        .connect("relay.next", "counter.value")
    )
    numbers = ["source.count", "relay.next", "counter.last", "counter.count", "counter.at"]
    found = compare(system, step="50 ms", stop=1.0, record=numbers)
    assert (found.difference, found.largest) == (0.0, 12.0)


@pytest.mark.parametrize(
    ("attributes", "count"),
    [
        ('intervalVariability="constant" intervalDecimal="3e-4"', 4),  # 0, 300, 600, 900 us
        ('intervalVariability="fixed" intervalCounter="3" resolution="10000" shiftCounter="2"', 3),
        ('intervalVariability="fixed" supportsFraction="true"', 5),  # it tells 200 us
        ('intervalVariability="changing" supportsFraction="true"', 4),  # 0, 200, 500, 900 us
        ('intervalVariability="countdown"', 3),  # 100, 300, 600 us
    ],
)
def test_time_based_clocks_tick_inside(c_fmu, compare, attributes, count):
    def change(text):
        return text.replace('intervalVariability="triggered"', attributes)

    part = fmu(c_fmu("counter3", change))
    system = System("timed").add("counter", part, value=0, period=100.0)
    numbers = ["counter.count", "counter.at"]
    found = compare(system, step="50 us", stop=0.00095, record=numbers)
    assert (found.difference, found.largest) == (0.0, count)


@pytest.mark.parametrize("kind", ["Float64", "Float32"])
def test_inputs_of_fmi3_units_within_a_step_are_asked_for_inside(c_fmu, compare, kind):
    """Each unit of another tool integrates the other's output, by intermediate update."""

    def change(text):
        return text.replace('<Float64 name="u"', f'<{kind} name="u"')

    asker = fmu(c_fmu("asker3", change))
    system = System("askers").add("one", asker).add("two", asker)
    system = system.connect("one.x", "two.u", delay="24 ms", factor=-30.0)
    system = system.connect("two.x", "one.u", offset=1.0)
    found = compare(system, algorithm="gauss-seidel", delay="waveform")
    assert found.difference == 0.0
    held = compare(system, algorithm="gauss-seidel", delay="mean")
    assert held.largest != found.largest  # what is followed is not what is held


def test_derivatives_of_fmi3_units_are_asked_for_inside(tmp_path, compare):
    """Newton's method by the derivatives of a diode, and of a capacitor behind a resistor."""
    parts = {}
    for name, text in {"Diode": DIODE, "Source": SOURCE}.items():
        (tmp_path / f"{name}.mo").write_text(text)
        built = build_model(None, tmp_path / f"{name}.mo", tmp_path / name, fmi=("3.0",))
        parts[name] = fmu(built.path)
    system = System("circuit").add("diode", parts["Diode"]).add("source", parts["Source"])
    system = system.connect("source.v", "diode.v").connect("diode.i", "source.i", factor=1e-3)
    options = {"algorithm": "newton", "algorithm_options": {"jacobian": "derivatives"}}
    found = compare(system, stop=0.05, record=["source.v", "diode.i"], **options)
    assert found.difference <= 1e-12
    assert found.largest > 1.0


def test_nested_systems_have_dotted_names(capture, compare):
    inner = replace(capture(), name="inner")
    found = compare(replace(System("outer"), systems={"left": inner, "right": inner}))
    assert (found.difference, found.signals) == (0.0, 16)


@pytest.mark.parametrize("algorithm", ["step-doubling", "embedded", "ecco"])
def test_steps_that_the_algorithm_chooses(capture, compare, algorithm):
    found = compare(capture(delay=None), algorithm=algorithm, every=300, only_ends=True)
    assert (found.difference, found.rows) == (0.0, 2)  # the importer imposes the end only


@pytest.mark.parametrize("algorithm", ["newton", "fixed-point"])
def test_an_algebraic_loop_is_solved_at_the_start_and_in_every_step(probe, compare, algorithm):
    """Two gains in a ring: g_a = 3 (0.1 g_b + 1) and g_b = 2 g_a, so g_a = 7.5."""
    held = {"n": 0, "flag": False}
    system = (
        System("ring")
        .add("a", fmu(probe), gain=3.0, **held)
        .add("b", fmu(probe), gain=2.0, **held)
        .connect("a.g", "b.u")
        .connect("b.g", "a.u", factor=0.1, offset=1.0)
    )
    found = compare(system, algorithm=algorithm, record=["a.g", "b.g", "a.y", "b.y"])
    # NumPy solves the first equations in process, the engine's elimination in the FMU.
    assert found.difference <= 1e-12
    assert found.largest == pytest.approx(2 * 3.0 / (1.0 - 0.6), abs=1e-9)  # g_b = 2 g_a
