"""What is checked: a system with the sources of its components opened, and how it is to run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from orchestrator.core.coupling import DEFAULT_DELAY, DelayMode
from orchestrator.core.master import DEFAULT_ALGORITHM
from orchestrator.core.system import SEPARATOR, Component, System


@dataclass(frozen=True, slots=True)
class Run:
    """How a system is to be run; times in nanoseconds, ``None`` where nothing says them."""

    algorithm: str = DEFAULT_ALGORITHM
    options: Mapping[str, Any] = field(default_factory=dict)
    rates: Mapping[str, int] = field(default_factory=dict)
    mode: DelayMode = DEFAULT_DELAY
    start_ns: int = 0
    stop_ns: int | None = None
    step_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Level:
    """One system of a hierarchy, and the path to it; empty for the top."""

    path: str
    system: System

    def at(self, name: str) -> str:
        """Return the path of what is in it."""
        return f"{self.path}{SEPARATOR}{name}" if self.path else name


@dataclass(frozen=True, slots=True)
class CheckContext:
    """A system under check.

    Parameters
    ----------
    system
        As declared, with the connectors of all sources that could be opened.
    run
        How it is to be run.
    unknown
        Paths of components whose connectors are not known: the source could not be opened.
    flat
        Without nested systems and connectors of its own; ``None`` if that cannot be made.
    """

    system: System
    run: Run
    unknown: frozenset[str] = frozenset()
    flat: System | None = None

    def levels(self) -> Iterator[Level]:
        """Return the system and all nested ones, from the outside to the inside."""
        yield from _levels(self.system, "")

    def components(self) -> Iterator[tuple[str, Component]]:
        """Return all components by path."""
        for level in self.levels():
            for name, component in level.system.components.items():
                yield level.at(name), component

    @property
    def is_known(self) -> bool:
        """Whether all sources could be opened."""
        return not self.unknown


def _levels(system: System, path: str) -> Iterator[Level]:
    level = Level(path, system)
    yield level
    for name, inner in system.systems.items():
        yield from _levels(inner, level.at(name))


def without_ends(system: System) -> System:
    """Return a flat system without its own connectors and what is connected to them."""
    between = (c for c in system.connections if c.source.component and c.target.component)
    return replace(system, connectors={}, values={}, connections=tuple(between))
