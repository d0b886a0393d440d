"""Code that a file names, which stays unopened while a system is only looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from orchestrator.core.diagnostics import PluginError
from orchestrator.core.system.naming import SEPARATOR
from orchestrator.core.system.source import Source, SourceKind
from orchestrator.core.system.system import System

#: Which code is not executed now: none, that of archives, or all that a file names.
_unopened: ContextVar[str] = ContextVar("unopened", default="")


class UnopenedError(PluginError):
    """Code is not executed now."""


@contextmanager
def packed_code_unopened(*, all_code: bool = False) -> Iterator[None]:
    """Execute no Python file of an archive within: its components stay as they are declared.

    With ``all_code`` no ``FILE.py:CLASS`` and no ``MODULE:CLASS`` from anywhere.
    """
    token = _unopened.set("all" if all_code else "packed")
    try:
        yield
    finally:
        _unopened.reset(token)


def stays_unopened(source: Source) -> bool:
    """Whether a source is code, and such code is not executed now."""
    match _unopened.get():
        case "packed":
            return source.packed
        case "all":
            named = source.location.partition("?")[0]
            return ":" in named and source.kind in {SourceKind.BLOCK, SourceKind.DEVICE}
    return False


def expect_opened(source: Source) -> None:
    """Raise UnopenedError if a source is code that is not executed now."""
    if stays_unopened(source):
        raise UnopenedError(unopened_note(source))


def unopened_note(source: Source) -> str:
    """Say that code was not executed, and what does it."""
    where = " of the archive" if source.packed else ""
    return f"{source.short}{where} was not opened: it is code; softdock run opens it"


def unopened_notes(system: System) -> Mapping[str, str]:
    """Return a note for each component whose code stays unopened, by their paths."""
    notes = {
        name: unopened_note(component.source)
        for name, component in system.components.items()
        if stays_unopened(component.source)
    }
    for name, inner in system.systems.items():
        notes |= {f"{name}{SEPARATOR}{key}": note for key, note in unopened_notes(inner).items()}
    return notes
