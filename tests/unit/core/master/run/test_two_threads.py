"""One thread uses an Execution at a time; who comes meanwhile gets one sentence, and moves nothing.

A block waits in its step until a test lets it go on, so that the other thread is in the middle of
a step whenever a test looks.
"""

import gc
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from orchestrator.core.diagnostics import BusyError, SoftdockError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import Block, Input, Output, block, fmu
from orchestrator.core.system import System

MS = 1_000_000
ANOTHER = "another thread is using this Execution"


class Waiting(Block):
    """Does in its step what the test says: y = u."""

    u: float = Input()
    y: float = Output(depends_on=())

    def step(self, t, h):
        DO[0]()
        self.y = self.u


def nothing():
    pass


DO = [nothing]


@pytest.fixture
def waiting(register):
    register(waiting_block=Waiting)
    DO[:] = [nothing]
    system = System("s").add("a", block("waiting_block"), u=0.5).add("b", block("waiting_block"))
    return system.connect("a.y", "b.u", delay="3 ms")


@contextmanager
def stepping(run, count=1):
    """Another thread is in a step of the run; it goes on at the end."""
    within, leave = threading.Event(), threading.Event()

    def wait():
        within.set()
        assert leave.wait(60)

    DO[:] = [wait]
    thread = threading.Thread(target=run.step, args=(count,))
    thread.start()
    try:
        assert within.wait(60)
        yield
    finally:
        DO[:] = [nothing]
        leave.set()
        thread.join()


CALLS = {
    "step": lambda run, saved: run.step(),
    "advance": lambda run, saved: run.advance("9 ms"),
    "save": lambda run, saved: run.save(),
    "restore": lambda run, saved: run.restore(saved),
    "recording": lambda run, saved: run.recording(),
    "recording_since": lambda run, saved: run.recording_since(0),
    "share_rows": lambda run, saved: run.share_rows(9 * MS),
    "set": lambda run, saved: run.set("a.u", 1.0),
    "ramp": lambda run, saved: run.set("a.u", 1.0, "2 ms"),
    "delay": lambda run, saved: run.set("a.y -> b.u", "2 ms"),
    "proposed": lambda run, saved: run.proposed("a.u", 1.0),
    "mark": lambda run, saved: run.mark("here"),
    "replay": lambda run, saved: run.replay(()),
    "listen": lambda run, saved: run.listen(print),
    "tunables": lambda run, saved: run.tunables,
    "get": lambda run, saved: run.get("b.u"),
    "get of a unit": lambda run, saved: run.get("a.u"),
    "notes": lambda run, saved: run.notes,
    "notices": lambda run, saved: run.notices,
    "tuned": lambda run, saved: run.tuned,
    "marks": lambda run, saved: run.marks,
    "timing": lambda run, saved: run.timing,
    "events": lambda run, saved: run.event_statistics(),
    "lines": lambda run, saved: run.line_statistics(),
    "close": lambda run, saved: run.close(),
}


@pytest.mark.parametrize("call", CALLS)
def test_second_thread_is_refused_and_changes_nothing(waiting, call):
    with (
        Execution(waiting, step="1 ms", record="*") as run,
        Execution(waiting, step="1 ms") as twin,
    ):
        run.step(3)
        saved = run.save()
        with stepping(run), pytest.raises(BusyError, match=ANOTHER) as caught:
            CALLS[call](run, saved)
        assert isinstance(caught.value, SoftdockError)
        run.step(2)
        twin.step(6)
        assert run.recording().time_ns.tolist() == [k * MS for k in range(7)]
        assert run.recording().values[:, :2].tobytes() == twin.recording().values.tobytes()
        CALLS[call](run, saved)  # it is free again


@pytest.mark.parametrize("call", CALLS)
def test_component_does_not_use_the_run_that_steps_it(waiting, call):
    with Execution(waiting, step="1 ms") as run:
        saved, caught = run.save(), []

        def use():
            with pytest.raises(BusyError, match=r"in a step, .* from within") as error:
                CALLS[call](run, saved)
            caught.append(error)

        DO[:] = [use]
        run.step()
        DO[:] = [nothing]
        run.step()
        assert len(caught) == 2  # of both components
        assert run.recording().time_ns.tolist() == [0, MS, 2 * MS]


def test_any_thread_reads_time_and_shared_rows(waiting):
    with Execution(waiting, step="1 ms") as run:
        rows = run.share_rows(9 * MS)
        run.step(4)
        with stepping(run):
            assert (run.time, run.time_ns, rows.written) == (0.004, 4 * MS, 4)
            gc.collect()


def test_between_pieces_the_same_thread_uses_it(waiting):
    with Execution(waiting, step="1 ms") as run:
        seen = []

        def steer():
            seen.append(run.save().time_ns)
            run.mark("piece")
            run.set("a.u", float(len(seen)))
            assert len(run.recording().time_ns) == len(seen) + 1
            return 1

        run.advance("3 ms", steer=steer)
        assert seen == [MS, 2 * MS, 3 * MS]
        assert run.get("a.y") == 2.0


def test_failed_call_leaves_the_run_free(waiting):
    with Execution(waiting, step="1 ms") as run:
        with pytest.raises(SoftdockError):
            run.get("a.nothing")
        found = []
        thread = threading.Thread(target=lambda: found.append(run.get("a.y")))
        thread.start()
        thread.join()
        assert found == [0.5]


@pytest.mark.parametrize("call", ["step", "save", "restore", "recording", "set", "ramp", "delay"])
def test_while_the_engine_steps_fmus_alone(small_fmu, call):
    """The engine holds no lock of the interpreter here; ThreadSanitizer looks at this one."""
    passing = small_fmu("rude")
    system = System("s").add("a", fmu(passing)).add("b", fmu(passing))
    system = system.connect("a.y", "b.u", delay="3 ms")
    with Execution(system, step="1 ms") as run:
        run.step()
        try:
            saved = run.save()
        except SoftdockError:
            saved = None
        begun, problems = threading.Event(), []

        def others():
            begun.wait()
            for _ in range(200):
                try:
                    CALLS[call](run, saved)
                except SoftdockError as error:
                    problems.append(error)

        thread = threading.Thread(target=others)
        thread.start()
        begun.set()
        while thread.is_alive():
            try:
                run.step(500)
            except BusyError as error:
                problems.append(error)
        found = run.recording()
        assert set(np.diff(found.time_ns).tolist()) == {MS}
        assert np.isfinite(found.values).all()
