"""What may reach a terminal: text that others wrote does not move its cursor, nor anything else."""

from __future__ import annotations

import logging
import os
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper

#: Tabs and ends of lines are what they look like.
_PLAIN = "\n\t"


def printable(text: str) -> str:
    """Replace what a terminal would obey by characters that it shows, one for each.

    These are all control characters (of ASCII by their pictures, as ``␛``), and the characters that
    change the direction of writing, by which a name can look like another one.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, text))


def _shown(character: str) -> str:
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
    """Log no warnings for a while: they are told in another way, or have been told."""
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
    shown, said = sys.stdout, sys.stderr
    if (shown, said) != (sys.__stdout__, sys.__stderr__) or not isinstance(shown, TextIOWrapper):
        return  # closed, or somebody else's
    own = os.dup(shown.fileno())
    os.dup2(said.fileno(), shown.fileno())
    sys.stdout = os.fdopen(own, "w", 1, shown.encoding, "backslashreplace")
