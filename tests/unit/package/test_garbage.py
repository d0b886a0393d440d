import gc
import subprocess
import sys

import pytest

from orchestrator import System, block, write_ssd
from orchestrator.core.garbage import Process, collection_paused


@pytest.fixture(autouse=True)
def _as_before():
    before = gc.isenabled()
    yield
    (gc.enable if before else gc.disable)()


def test_the_collector_goes_on_after_the_outermost_pause_and_after_errors():
    gc.enable()
    with collection_paused():
        assert not gc.isenabled()
        with collection_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ValueError, match="inside"), collection_paused():
        raise ValueError("inside")
    assert gc.isenabled()


def test_a_collector_that_was_stopped_stays_stopped():
    gc.disable()
    with collection_paused():
        pass
    assert not gc.isenabled()


def test_a_function_is_paused_in_every_call():
    gc.enable()

    @collection_paused()
    def seen():
        return gc.isenabled()

    assert [seen(), seen()] == [False, False]
    assert gc.isenabled()


def test_what_was_built_is_not_walked_at_the_next_allocation(monkeypatch):
    monkeypatch.setattr(Process, "passes_over", False)
    gc.enable()
    gc.unfreeze()  # the tests' own
    with collection_paused():
        built = [[] for _ in range(10)]
    young = {id(each) for each in gc.get_objects(generation=0)}
    frozen = gc.get_freeze_count()
    gc.freeze()
    assert young.isdisjoint(map(id, built))
    assert frozen == 0


def test_what_a_host_froze_stays_frozen_and_is_counted_once(monkeypatch):
    """To count takes as long as there are objects: 50 ms for a few million, after each read."""
    counted = []
    monkeypatch.setattr(Process, "passes_over", False)
    monkeypatch.setattr(gc, "get_freeze_count", lambda: counted.append(7) or 7)
    monkeypatch.setattr(gc, "unfreeze", None)
    gc.enable()
    for _ in range(3):
        with collection_paused():
            pass
    assert counted == [7]


FAILS = """
from orchestrator import Block, Output

class Fails(Block):
    \"\"\"Fails in its second step.\"\"\"

    y: float = Output(unit="1")

    def step(self, t: float, h: float) -> None:
        if t > 0.0:
            raise ValueError("no more")
"""


def test_a_command_that_fails_leaves_nothing_of_the_engine(tmp_path):
    """What the traceback of an error holds is freed before the interpreter ends."""
    (tmp_path / "fails.py").write_text(FAILS)
    write_ssd(System("s").add("a", block(f"{tmp_path}/fails.py:Fails")), tmp_path / "s.ssd")
    done = subprocess.run(
        [sys.executable, "-m", "orchestrator", "run", "s.ssd", "--step", "0.1 s", "--stop", "1 s"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "no more" in done.stderr
    assert "leaked" not in done.stderr


STANDS = """
from orchestrator import Block, Output

class Stands(Block):
    \"\"\"Has one output, which stays as it is.\"\"\"

    y: float = Output(unit="1")

    def step(self, t: float, h: float) -> None:
        pass
"""


@pytest.fixture
def system(tmp_path):
    """The file of a system that a command can run."""
    (tmp_path / "stands.py").write_text(STANDS)
    path = tmp_path / "s.ssd"
    write_ssd(System("s").add("a", block(f"{tmp_path}/stands.py:Stands")), path)
    return path


RUN = ("--step", "0.1 s", "--stop", "0.1 s", "--output")


def test_a_command_within_another_process_freezes_nothing_that_it_holds(softdock, system):
    held = []
    code, _, err = softdock("run", system, *RUN, system.parent / "out")
    assert code == 0, err
    assert any(one is held for one in gc.get_objects())  # the collector looks at it


def test_a_command_of_its_own_passes_over_the_modules_of_a_run(system):
    code = f"""
import gc, sys
from orchestrator.__main__ import main
sys.argv = ["softdock", "run", {str(system)!r}, *{RUN!r}, {str(system.parent / "out")!r}]
try:
    main()
except SystemExit as end:
    assert not end.code
runner = sys.modules["orchestrator.study.runner"]
print(gc.get_freeze_count() > 10_000, any(one is vars(runner) for one in gc.get_objects()))
"""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "True False"
