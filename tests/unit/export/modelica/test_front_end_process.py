"""What goes wrong in rumoca is an error of one class, and the next class is read."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export import BuildJob, Recipe, build_all
from orchestrator.export.modelica import front_end_process
from orchestrator.export.modelica.front_end_process import RUMOCA, FrontEndCrash
from orchestrator.export.modelica.frontend import flatten, flatten_source

GOOD = "model G Real x(start=1, fixed=true); equation der(x) = -x; end G;"
#: Brackets so deep that rumoca calls itself until the stack is full.
DEEP = f"model Deep\n  Real x = {'(' * 20_000}1{')' * 20_000};\nend Deep;\n"


@pytest.fixture
def fresh() -> None:
    """Forget the process of this thread, so that the next one gets what a test sets."""
    RUMOCA._process = None


def _deep(folder: Path) -> Path:
    file = folder / "Deep.mo"
    file.write_text(DEEP, encoding="utf-8")
    return file


def test_crash_names_class_and_file(tmp_path: Path) -> None:
    file = _deep(tmp_path)
    with pytest.raises(
        ModelicaError, match=rf"front end crashed on class 'Deep' in '{file}'.* by SIGSEGV"
    ):
        flatten("Deep", tmp_path)
    assert flatten_source("G", GOOD).name == "G"


@pytest.mark.parametrize("workers", [1, 2])
def test_crash_leaves_other_recipes_to_be_built(
    workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken"  # a sibling would be read with the other one
    broken.mkdir()
    # "gcc" writes nothing: what counts is that the build comes as far as the compiler.
    monkeypatch.setenv("CC", "true")
    (tmp_path / "G.mo").write_text(GOOD, encoding="utf-8")
    files = [_deep(broken), tmp_path / "G.mo"]
    jobs = [BuildJob(Recipe.of_file(file, None, ()), tmp_path) for file in files]
    crashed, other = build_all(jobs, workers=workers)
    assert "front end crashed on class 'Deep'" in str(crashed)
    assert "front end" not in str(other)
    monkeypatch.delenv("CC")  # processes that began with it do not keep it
    _, built = build_all(jobs, workers=workers)
    assert built.files["2.0"].is_file()


@pytest.mark.usefixtures("fresh")
def test_hang_is_ended(monkeypatch: pytest.MonkeyPatch, wording) -> None:
    monkeypatch.setattr(front_end_process, "LIMIT", 0.0)
    with wording.raises(ModelicaError):
        flatten_source("G", GOOD)
    monkeypatch.undo()
    assert flatten_source("G", GOOD).name == "G"


@pytest.mark.usefixtures("fresh")
def test_memory_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front_end_process, "MEMORY", 64 << 20)
    with pytest.raises(FrontEndCrash, match="MemoryError"):
        RUMOCA.ask({"checked": "/*" + "x" * (64 << 20)})


@pytest.mark.usefixtures("fresh")
def test_a_kill_by_the_kernel_is_told() -> None:
    RUMOCA.ask({"checked": GOOD})
    running = RUMOCA._process
    assert running is not None
    os.kill(running._process.pid, signal.SIGKILL)
    with pytest.raises(FrontEndCrash, match="by SIGKILL, as the kernel does where memory is short"):
        running.ask(b"{}")
    assert RUMOCA.ask({"checked": GOOD}) == {"found": []}


def test_it_is_started_once_for_many_classes() -> None:
    flatten_source("G", GOOD)
    first = RUMOCA._process
    flatten_source("G", GOOD)
    assert RUMOCA._process is first
    assert first is not None


def test_it_ends_with_its_parent() -> None:
    RUMOCA.ask({"checked": GOOD})
    running = RUMOCA._process
    assert running is not None
    running._channel.close()  # both, as the kernel does for a parent that is gone
    running._process.channel.close()
    assert running._process.wait(10)
    assert running._process.returncode == 0
