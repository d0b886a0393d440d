"""What is recorded, of which outputs and at which times."""

import numpy as np
import pytest

from orchestrator.core.diagnostics import (
    CapabilityError,
    DescriptionError,
    StepError,
    UnknownNameError,
)
from orchestrator.core.master import Execution, recordable
from orchestrator.core.simunits import block, fmu
from orchestrator.core.system import System
from orchestrator.study import simulate

pytestmark = pytest.mark.usefixtures("sample_blocks")


@pytest.fixture
def axes(plants):
    def make(count):
        system = System("axes")
        for i in range(count):
            source = fmu(plants / "PositionAxis.fmu")
            system = system.add(f"axis{i}", source, position_command=1.0, zeta=0.5)
        return system

    return make


def step_response(t):
    """Position and velocity of x'' + 2 zeta w x' + w^2 (x - 1) = 0 from rest; zeta = 0.5."""
    w, zeta = 2 * np.pi * 15.0, 0.5
    damped = w * np.sqrt(1 - zeta**2)
    decay = np.exp(-zeta * w * t)
    position = 1 - decay * (np.cos(damped * t) + zeta * w / damped * np.sin(damped * t))
    return position, decay * w**2 / damped * np.sin(damped * t)


@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi"])
@pytest.mark.parametrize("every", [1, 7, 1000])
def test_values_stand_at_their_own_time(axes, algorithm, every):
    """One step early or late would be wrong by up to 50 mm and 6 m/s."""
    with Execution(axes(1), step="1 ms", algorithm=algorithm, every=every) as run:
        run.advance("100 ms")
        r = run.recording()
    grid = range(0, 100, every)
    assert r.time_ns.tolist() == [*(n * 10**6 for n in grid), 100 * 10**6]
    position, velocity = step_response(r.time_ns / 1e9)
    np.testing.assert_allclose(r.values[:, 0], position, rtol=0, atol=1e-6)
    np.testing.assert_allclose(r.values[:, 1], velocity, rtol=0, atol=1e-4)


def test_the_last_time_is_recorded_once():
    run = Execution(System("c").add("c", block("source")), step="1 ms", every=3)
    seen = []
    for until in ("2 ms", "3 ms", "3 ms", "7 ms"):
        run.advance(until)
        seen.append(run.recording().time_ns.tolist())
    ms = 10**6
    assert seen == [[0, 2 * ms], [0, 3 * ms], [0, 3 * ms], [0, 3 * ms, 6 * ms, 7 * ms]]
    r = run.recording()
    np.testing.assert_allclose(r.values[:, 1], r.time_ns / 1e9, atol=1e-17)


def test_a_step_that_fails_gives_no_row():
    """The first unit has done the step, the second has not: that is the state of no time."""
    system = System("half").add("ok", block("source")).add("rig", block("faulty"), how=1, at=0.005)
    run = Execution(system.set("rig.u", 0.0), step="1 ms", every=4)
    with pytest.raises(StepError):
        run.advance("1 s")
    assert run.recording().time_ns.tolist() == [0, 4_000_000]


def test_pieces_of_a_recording_are_the_whole():
    run = Execution(System("c").add("c", block("source")), step="1 us", every=2)
    times, rows = [], 0
    for until in ("0.3 ms", "7 ms", "7.001 ms", "20 ms"):  # across blocks of 1024 rows and more
        run.advance(until)
        piece = run.recording_since(rows)
        rows += len(piece.time_ns)
        times.append(piece.time_ns)
        np.testing.assert_allclose(piece.values[:, 1], piece.time_ns / 1e9, atol=1e-17)
    assert np.concatenate(times).tolist() == list(range(0, 20_000_001, 2000))
    assert len(run.recording_since(rows).time_ns) == 0


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ("axis1*", ["axis1.position", "axis1.velocity"]),
        (["*.velocity", "axis0.*"], ["axis0.velocity", "axis1.velocity", "axis0.position"]),
        (["axis?.position"], ["axis0.position", "axis1.position"]),
        (["axis1.position", "axis1.position"], ["axis1.position"]),
        ("*", None),
        ([], []),
    ],
)
def test_names_and_patterns(axes, record, expected):
    found = recordable(axes(2), record)
    assert found == (recordable(axes(2), None) if expected is None else expected)


def test_brackets_and_dots_are_no_wildcards():
    system = System("c").add("c", block("source"))
    for text in ("c.[ty]*", "c?", "cxtime", "*.tim"):
        with pytest.raises(UnknownNameError):
            recordable(system, text)


def test_patterns_pass_over_texts(probe, wording):
    system = System("p").add("a", fmu(probe))
    assert "a.label_out" not in recordable(system, "a.*")
    with wording.raises(UnknownNameError):
        recordable(system, "a.lab*")


def test_wrong_names_list_what_is_near(axes):
    with pytest.raises(DescriptionError) as caught:
        recordable(axes(12), ["axis7.positon", "axis3.*", "*.speed"])
    near, pattern = caught.value.problems
    assert near.startswith(
        "cannot record 'axis7.positon': no component has this variable. Did you mean"
        " 'axis7.position'? The nearest of 108 variables are axis7.position, "
    )
    assert near.count(",") == 6
    assert pattern.startswith("cannot record '*.speed': no variable that is a number matches")


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
@pytest.mark.parametrize("isolation", ["none", "process"])
def test_every_variable_of_an_fmu(plants, algorithm, isolation):
    system = (
        System("s")
        .add("ball", fmu(plants / "BouncingBall.fmu"))
        .with_options("ball", isolation=isolation)
    )
    ball = system.components["ball"].connectors
    assert ball["der(velocity)"].causality == "local"
    wanted = [f"ball.{name}" for name in ball]
    run = simulate(system, step="1 ms", stop="20 ms", algorithm=algorithm, record=wanted)
    assert list(run) == wanted
    plain = simulate(system, step="1 ms", stop="20 ms", algorithm=algorithm)
    for name in plain:
        np.testing.assert_array_equal(run[name], plain[name])
    np.testing.assert_array_equal(run["ball.der(height)"], run["ball.velocity"])
    assert set(run["ball.der(velocity)"]) == {-9.81}
    assert set(run["ball.g"]) == {9.81}
    assert run.units["ball.der(velocity)"] == "m/s2"


def test_inputs_and_parameters_of_a_block():
    system = System("s").add("a", block("source")).add("g", block("gain"), k=3.0)
    system = system.connect("a.time", "g.u")
    run = simulate(system, step="1 ms", stop="5 ms", record=["g.u", "g.k", "g.y", "*.k"])
    assert list(run) == ["g.u", "g.k", "g.y"]
    np.testing.assert_allclose(run["g.y"], 3.0 * run["g.u"])
    assert set(run["g.k"]) == {3.0}
    free = System("s").add("g", block("gain"), k=3.0, u=2.0)
    assert set(simulate(free, step="1 ms", stop="5 ms", record=["g.u"])["g.u"]) == {2.0}


def test_a_pattern_is_for_outputs_and_else_for_other_variables():
    system = System("s").add("g", block("gain"), u=1.0)
    assert recordable(system, "g.*") == ["g.y"]
    assert recordable(system, "?.k") == ["g.k"]


def test_texts_are_not_recorded_by_name(probe, wording):
    system = System("p").add("a", fmu(probe))
    with wording.raises(CapabilityError):
        recordable(system, ["a.label_out"])
