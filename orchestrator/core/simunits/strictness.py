"""Flaws of the FMUs of a system: told, or refused where that is wanted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from orchestrator.core.diagnostics import FmuError
from orchestrator.core.simunits.fmi.fmu_description import flaws_of
from orchestrator.core.system import SEPARATOR, SourceKind, System

#: So many flaws of one FMU are told.
_MOST_TOLD = 5


def flaw_notes(system: System) -> list[str]:
    """Say of every FMU file of a system once how its model description breaks rules of FMI."""
    return [
        f"component '{name}' ({path.name}): its modelDescription.xml breaks rules of FMI, and is"
        f" used all the same: {_cut(flaws)}"
        for name, path, flaws in _flawed(system)
    ]


def expect_flawless(*systems: System) -> None:
    """Refuse FMUs whose model descriptions break rules of FMI, whether it does harm or not.

    Raises
    ------
    FmuError
        All of them together.
    """
    wrong = [
        f"component '{name}': {path}: modelDescription.xml breaks rules of FMI (refused since it"
        f" is to be strict): {'; '.join(flaws)}"
        for system in systems
        for name, path, flaws in _flawed(system)
    ]
    if wrong:
        raise FmuError("\n".join(dict.fromkeys(wrong)))


def _cut(flaws: tuple[str, ...]) -> str:
    more = f"; and {len(flaws) - _MOST_TOLD} more" if len(flaws) > _MOST_TOLD else ""
    return "; ".join(flaws[:_MOST_TOLD]) + more


def _flawed(system: System) -> Iterator[tuple[str, Path, tuple[str, ...]]]:
    """Paths of components, their FMUs and the flaws of these; each file once."""
    seen: set[Path] = set()
    for name, path in _fmus(system):
        if path in seen:
            continue
        seen.add(path)
        if flaws := flaws_of(path):
            yield name, path, flaws


def _fmus(system: System) -> Iterator[tuple[str, Path]]:
    for name, component in system.components.items():
        if component.source.kind is SourceKind.FMU:
            yield name, Path(component.source.location)
    for key, inner in system.systems.items():
        yield from ((f"{key}{SEPARATOR}{name}", path) for name, path in _fmus(inner))
