"""What an FMU changes of its process does not reach its neighbours, and is told."""

import ctypes
import hashlib
import locale
import os
import platform
import resource
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from orchestrator.core.master import Execution
from orchestrator.core.simunits import Block, Output, block, fmu
from orchestrator.core.system import System
from orchestrator.engine import Surroundings

pytestmark = [
    pytest.mark.usefixtures("sample_blocks"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="rude.c sets MXCSR"),
]
INSTANTIATE, SET_UP, EXIT_INITIALISATION, STEP = range(1, 5)  # small_fmu.h
SAVE, RESTORE, SERIALIZE, DESERIALIZE, READ = range(7, 12)
EVENT_CALLS = {"enter": 1, "update": 2, "leave": 3, "read": 4, "set": 5}  # event_unit3.h
ROUND, FLUSH, CHANGE_FOLDER, SET_LOCALE, IGNORE, TRAP = range(6)  # rude.c
MASK, LIMIT, PIN, VARIABLE, BLOCK = range(6, 11)
SAYS = {
    ROUND: "the floating-point mode",
    FLUSH: "the floating-point mode",
    CHANGE_FOLDER: "the working directory, to '/'",
    SET_LOCALE: "the locale, to 'C'",
    IGNORE: "what the signal SIGINT does",
    TRAP: "the floating-point mode",
    MASK: "the mask of new files, to 0777",
    LIMIT: "the limit RLIMIT_NOFILE",
    VARIABLE: "the environment variable 'HOME'",
    BLOCK: "which signals are blocked",
}

WHERE = "where standard output leads, which cannot be put back"


@pytest.fixture(scope="session")
def quiet(small_fmu):
    return small_fmu("sleep_in_step")


if len(os.sched_getaffinity(0)) > 1:
    SAYS[PIN] = "the processors that it may run on"


def shared():
    mask = os.umask(0o022)
    os.umask(mask)
    return (
        os.getcwd(),  # noqa: PTH109
        signal.getsignal(signal.SIGINT),
        locale.setlocale(locale.LC_ALL),
        mask,
        resource.getrlimit(resource.RLIMIT_NOFILE),
        os.sched_getaffinity(0),
        signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        [c_getenv(name) for name in (b"HOME", b"RUDE")],
    )


def c_getenv(name):
    """Return a variable as the C library has it: Python's own copy does not change."""
    library = ctypes.CDLL(None)
    library.getenv.restype = ctypes.c_char_p
    return library.getenv(name)


def series(run):
    """Rows of the neighbour alone: an integrator of 0.1, and of what is nearly 0."""
    recording = run.recording()
    wanted = [i for i, name in enumerate(recording.names) if not name.startswith("rude.")]
    return recording.values[:, wanted]


def neighbours(system):
    """One that is not connected to anything, before and after, by order of names and of adding."""
    system = system.add("tiny", block("integrator"), u=1e-310)
    return system.add("unconnected", block("integrator"), u=0.1)


def rude(small_fmu, phase, how):
    if phase == INSTANTIATE:
        return fmu(small_fmu("rude", f"-DBEFORE_PARAMETERS={phase}", f"-DHOW_BEFORE={how}")), {}
    return fmu(small_fmu("rude")), {"phase": phase, "how": how, "at": 0.05}


@pytest.mark.parametrize("phase", [INSTANTIATE, SET_UP, EXIT_INITIALISATION, STEP])
@pytest.mark.parametrize("how", SAYS)
def test_neighbours_are_as_without_it(small_fmu, how, phase, monkeypatch):
    source, values = rude(small_fmu, phase, how)
    kept = locale.setlocale(locale.LC_ALL)
    locale.setlocale(locale.LC_ALL, "C.UTF-8")
    try:
        before = shared()
        with Execution(neighbours(System("s")), step="1 ms") as run:
            run.step(200)
            alone = series(run)
        system = neighbours(System("s").add("rude", source, u=0.1, **values))
        with Execution(system, step="1 ms") as run:
            run.step(200)
            found, notes = series(run), run.notes
        assert shared() == before
    finally:
        locale.setlocale(locale.LC_ALL, kept)
    np.testing.assert_array_equal(found, alone)
    assert any("'rude'" in note and SAYS[how] in note for note in notes), notes


def test_threads_are_put_back_as_well(small_fmu, quiet):
    """The unit that rounds upward is stepped by any of the threads, and so are its neighbours."""
    found = []
    for how in (IGNORE, ROUND):
        system = System("s").add(
            "rude", fmu(small_fmu("rude")), u=0.1, phase=STEP, how=how, at=0.025
        )
        for number in range(3):
            system = system.add(f"n{number}", fmu(quiet), u=0.1)
        with Execution(system, step="1 ms", threads=2) as run:
            run.step(200)
            found.append(series(run))
    np.testing.assert_array_equal(*found)


