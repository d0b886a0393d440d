"""Starts and ends of workers, and what is said about them."""

import gc
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import alive, gone, script

from orchestrator.core.diagnostics import CapabilityError, LoadError, PluginError, StepError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import Block, Input, Output, block, fmu
from orchestrator.core.system import System

pytestmark = pytest.mark.usefixtures("sample_blocks")


def isolated(component, **values):
    return System("s").add("a", component, **values).with_options("a", isolation="process")


def test_closing_ends_the_process(crash):
    with Execution(isolated(fmu(crash), u=1.0), step="1 ms") as run:
        pid = run.units[0].pid
        run.step()
        assert alive(pid)
    assert not Path(f"/proc/{pid}").exists()  # no zombie either
    run.close()  # once more


def test_collecting_ends_the_process(crash):
    run = Execution(isolated(fmu(crash), u=1.0), step="1 ms")
    pid = run.units[0].pid
    del run
    gc.collect()
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.slow
@pytest.mark.parametrize("rest", ["run.step()", "run.step(); os._exit(3)", "1 / 0"])
def test_the_interpreter_s_end_ends_the_process(crash, rest):
    with script(crash, rest) as process:
        out, errors = process.communicate(timeout=120)
    assert gone(int(out))
    assert "nanobind" not in errors
    if rest == "run.step()":
        assert (process.returncode, errors) == (0, "")


@pytest.mark.slow
def test_a_killed_parent_takes_its_worker_along_from_an_endless_step(hang):
    with script(hang, "run.step()", "phase=4, at=0.0") as process:
        pid = int(process.stdout.readline())
        time.sleep(0.3)  # the worker is in its step, which never ends
        assert alive(pid)
        process.kill()
        process.communicate()
    assert gone(pid)


@pytest.mark.slow
def test_interrupt_leaves_the_worker_to_its_parent(crash):
    """Ctrl-C goes to the whole group; results are read after it, the unit's values included."""
    rest = """
try:
    run.step()
    print("it runs", flush=True)
    run.advance("1e9 s")
except KeyboardInterrupt:
    print(len(run.recording().time_ns) > 1, run.get("a.at"), flush=True)
    run.close()
"""
    with script(crash, rest) as process:
        pid = int(process.stdout.readline())
        assert process.stdout.readline() == "it runs\n"
        os.kill(pid, signal.SIGINT)  # as if the worker were in the terminal's group
        os.kill(process.pid, signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    assert (out, errors, process.returncode) == ("True 1000000000.0\n", "", 0)
    assert gone(pid)


@pytest.mark.slow
def test_a_fork_does_not_end_its_parent_s_workers(crash):
    rest = "child = os.fork()\nif child == 0: sys.exit(0)\nos.waitpid(child, 0)\nrun.step()"
    with script(crash, rest) as process:
        out, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert gone(int(out))


def test_messages_go_to_the_component_s_logger(crash, caplog):
    with (
        caplog.at_level(logging.DEBUG, "orchestrator.fmu"),
        Execution(isolated(fmu(crash), u=1.0), step="1 ms") as run,
    ):
        run.step()
    assert [(r.name, r.levelname, r.message) for r in caplog.records] == [
        ("orchestrator.fmu.a", "INFO", "init: ready")
    ]


@pytest.mark.slow
def test_an_fmu_that_is_allowed_once_per_process(small_fmu, caplog, wording):
    path = small_fmu("crash_second_instance", once=True)
    system = System("s").add("a", fmu(path), u=1.0).add("b", fmu(path), u=2.0)
    note = (
        f"components a, b run in processes of their own: {path} can be instantiated only once per"
        " process"
    )
    with (
        caplog.at_level(logging.INFO, "orchestrator.core.simunits"),
        Execution(system, step="0.5 s") as run,
    ):
        run.step(2)
        assert (run.get("a.y"), run.get("b.y")) == (1.0, 2.0)
        assert run.notes == (note,)
    assert note in caplog.messages
    with Execution(system.with_options("a", isolation="none"), step="0.5 s") as run:
        assert "components b run in" in run.notes[0]
    both = system.with_options("a", isolation="none").with_options("b", isolation="none")
    with wording.raises(CapabilityError):
        Execution(both, step="0.5 s")


@pytest.mark.slow
def test_an_fmu_that_another_run_has_in_this_process(small_fmu, wording):
    path = small_fmu("crash_second_instance", once=True)
    system = System("s").add("a", fmu(path), u=1.0)
    here = system.with_options("a", isolation="none")
    with Execution(system, step="0.5 s") as first:
        assert first.notes == ()
        with Execution(system, step="0.5 s") as second:
            assert "and another run of this process has it loaded" in second.notes[0]
            second.step(2)
        with wording.raises(CapabilityError):
            Execution(here, step="0.5 s")
        first.step(2)
        assert (first.get("a.y"), second.get("a.y")) == (1.0, 1.0)
    del first
    with Execution(here, step="0.5 s") as third:
        assert third.notes == ()


def test_a_worker_that_cannot_start(crash, monkeypatch, tmp_path, wording):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with wording.raises(LoadError):
        Execution(isolated(fmu(crash), u=1.0), step="1 ms")


def test_a_worker_that_ends_at_once(crash, monkeypatch, wording):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with wording.raises(LoadError):
        Execution(isolated(fmu(crash), u=1.0), step="1 ms")


def test_a_class_that_no_other_process_finds(wording):
    class Hidden(Block):
        u: float = Input()
        y: float = Output()

    with wording.raises(CapabilityError):
        Execution(isolated(block(Hidden), u=1.0), step="1 ms")


UNGUARDED = """
from orchestrator.core.simunits import Block, Input, Output, block
from orchestrator.core.system import System
from orchestrator.core.master import Execution

class Twice(Block):
    u: float = Input()
    y: float = Output()

    def step(self, t, h):
        self.y = 2.0 * self.u

{guard}
    system = System("s").add("a", block(Twice), u=3.0).with_options("a", isolation="process")
    with Execution(system, step="1 ms") as run:
        run.step()
        print(run.get("a.y"))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("guard", "out", "message"),
    [
        ("if __name__ == '__main__':", "6.0\n", ""),
        ("if True:", "", "a worker cannot start workers"),
    ],
)
def test_a_block_of_a_script(tmp_path, guard, out, message):
    file = tmp_path / "script.py"
    file.write_text(UNGUARDED.format(guard=guard))
    done = subprocess.run(  # noqa: S603 - this interpreter, our script
        [sys.executable, str(file)], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout == out
    assert message in done.stderr
    assert (done.returncode == 0) == (not message)


def test_a_block_whose_module_is_broken_there(tmp_path, monkeypatch, wording):
    """Importable here, but not any more when the worker looks."""
    file = tmp_path / "fleeting.py"
    file.write_text(
        "from orchestrator.core.simunits import Block, Input, Output\n"
        "class Fleeting(Block):\n    u: float = Input()\n    y: float = Output()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import fleeting

    file.write_text("raise OSError('no licence')")
    with wording.raises(PluginError):
        Execution(isolated(block(fleeting.Fleeting), u=1.0), step="1 ms")


def test_use_after_the_end(crash, wording):
    run = Execution(isolated(fmu(crash), u=1.0), step="1 ms")
    run.step()
    checkpoint = run.save()
    run.close()
    with wording.raises(StepError):
        run.step()
    with wording.raises(StepError):
        checkpoint.stored()
