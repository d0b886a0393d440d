"""Python blocks of archives, whose code stays unopened while a system is only looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from orchestrator.system.components.source import Source
from orchestrator.system.naming import SEPARATOR
from orchestrator.system.system import System

_unopened: ContextVar[bool] = ContextVar("unopened", default=False)


@contextmanager
def packed_code_unopened() -> Iterator[None]:
    """Execute no Python file of an archive within: its components stay as they are declared."""
    token = _unopened.set(True)
    try:
        yield
    finally:
        _unopened.reset(token)


def stays_unopened(source: Source) -> bool:
    """Whether a source is code of an archive, and such code is not executed now."""
    return source.packed and _unopened.get()


def unopened_note(source: Source) -> str:
    """Say that code of an archive was not executed, and what does it."""
    return f"{source.short} of the archive was not opened: it is code; softdock run opens it"


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
