import logging
import os
import signal
from typing import ClassVar

import numpy as np
import pytest
from systems import GROUND, UNPUSHED, body_at_contact, plant

from orchestrator.core.diagnostics import CapabilityError, DescriptionError, StepError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import Block, Output, block, fmu
from orchestrator.core.system import System
from orchestrator.study import simulate

pytestmark = pytest.mark.usefixtures("sample_blocks")
STEP, SAVE = 4, 7
ABORT, EXIT_0 = 1, 2


def ring(path, options, **values):
    """Two integrators that drive each other; y' = g and g' = 1 - y."""
    return (
        System("ring")
        .add("bad", fmu(path), **values)
        .add("good", block("integrator"))
        .connect("bad.y", "good.u", factor=-1.0, offset=1.0)
        .connect("good.y", "bad.u", delay="2 ms")
        .with_options("bad", isolation="process", **options)
    )


def unit_of(run, name):
    return next(unit for unit in run.units if unit.name == name)


@pytest.mark.slow
def test_held_outputs(crash):
    """The run goes on with the output as it was, and the result says so."""
    made = ring(crash, {"on_failure": "hold"}, phase=STEP, how=ABORT, at=0.3)
    result = simulate(made, step="1 ms", stop="0.5 s")
    y = result["bad.y"]
    reference = simulate(ring(crash, {}), step="1 ms", stop="0.5 s")["bad.y"]
    np.testing.assert_array_equal(y[:301], reference[:301])
    np.testing.assert_array_equal(y[300:], np.full(201, reference[300]))
    # The other unit goes on with what is held: g += h (1 - y).
    assert np.ptp(np.diff(result["good.y"][301:])) < 1e-15  # one rounding of g, below 1
    (note,) = result.notes
    assert note == (
        "component 'bad' failed in the step from t = 0.3 s (its process was ended by the signal"
        " SIGABRT (Aborted)); its outputs are held from there on"
    )


@pytest.mark.slow
def test_held_after_a_hang(hang):
    made = ring(hang, {"on_failure": "hold", "step_timeout": 3.0}, phase=STEP, at=0.01)
    result = simulate(made, step="1 ms", stop="0.02 s")
    assert result.time[-1] == 0.02
    assert "failed in the step from t = 0.01 s (no answer within 3 s" in result.notes[0]


@pytest.mark.parametrize(("how", "why"), [(1, "ValueError: out of propellant"), (2, "not finite")])
def test_held_after_a_failure_that_leaves_the_process_alive(how, why):
    made = System("s").add("bad", block("faulty"), u=1.0, how=how, at=0.003)
    made = made.with_options("bad", isolation="process", on_failure="hold")
    result = simulate(made, step="1 ms", stop="10 ms")
    assert why in result.notes[0]
    assert result["bad.y"].tolist() == [0.0] + [1.0] * 10
    assert not result["bad.vector[1]"].any()


def test_a_failed_unit_is_not_stepped_again_after_a_checkpoint(crash, wording):
    made = ring(crash, {"on_failure": "hold"}, phase=STEP, at=0.003)
    with Execution(made, step="1 ms") as run:
        checkpoint = run.save()
        run.step(5)
        unit_of(run, "bad").set_value("u", 1.0)  # as a loop from outside would; nothing comes of it
        with wording.raises(StepError):
            run.save()
        with wording.raises(StepError):
            run.restore(checkpoint)


def test_what_is_held_after_going_back_belongs_there(crash):
    with Execution(ring(crash, {"on_failure": "hold"}), step="1 ms") as run:
        run.step(50)
        checkpoint, y = run.save(), run.get("bad.y")
        run.step(50)
        assert run.get("bad.y") != y
        run.restore(checkpoint)
        os.kill(unit_of(run, "bad").pid, signal.SIGKILL)
        run.step(3)
        assert run.get("bad.y") == y


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi"])
def test_restarts_leave_no_trace_in_the_numbers(crash, algorithm, caplog):
    """Killed at any step, with a state kept every 100 steps: bit for bit the run without."""
    options = {"on_failure": "restart", "restarts": 4}
    with Execution(ring(crash, {}), step="1 ms", algorithm=algorithm) as run:
        run.step(450)
        expected = run.recording()
    with (
        caplog.at_level(logging.WARNING),
        Execution(ring(crash, options), step="1 ms", algorithm=algorithm) as run,
    ):
        for steps in (
            0,
            99,
            1,
            150,
            200,
        ):  # before the first step, before and after a state is kept
            run.step(steps) if steps else None
            if steps != 200:
                os.kill(unit_of(run, "bad").pid, signal.SIGKILL)
        assert len(run.notes) == 4
        assert "SIGKILL" in run.notes[0]
        assert "restarts left: 0" in run.notes[3]
        found = run.recording()
    assert found.values.tobytes() == expected.values.tobytes()
    assert sum("was started again" in record.message for record in caplog.records) == 4