def test_in_a_process_of_its_own_it_may_do_as_it_likes(small_fmu):
    source, values = rude(small_fmu, STEP, ROUND)
    system = neighbours(System("s").add("rude", source, u=0.1, **values))
    with Execution(system.with_options("rude", isolation="process"), step="1 ms") as run:
        run.step(200)
        assert run.notes == ()
        rounded = run.get("rude.y")
    assert rounded > np.cumsum(np.full(200, 0.001 * 0.1))[-1]


def between_steps(run):
    """Everything that may be asked of a unit between two steps."""
    run.step(3)
    checkpoint = run.save()
    run.restore(checkpoint.stored())
    run.restore(checkpoint)
    run.get("rude.at")
    run.set("rude.u", 0.2)


@pytest.mark.parametrize("phase", [SAVE, RESTORE, SERIALIZE, DESERIALIZE, READ])
@pytest.mark.parametrize("how", [ROUND, CHANGE_FOLDER])
def test_nothing_is_left_changed_between_steps(small_fmu, how, phase):
    before, found = shared(), []
    for which in (0, phase):
        values = {"phase": which, "how": how}
        system = neighbours(System("s").add("rude", fmu(small_fmu("rude")), u=0.1, **values))
        with Execution(system, step="1 ms", record=["tiny.y", "unconnected.y"]) as run:
            between_steps(run)
            assert shared() == before
            run.step(200)
            found.append(series(run))
    np.testing.assert_array_equal(*found)
    notes = run.notes
    assert any("'rude'" in note and SAYS[how] in note for note in notes), notes


@pytest.mark.parametrize("phase", [SAVE, RESTORE])
def test_steps_that_are_done_again_leave_the_neighbours_alone(small_fmu, phase):
    found = []
    for which in (0, phase):
        values = {"phase": which, "how": ROUND}
        system = neighbours(System("s").add("rude", fmu(small_fmu("rude")), u=0.1, **values))
        with Execution(system, step="1 ms", algorithm="step-doubling") as run:
            run.advance("0.1 s")
            found.append(series(run))
    np.testing.assert_array_equal(*found)
    assert any("'rude' changed the floating-point mode in its" in n for n in run.notes), run.notes


@pytest.mark.parametrize("call", EVENT_CALLS)
def test_events_leave_the_neighbours_alone(c_fmu, call):
    found = []
    for number in (0, EVENT_CALLS[call]):
        path = c_fmu("jumper3", options=(f"-DROUNDS_IN={number}",))
        system = neighbours(System("s").add("rude", fmu(path), at=0.05))
        system = system.connect("unconnected.y", "rude.u")
        with Execution(system, step="1 ms") as run:
            run.step(200)
            found.append(series(run))
            assert run.get("rude.jumps") == 1
    np.testing.assert_array_equal(*found)
    assert any("'rude' changed the floating-point mode in its" in n for n in run.notes), run.notes


def in_thread(function):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def test_what_other_threads_change_is_left_to_them(tmp_path, monkeypatch):
    kept = signal.getsignal(signal.SIGINT)
    surroundings = in_thread(Surroundings)
    monkeypatch.chdir(tmp_path)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert in_thread(surroundings.put_back) == ([], [])
        assert Path.cwd() == tmp_path
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, kept)


def test_a_run_in_a_thread_keeps_the_floating_point_mode(small_fmu):
    found = []
    for phase in (0, SET_UP):
        values = {"phase": phase, "how": ROUND}
        system = neighbours(System("s").add("rude", fmu(small_fmu("rude")), u=0.1, **values))

        def run(system=system):
            with Execution(system, step="1 ms") as execution:
                execution.step(200)
                return series(execution), execution.notes

        values, notes = in_thread(run)
        found.append(values)
    np.testing.assert_array_equal(*found)
    assert any("'rude'" in note and SAYS[ROUND] in note for note in notes), notes


def test_where_output_leads_is_told(tmp_path):
    """A unit may have meant it, so the file stays; a process of its own keeps it to itself."""
    kept = os.dup(1)
    before = Surroundings()
    try:
        with (tmp_path / "elsewhere").open("wb") as elsewhere:  # workers begin at os.devnull
            os.dup2(elsewhere.fileno(), 1)
        said = before.put_back()
    finally:
        os.dup2(kept, 1)
        os.close(kept)
    assert [text for both in said for text in both] == [WHERE]


