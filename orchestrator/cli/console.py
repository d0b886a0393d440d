"""What the commands print: text on standard output, progress and problems on standard error."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from orchestrator.core.display import printable

if TYPE_CHECKING:
    from orchestrator.cli.progress import Bar


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


#: How a cell of a column of numbers begins; it may be empty.
_NUMBER = re.compile(r"[-+]?(\d|inf|nan|none|$)")


def print_table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    """Print a table; columns of numbers are aligned to the right, the others to the left."""
    table = Table(title=Text(title), title_justify="left", title_style="bold")
    for i, column in enumerate(columns):
        numbers = i > 0 and all(_NUMBER.match(row[i]) for row in rows if i < len(row))
        justify: Literal["left", "right"] = "right" if numbers else "left"
        table.add_column(Text(column), justify=justify, overflow="fold")  # Text: "[ms]" is no style
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))  # as wide as it will be
    output.print(table)


def progress_bar() -> AbstractContextManager[Bar | None]:
    """Show progress on a terminal; ``None`` where standard error is none."""
    if not messages.is_terminal:
        return nullcontext()
    from orchestrator.cli.progress import shown_bar

    return shown_bar(messages)