@pytest.mark.slow
def test_a_crash_that_comes_again_ends_the_run(crash, wording):
    made = ring(crash, {"on_failure": "restart", "restarts": 2}, phase=STEP, how=EXIT_0, at=0.005)
    with Execution(made, step="1 ms") as run:
        with wording.raises(StepError):
            run.advance("1 s")
        assert len(run.notes) == 2
        assert len(run.recording().time_ns) == 6


@pytest.mark.slow
def test_restart_after_going_back(crash, wording):
    with Execution(ring(crash, {}), step="1 ms") as run:
        run.step(50)
        expected = run.recording().values.tobytes()
    with Execution(ring(crash, {"on_failure": "restart"}), step="1 ms") as run:
        run.step(30)
        stored = run.save().stored()
        here = run.save()
        run.step(30)
        run.restore(here)
        os.kill(unit_of(run, "bad").pid, signal.SIGKILL)
        run.step(20)
        assert run.recording().values.tobytes() == expected
        with wording.raises(StepError):
            run.restore(here)
    with Execution(ring(crash, {"on_failure": "restart"}), step="1 ms") as run:
        run.restore(stored)
        run.step(20)
        assert run.recording().values.tobytes() == expected


class Killer(Block):
    """Ends the process of a unit in a call of its step."""

    calls: ClassVar[int] = 0
    at: ClassVar[int] = 0
    victim: ClassVar[int] = 0
    y: float = Output(depends_on=())

    def step(self, t, h):
        type(self).calls += 1
        if self.calls == self.at:
            os.kill(self.victim, signal.SIGKILL)


def repeated(path, on_failure, call, *, first):
    """A run that does each step whole and in halves; the unit's process ends in one of them."""
    parts = [("killer", block(Killer), {}), ("bad", fmu(path), {"u": 1.0})]
    system = System("s")
    for name, component, values in parts if first else reversed(parts):
        system = system.add(name, component, **values)
    system = system.with_options("bad", isolation="process", on_failure=on_failure)
    longest = {"longest": "100 ms"}
    run = Execution(system, step="100 ms", algorithm="step-doubling", algorithm_options=longest)
    Killer.calls, Killer.at, Killer.victim = 0, -1, unit_of(run, "bad").pid
    run.advance("300 ms")
    Killer.at = Killer.calls + call
    return run


@pytest.mark.parametrize("first", [True, False])
def test_what_is_held_belongs_to_the_begin_of_a_step_that_is_done_again(crash, first):
    """In the first half of the step, the unit has done the whole step and gone back."""
    with repeated(crash, "hold", 2 if first else 1, first=first) as run:
        y = run.get("bad.y")
        run.advance("600 ms")
        assert run.get("bad.y") == y == pytest.approx(0.3)
        assert "failed in the step from t = 0.3 s" in run.notes[0]


def test_a_unit_that_went_back_is_not_started_again_from_before(crash, wording):
    """The state that it went back to ended with its process: an older one will not do."""
    with (
        repeated(crash, "restart", 2, first=True) as run,
        wording.raises(StepError),
    ):
        run.advance("600 ms")


def test_steps_done_again_have_the_slopes_of_their_inputs(plants):
    def driven(**options):
        return body_at_contact(
            plant(plants, "Chaser", m=7.5, v0=0.05, **UNPUSHED),
            plant(plants, "Compliance", k=2510.0, d=20.0, latched=True, **GROUND),
            names=("chaser", "sheet"),
            force={"delay": "8 ms"},
        ).with_options("chaser", **options)

    values = []
    for options in ({}, {"isolation": "process", "on_failure": "restart"}):
        with Execution(driven(**options), step="1 ms", delay="waveform") as run:
            run.step(50)
            if options:
                os.kill(unit_of(run, "chaser").pid, signal.SIGKILL)
            run.step(20)
            values.append(run.recording().values)
    np.testing.assert_array_equal(*values)


@pytest.mark.slow
def test_restart_is_refused_where_no_state_can_be_kept(small_fmu, crash, wording):
    mute = small_fmu("crash_on_demand", serializes=False)
    with wording.raises(CapabilityError):
        Execution(ring(mute, {"on_failure": "restart"}), step="1 ms")
    made = ring(crash, {"on_failure": "restart"}, phase=SAVE)
    with wording.raises(StepError):
        Execution(made, step="1 ms")


def test_options_of_a_process_need_one(crash, wording):
    made = ring(crash, {"on_failure": "hold", "step_timeout": 1.0})
    made = made.with_options("bad", isolation="none")
    with wording.raises(DescriptionError):
        Execution(made, step="1 ms")
