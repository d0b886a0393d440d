"""What the commands print: text on standard output, progress and problems on standard error."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console, ConsoleOptions, RenderableType
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
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from orchestrator.core.display import printable

if TYPE_CHECKING:
    from orchestrator.study.prepare.simulate import Where


class PlainConsole(Console):
    """Prints text that others wrote, such as names, without obeying it."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render, and replace what the terminal would obey; that of rich itself stays."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control else Segment(printable(text), style)

    def on_broken_pipe(self) -> None:
        """Leave a closed pipe to whoever runs the command: Rich would end it."""
        raise BrokenPipeError


output = PlainConsole(highlight=False, soft_wrap=True)
if not output.is_terminal:
    output.width = 160  # nobody folds a pipe
messages = PlainConsole(stderr=True, highlight=False, soft_wrap=True)


def print_json(data: Any) -> None:
    """Print data as JSON, and nothing else."""
    output.file.write(json.dumps(data, indent=2, allow_nan=False) + "\n")


def print_lines(*texts: object) -> None:
    """Print what a command found, a line for each text, as it is written."""
    for text in texts:
        output.print(str(text), markup=False)


def print_error(text: str) -> None:
    """Print a problem; each line of it is one."""
    for line in text.splitlines():
        messages.print(f"error: {line}", markup=False, style="red")


def print_message(text: str) -> None:
    """Say something that is no result."""
    messages.print(text, markup=False)


def print_warning(text: str) -> None:
    """Print what must not be overlooked, although all was done."""
    messages.print(f"warning: {text}", markup=False, style="yellow")


def print_table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    """Print a table; columns of numbers are aligned to the right."""
    table = Table(title=Text(title), title_justify="left", title_style="bold")
    for i, column in enumerate(columns):
        justify: Literal["left", "right"] = "left" if i == 0 else "right"
        table.add_column(Text(column), justify=justify, overflow="fold")  # Text: "[ms]" is no style
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))  # as wide as it will be
    output.print(table)


class _Facts(ProgressColumn):
    """What is to be said of a job beside its share, asked for whenever its line is drawn."""

    def render(self, task: Task) -> Text:
        """Ask, and say it."""
        if (ask := task.fields["ask"]) is not None:
            task.completed, task.fields["text"] = ask()
        return Text(printable(task.fields["text"]), no_wrap=True, overflow="ellipsis")


class Bar:
    """One line of progress per job; silent where standard error is no terminal."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._jobs: dict[str, TaskID] = {}

    @property
    def is_silent(self) -> bool:
        """Whether nobody sees it."""
        return self._progress.disable

    def __call__(self, job: str, share: float) -> None:
        """Show that a share of a job is done."""
        self._progress.update(self._task(job), completed=share)

    @contextmanager
    def look(self, job: str, about: tuple[str, str] | None, where: Where) -> Iterator[None]:
        """Show how far a case is; in real time a process of its own does, and no thread of this."""
        task = self._task(job)
        if where.rows is not None:
            self._progress.live.transient = True
            self._progress.stop()
            from orchestrator.cli.line import drawn_line

            with drawn_line(job, about, where, where.rows):
                yield
            self._progress.live.transient = False
            self._progress.start()
            self._progress.update(task, completed=1.0)
        else:
            whole, last = where.last_ns - where.start_ns, where.last_ns / 1e9

            def ask() -> tuple[float, str]:
                now = where.time_ns()
                return (now - where.start_ns) / whole, f"{now / 1e9:.3f} of {last:g} s"

            self._progress.update(task, ask=ask)
            yield
            self._progress.update(task, ask=None)

    def _task(self, job: str) -> TaskID:
        if job not in self._jobs:
            self._jobs[job] = self._progress.add_task(job, total=1.0, ask=None, text="")
        return self._jobs[job]


@contextmanager
def progress_bar() -> Iterator[Bar]:
    """Show progress on a terminal."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(24),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        _Facts(),
    )
    with Progress(
        *columns, console=messages, disable=not messages.is_terminal, refresh_per_second=5
    ) as progress:
        yield Bar(progress)


class CountBar:
    """One line for each sweep: how many runs are done, how fast, and how long the rest takes."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._jobs: dict[str, tuple[TaskID, int]] = {}

    def __call__(self, job: str, done: int, total: int, failed: int) -> None:
        """Show that so many of a job's runs are done, and so many of these failed."""
        if job not in self._jobs:
            task = self._progress.add_task(job, total=total, completed=done, rate="", failed="")
            self._jobs[job] = task, done
        task, first = self._jobs[job]
        elapsed = self._progress.tasks[task].elapsed or 0.0
        rate = f"{(done - first) / elapsed:.3g}/s" if elapsed and done > first else ""
        told = f"{failed} without figures" if failed else ""
        self._progress.update(task, completed=done, rate=rate, failed=told)


@contextmanager
def count_bar() -> Iterator[CountBar]:
    """Show the progress of many runs on a terminal."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[failed]}"),
    )
    with Progress(*columns, console=messages, disable=not messages.is_terminal) as progress:
        yield CountBar(progress)
