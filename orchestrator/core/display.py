"""What a notebook and a terminal show: tables, pages and bars; text that moves no cursor.

Nothing of Jupyter is needed for it, or imported before a notebook has done so. Text that others
wrote does not move the cursor of a terminal, nor anything else.
"""

from __future__ import annotations

import logging
import os
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import TextIOWrapper
from typing import Any, ClassVar, TypeVar

#: Receives the share of a job that is done, 0 to 1.
Progress = Callable[[float], None]
#: Rows of a table that a prompt and a notebook show.
_MOST_ROWS = 20
#: s, before a bar appears, and between two of its pictures.
_PATIENCE, _PERIOD = 0.5, 0.1


def escaped(text: str) -> str:
    """Return a text as HTML shows it."""
    from html import escape  # a run does not need it

    return escape(text)


def html_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table as HTML; the texts are escaped."""

    def line(texts: Iterable[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{escaped(text)}</{tag}>' for text in texts)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table>{line(columns, 'th')}{body}</table>"


def text_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as text, the first column to the left."""
    lines = [tuple(columns), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]

    def line(texts: Sequence[str]) -> str:
        first, *others = (text.rjust(width) for text, width in zip(texts, widths, strict=True))
        return "  ".join([first.strip().ljust(widths[0]), *others]).rstrip()

    return "\n".join(map(line, lines))


@dataclass(frozen=True)
class Page:
    """A page that needs nothing else, which a notebook shows in its cell.

    html: All of it.
    title: For those who do not see it.
    height: Pixels that it takes in a cell.
    """

    html: str = field(repr=False)
    title: str
    height: int

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escaped(self.html)}" sandbox="allow-scripts"'
            f' title="{escaped(self.title)}"'
            f' style="width: 100%; height: {self.height}px; border: 0"></iframe>'
        )


_Item = TypeVar("_Item")


class Listed(tuple[_Item, ...]):
    """Values that a prompt and a notebook show as a table."""

    __slots__ = ()
    columns: ClassVar[tuple[str, ...]]

    @staticmethod
    def cells(item: Any) -> tuple[str, ...]:
        """Return what stands in the columns for a value."""
        raise NotImplementedError

    def __repr__(self) -> str:
        if not self:
            return "()"
        return "\n".join([text_table(self.columns, self._rows()), *self._remainder()])

    def _repr_html_(self) -> str:
        remainder = "".join(f"<p>{text}</p>" for text in self._remainder())
        return f"{html_table(self.columns, self._rows())}{remainder}"

    def _rows(self) -> list[tuple[str, ...]]:
        return [self.cells(item) for item in self[:_MOST_ROWS]]

    def _remainder(self) -> list[str]:
        hidden = len(self) - _MOST_ROWS
        return [f"and {hidden} more"] if hidden > 0 else []


def _kernel_display() -> Callable[..., Any] | None:
    """Return what shows things in the cell that runs; ``None``: this is no notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is None:
        return None
    from IPython.display import display

    return display


class Bar:
    """A bar in a cell."""

    def __init__(self, title: str, display: Callable[..., Any]) -> None:
        self._title, self._display = title, display
        self._next = time.monotonic() + _PATIENCE
        self._shown: Any = None

    def __call__(self, share: float, job: str = "") -> None:
        """Show how much is done, of a job where there are several, as often as anybody sees."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _PERIOD
        text = ": ".join(filter(None, (self._title, job, f"{min(max(share, 0.0), 1.0):.0%}")))
        bar = f'<progress max="1" value="{share:.4f}" style="width: 20em"></progress>'
        self._show({"text/html": f"<label>{bar} {escaped(text)}</label>", "text/plain": text})

    def _show(self, content: dict[str, str]) -> None:
        if self._shown is None:
            self._shown = self._display(content, raw=True, display_id=True)
        else:
            self._shown.update(content, raw=True)

    def close(self) -> None:
        """Take it away."""
        if self._shown is not None:
            self._show({"text/html": "", "text/plain": ""})


@contextmanager
def progress_bar(title: str) -> Iterator[Bar | None]:
    """Give what shows in a notebook how far something is; ``None`` elsewhere."""
    display = _kernel_display()
    if display is None:
        yield None
        return
    bar = Bar(title, display)
    try:
        yield bar
    finally:
        with suppress(Exception):  # a kernel that goes shows nothing any more
            bar.close()


#: Tabs and ends of lines are what they look like.
_PLAIN = "\n\t"


def printable(text: str) -> str:
    """Replace what a terminal would obey by characters that it shows, one for each.

    These are all control characters (of ASCII by their pictures, as ``␛``), and the characters that
    change the direction of writing, by which a name can look like another one.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_visible, text))


def _visible(character: str) -> str:
    if character in _PLAIN:
        return character
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    steers = unicodedata.bidirectional(character) in _STEERING
    return "\ufffd" if steers or unicodedata.category(character) in {"Cc", "Cs"} else character


_STEERING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


class PrintableFormatter(logging.Formatter):
    """Formats what is logged, the messages of FMUs too, for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one record as text."""
        return printable(super().format(record))


def log_to_terminal() -> None:
    """Show warnings and errors that are logged on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(PrintableFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)


@contextmanager
def errors_only() -> Iterator[None]:
    """Log no warnings within the block: they are reported elsewhere, or were reported before."""
    logger = logging.getLogger("orchestrator")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def say_everything() -> None:
    """Let characters that the terminal's encoding has not be told by their numbers."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def keep_output() -> None:
    """Keep standard output for this program: what an FMU prints there goes to standard error."""
    stdout, stderr = sys.stdout, sys.stderr
    if (stdout, stderr) != (sys.__stdout__, sys.__stderr__) or not isinstance(
        stdout, TextIOWrapper
    ):
        return  # closed, or somebody else's
    descriptor = os.dup(stdout.fileno())
    os.dup2(stderr.fileno(), stdout.fileno())
    sys.stdout = os.fdopen(descriptor, "w", 1, stdout.encoding, "backslashreplace")
