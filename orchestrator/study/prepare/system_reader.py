"""The systems of cases, each read and opened once however many cases run it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from orchestrator.author import read_system
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.simunits import resolve
from orchestrator.core.system import System
from orchestrator.study.file.experiment import Case


@dataclass(frozen=True, eq=False)
class ReadSystem:
    """A system before a case changes it.

    Parameters
    ----------
    written
        As its file has it.
    nested
        With what its sources say of it.
    flat
        The same without nested systems.
    """

    written: System
    nested: System
    flat: System

    @cached_property
    def written_flat(self) -> System | None:
        """As its file has it, without nested systems; ``None`` if that does not fit together."""
        try:
            return self.written.flat()
        except DescriptionError:
            return None


class SystemReader:
    """Reads the systems of cases.

    Parameters
    ----------
    folder
        What the paths of the cases are relative to.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[tuple[str, str | None], ReadSystem] = {}

    def read(self, case: Case) -> ReadSystem:
        """Return the system of a case."""
        key = case.system, case.variant
        if key not in self._read:
            written = read_system(self.folder / case.system, case.variant)
            nested = resolve(written)
            self._read[key] = ReadSystem(written, nested, nested.flat())
        return self._read[key]
