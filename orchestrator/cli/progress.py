"""How far a long job is, in lines on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from orchestrator.cli.line import drawn_line
from orchestrator.core.display import printable

if TYPE_CHECKING:
    from orchestrator.core.simulation import Where


class _Facts(ProgressColumn):
    """Status text of a job next to its share, computed whenever its line is drawn."""

    def render(self, task: Task) -> Text:
        """Ask, and say it."""
        if (ask := task.fields["ask"]) is not None:
            task.completed, task.fields["text"] = ask()
        return Text(printable(task.fields["text"]), no_wrap=True, overflow="ellipsis")


class Bar:
    """One line of progress per job."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._jobs: dict[str, TaskID] = {}

    def __call__(self, job: str, share: float) -> None:
        """Show that a share of a job is done."""
        self._progress.update(self._task(job), completed=share)

    @contextmanager
    def look(self, job: str, status: Callable[[], str] | None, progress: Where) -> Iterator[None]:
        """Show how far a case is; in real time a process of its own does, and no thread of this."""
        task = self._task(job)
        if progress.rows is not None:
            self._progress.live.transient = True
            self._progress.stop()
            with drawn_line(job, status, progress, progress.rows):
                yield
            self._progress.live.transient = False
            self._progress.start()
            self._progress.update(task, completed=1.0)
        else:
            duration_ns, last = progress.last_ns - progress.start_ns, progress.last_ns / 1e9

            def ask() -> tuple[float, str]:
                now = progress.time_ns()
                return (now - progress.start_ns) / duration_ns, f"{now / 1e9:.3f} of {last:g} s"

            self._progress.update(task, ask=ask)
            yield
            self._progress.update(task, ask=None)

    def _task(self, job: str) -> TaskID:
        if job not in self._jobs:
            self._jobs[job] = self._progress.add_task(job, total=1.0, ask=None, text="")
        return self._jobs[job]


@contextmanager
def shown_bar(console: Console) -> Iterator[Bar]:
    """Show the progress of jobs on a terminal."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(24),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        _Facts(),
    )
    with Progress(*columns, console=console, refresh_per_second=5) as progress:
        yield Bar(progress)


class CountBar:
    """One line for each sweep: how many runs are done, how fast, and how long the rest takes."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._jobs: dict[str, tuple[TaskID, int]] = {}

    def __call__(self, job: str, done: int, total: int, failed: int) -> None:
        """Show how many runs of a job are done, and how many of these failed."""
        if job not in self._jobs:
            task = self._progress.add_task(job, total=total, completed=done, rate="", failed="")
            self._jobs[job] = task, done
        task, first = self._jobs[job]
        elapsed = self._progress.tasks[task].elapsed or 0.0
        rate = f"{(done - first) / elapsed:.3g}/s" if elapsed and done > first else ""
        note = f"{failed} without figures" if failed else ""
        self._progress.update(task, completed=done, rate=rate, failed=note)


@contextmanager
def count_bar(console: Console) -> Iterator[CountBar]:
    """Show the progress of many runs on a terminal."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[failed]}"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        yield CountBar(progress)