def sleeps(thread):
    """Return whether a thread waits for something: the letter after its name in /proc."""
    state = Path(f"/proc/self/task/{thread.native_id}/stat").read_text()
    return state.rpartition(")")[2].split()[0] == "S"


@contextmanager
def another_thread(function):
    """Another thread calls a function while this one is in a step of an FMU."""
    go, done = threading.Event(), threading.Event()

    def call():
        assert go.wait(60)
        function()
        done.set()

    thread = threading.Thread(target=call)
    thread.start()
    while not sleeps(thread):
        time.sleep(0.001)
    yield go, done
    thread.join()


OWN_CHANGES = {
    "the working directory": (lambda: os.chdir("/"), os.getcwd, "/"),
    "the mask of new files": (lambda: os.umask(0o077), lambda: shared()[3], 0o077),
    "the environment variable 'MINE'": (
        lambda: os.environ.__setitem__("MINE", "1"),
        lambda: c_getenv(b"MINE"),
        b"1",
    ),
    "what the signal SIGPIPE does": (
        lambda: ctypes.CDLL(None).signal(signal.SIGPIPE, None),
        lambda: ctypes.CDLL(None).signal(signal.SIGPIPE, None),
        0,
    ),
}


@pytest.mark.parametrize("what", OWN_CHANGES)
def test_what_another_thread_of_the_program_changes_stays(quiet, what, monkeypatch, tmp_path):
    change, present, wanted = OWN_CHANGES[what]
    kept, mask = signal.getsignal(signal.SIGPIPE), shared()[3]
    monkeypatch.setenv("MINE", "0")
    monkeypatch.chdir(tmp_path)
    try:
        with Execution(System("s").add("a", fmu(quiet)), step="1 ms") as run:
            run.step()
            with another_thread(change) as (go, done):
                go.set()
                while not done.is_set():
                    run.step(2000)  # a fifth of a second without the lock of the interpreter
            run.step()
            assert present() == wanted
            notes = run.notes
        assert not any("'a'" in note for note in notes), notes
    finally:
        os.umask(mask)
        signal.signal(signal.SIGPIPE, kept)


def test_change_by_a_thread_that_still_computes_stays():
    """The clock of the process counts a running thread at the next tick only."""
    data = bytes(1 << 20)  # a millisecond without the lock of the interpreter
    kept = os.umask(0o022)
    try:
        for mask in [0o077, 0o022] * 25:
            begin, changed = threading.Event(), threading.Event()

            def change(mask=mask, begin=begin, changed=changed):
                assert begin.wait(60)
                os.umask(mask)
                changed.set()
                hashlib.sha256(data)

            thread = threading.Thread(target=change)
            thread.start()
            before = Surroundings()
            begin.set()
            assert changed.wait(60)
            put_back, _ = before.put_back()
            thread.join()
            assert not put_back
            assert shared()[3] == mask
    finally:
        os.umask(kept)


def test_change_of_a_unit_is_put_back_next_to_an_idle_thread(small_fmu):
    source, values = rude(small_fmu, STEP, CHANGE_FOLDER)
    before = shared()
    with another_thread(lambda: None) as (go, _):
        with Execution(System("s").add("rude", source, **values), step="1 ms") as run:
            run.step(100)
            notes = run.notes
        assert shared() == before
        go.set()
    assert any("'rude'" in note and SAYS[CHANGE_FOLDER] in note for note in notes), notes


class Sets(Block):
    """Changes the environment of the process in its third step."""

    y: float = Output(depends_on=())

    def step(self, t, h):
        self.y += h
        if 0.0015 < t < 0.0025:
            os.environ["MINE"] = "changed"
            os.environ["NEW"] = "1"
            os.environ.pop("GONE")


@pytest.mark.parametrize("count", [1, 5])
def test_python_sees_the_environment_that_was_put_back(monkeypatch, count):
    monkeypatch.setenv("MINE", "0")
    monkeypatch.setenv("GONE", "2")
    monkeypatch.delenv("NEW", raising=False)
    with Execution(System("s").add("a", block(Sets)), step="1 ms") as run:
        for _ in range(5 // count):
            run.step(count)
        notes = run.notes
    assert any("'a' changed the environment variable 'MINE'" in note for note in notes)
    for name, value in (("MINE", b"0"), ("GONE", b"2"), ("NEW", None)):
        assert c_getenv(name.encode()) == value
        assert os.environ.get(name) == (value and value.decode())
