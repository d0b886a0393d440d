import gc
import subprocess
import sys

import pytest

from orchestrator import System, block, write_ssd
from orchestrator.core.garbage import collection_paused


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


def test_what_was_built_is_not_walked_at_the_next_allocation():
    gc.enable()
    gc.unfreeze()  # the tests' own
    with collection_paused():
        built = [[] for _ in range(10)]
    young = {id(each) for each in gc.get_objects(generation=0)}
    frozen = gc.get_freeze_count()
    gc.freeze()
    assert young.isdisjoint(map(id, built))
    assert frozen == 0


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
        [sys.executable, "-m", "orchestrator", "run", "s.ssd", "--step", "0.1", "--stop", "1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "no more" in done.stderr
    assert "leaked" not in done.stderr
