"""Event mode and clocks of FMI 3.0; see tests/fixtures/c_fmus/clock3.c, which is strict."""

import numpy as np
import pytest

from orchestrator.core.diagnostics import StepError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import Fmu3Unit, fmu, read_fmu
from orchestrator.core.simunits.fmi.fmu_unit import unpacked
from orchestrator.core.system import System
from orchestrator.engine import Fmu3

SECOND = 10**9
INPUTS = ("rate", "sampled", "gate", "tick")  # as the engine keeps them
OUTPUTS = ("y", "held", "count", "fired")


@pytest.fixture(scope="module")
def clocked(c_fmu):
    return c_fmu("clock3")


def start(path, **values):
    unit = Fmu3Unit("rig", read_fmu(path))
    unit.set_values(values)
    unit.bind(INPUTS, OUTPUTS)
    unit.setup(0, None)
    unit.exit_initialisation()
    return unit


def give(unit, rate=0.0, sampled=0.0, gate=0.0, tick=0.0):
    unit.set(np.array([rate, sampled, gate, tick]))


def outputs(unit):
    values = np.empty(len(OUTPUTS))
    unit.get(values)
    return dict(zip(OUTPUTS, values.tolist(), strict=True))


def test_initialisation_ends_in_step_mode(clocked):
    unit = start(clocked)
    assert unit.native.has_event_mode
    # One update of discrete states; clocks read 0 outside of event mode.
    assert outputs(unit) == {"y": 0.0, "held": 0.0, "count": 1.0, "fired": 0.0}
    assert unit.do_step(0, SECOND).status == 0


def test_a_tick_lets_a_clocked_value_in(clocked):
    unit = start(clocked)
    give(unit, rate=0.25, sampled=3.0)  # step mode: neither the clock nor its value is set
    assert unit.native.enter_event_mode() == 0
    give(unit, rate=0.25, sampled=3.0)  # the clock does not tick: its value is not set
    give(unit, rate=0.25, sampled=3.0, tick=1.0)
    status, again, terminate, changed, next_ns = unit.native.update_discrete()
    assert (status, again, terminate, changed) == (0, False, False, True)
    assert next_ns == 12_500_000_000
    assert unit.native.enter_step_mode() == 0
    assert outputs(unit)["held"] == 3.0


def test_an_event_of_its_own(clocked):
    unit = start(clocked)
    give(unit, rate=1.0)
    assert unit.do_step(0, SECOND).status == 0
    assert unit.native.reached == (SECOND, False, True, False)
    assert outputs(unit)["fired"] == 0.0
    assert unit.native.enter_event_mode() == 0
    assert outputs(unit)["fired"] == 1.0
    assert unit.native.update_discrete()[1] is True
    assert outputs(unit)["fired"] == 0.0
    assert unit.native.update_discrete()[1] is False
    assert unit.native.enter_step_mode() == 0
    assert outputs(unit) == {"y": 1.0, "held": 0.0, "count": 3.0, "fired": 0.0}


def test_an_event_that_nobody_handles_is_settled_before_the_next_step(clocked):
    unit = start(clocked)
    give(unit, rate=1.0)
    for second in range(3):
        assert unit.do_step(second * SECOND, SECOND).status == 0
    assert outputs(unit)["count"] == 1 + 2 * 2  # two updates for each of two events


def test_a_discrete_input_that_changes_is_an_event(clocked):
    unit = start(clocked)
    for gate, count in ((0.0, 1), (1.0, 2), (1.0, 2), (0.0, 3)):
        give(unit, gate=gate)
        assert outputs(unit)["count"] == count
    unit.set_value("gate", value=True)
    assert outputs(unit)["count"] == 4
    # What was set last is the FMU's to know: going back to a state does not hide a change.
    saved = unit.get_state()
    give(unit, gate=0.0)
    unit.set_state(saved)
    give(unit, gate=0.0)
    assert outputs(unit)["count"] == 5


def test_the_mode_belongs_to_a_state(clocked):
    unit = start(clocked)
    assert unit.native.save(0) == 0
    unit.native.enter_event_mode()
    assert unit.native.restore(0) == 0
    assert outputs(unit)["fired"] == 0.0  # in event mode it would be read, which is refused here
    assert unit.do_step(0, SECOND).status == 0


def test_restless_and_ending(clocked, wording):
    with wording.raises(StepError):
        start(clocked, oddity=1)
    unit = start(clocked, oddity=2)
    give(unit, gate=1.0)
    assert unit.native.reached[3] is True  # it wants the run to end


def test_intervals(clocked):
    native = start(clocked).native
    assert native.interval(9) == (2, 0.25, 0, 0)
    assert native.interval(9, fraction=True) == (2, 1 / 3, 1, 3)
    assert native.shift(9) == 0.125


def test_early_return(clocked):
    described = read_fmu(clocked)
    folder = unpacked(clocked)
    native = Fmu3(
        str(folder.path / described.library), "rig", "", "/", event_mode=True, early_return=True
    )
    native.bind([("rate", "Float64", 4, 1, False, [])], [("y", "Float64", 5, 1, False, [])])
    native.initialise(0.0)
    native.exit_initialization()
    native.set_inputs(np.array([4.0]))
    assert native.step(SECOND, SECOND) == 0
    # y passes 1 after a quarter of a second.
    assert native.reached == (SECOND + SECOND // 4, True, True, False)


def test_a_run_with_silent_and_time_based_clocks(clocked):
    """An input clock that nothing is connected to is silent, unless it is periodic."""
    system = System("s").add("c", fmu(clocked), rate=0.5, sampled=0.0, gate=False)
    with Execution(system, step="1 s") as run:
        run.step(6)
        assert run.get("c.y") == 3.0
        # The start, 24 ticks from 0.125 s on, every 0.25 s, and events at 2, 4 and 6 s.
        assert run.get("c.count") == 1 + 24 + 3 * 2
        fired = run.recording().names.index("c.fired")
        assert run.recording().values[:, fired].tolist() == [0, 0, 1, 0, 1, 0, 1]


def test_a_step_that_says_it_ended_elsewhere_is_told_of(c_fmu):
    for options, notes in (((), 0), (("-DSAYS_HALF",), 1)):
        system = System("s").add("rig", fmu(c_fmu("early3", options=options)), u=0.0)
        run = Execution(system, step="100 ms")
        run.advance("300 ms")
        found = [note for note in run.notes if "lastSuccessfulTime" in note]
        assert len(found) == notes
    assert "'rig' ended the step from t = 0 s well" in found[0]
    assert "went to t = 0.05 s" in found[0]
