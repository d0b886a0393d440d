"""A process that answers in the right form what cannot be meant."""

import numpy as np
import pytest

from orchestrator.core.diagnostics import StepError
from orchestrator.core.simunits import fmu
from orchestrator.core.simunits.isolation.worker_process import WorkerProcess
from orchestrator.core.system import System
from orchestrator.study import simulate

WRONG = [{}, [], None, "x", {"log": 3, "result": 1}, {"log": [["a", "b", "c"]]}, {"error": 3}]
WRONG += [{"log": [], "error": "StepError"}, {"log": [], "result": [{"time_ns": "x"}]}]


@pytest.fixture
def answering(monkeypatch):
    """Let the process of a unit answer something else to the calls of one name."""

    def make(what, wrong):
        asked = []
        call, receive = WorkerProcess.call, WorkerProcess._receive

        def calling(self, unit, doing, name, *rest):
            asked.append(name)
            return call(self, unit, doing, name, *rest)

        def receiving(self, seconds):
            content, out = receive(self, seconds)
            return (wrong if asked and asked[-1] == what else content), out

        monkeypatch.setattr(WorkerProcess, "call", calling)
        monkeypatch.setattr(WorkerProcess, "_receive", receiving)

    return make


def rig(crash):
    return System("s").add("a", fmu(crash), u=1.0).with_options("a", isolation="process")


@pytest.mark.parametrize("wrong", WRONG)
def test_what_was_recorded_is_kept(answering, crash, wrong):
    answering("notices", wrong)
    result = simulate(rig(crash), step="1 ms", stop="20 ms")
    np.testing.assert_array_equal(result.time_ns, np.arange(21) * 1_000_000)
    (note,) = [note for note in result.notes if "noticed" in note]
    assert note.startswith("component 'a' failed while saying what it noticed: its process sent no")


@pytest.mark.parametrize("what", ["make", "bind", "setup", "exit_initialisation"])
def test_a_unit_that_cannot_be_made_is_named(answering, crash, what, wording):
    answering(what, {"result": {"can_serialize": "perhaps"}})
    with wording.raises(StepError):
        simulate(rig(crash), step="1 ms", stop="20 ms")
