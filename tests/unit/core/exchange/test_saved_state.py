"""Model Exchange units go back to saved states, and go on from them bit for bit."""

import numpy as np
import pytest

from orchestrator.core.diagnostics import LoadError

SOLVERS = ("dopri5", "cvode")
MS = 1_000_000


def _step(unit, number, u):
    unit.set(np.array([u]))
    assert not unit.do_step(number * 100 * MS, 100 * MS).failed
    values = np.empty(2)
    unit.get(values)
    return values.tolist()


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_state_is_restored_bit_for_bit(open_unit, solver):
    unit = open_unit("decay", values={"p": 4.0}, solver=solver)
    for number in range(3):
        _step(unit, number, 0.5)
    state = unit.get_state()
    first = [_step(unit, number, 0.5 * number) for number in range(3, 8)]
    unit.set_state(state)
    assert [_step(unit, number, 0.5 * number) for number in range(3, 8)] == first


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("model", ["oscillator", "lines", "clock"])
def test_another_instance_goes_on_from_the_bytes_of_a_state(open_unit, solver, model):
    unit, other = (open_unit(model, solver=solver) for _ in range(2))
    for number in range(4):
        _step(unit, number, 0.0)
    data = unit.serialize(unit.get_state())
    rest = [_step(unit, number, 0.0) for number in range(4, 10)]
    other.set_state(other.deserialize(data))
    assert [_step(other, number, 0.0) for number in range(4, 10)] == rest


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_engine_rolls_back_by_number(open_unit, solver):
    unit = open_unit("lines", solver=solver)
    native = unit.native
    assert native.can_roll_back
    for number in range(2):
        _step(unit, number, 0.0)
    assert native.save(0) == 0
    first = [_step(unit, number, 0.0) for number in range(2, 10)]
    assert native.restore(0) == 0
    assert [_step(unit, number, 0.0) for number in range(2, 10)] == first
    assert native.restore(3) == 3
    assert "what was not saved" in native.failure


def test_damaged_bytes_are_refused(open_unit, wording):
    unit = open_unit("decay")
    data = unit.serialize(unit.get_state())
    for broken in (b"", data[:12], b"\xff" * 8 + data[8:]):
        with wording.raises(LoadError):
            unit.deserialize(broken)
