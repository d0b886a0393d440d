"""What the systems of this folder are made of: sample blocks of tests/fixtures, small FMUs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from orchestrator.checks.context import IntendedRun
from orchestrator.core.simunits import block
from orchestrator.core.system import (
    Causality,
    Component,
    ComponentOptions,
    Connection,
    Connector,
    DataType,
    Endpoint,
    Enumeration,
    Source,
    SourceKind,
    System,
)

MS = 1_000_000


@dataclass(frozen=True)
class Forge:
    """Makes FMUs: the probe of FMI 2.0 when called, one of tests/fixtures/c_fmus by ``c``."""

    probe: Callable[..., Path]
    c: Callable[..., Path]

    def __call__(self, *arguments: object, **options: object) -> Path:
        return self.probe(*arguments, **options)


Make = Callable[[Forge], System]


@dataclass(frozen=True)
class Case:
    """One code: a system that has it and one that has not, made with a forge."""

    bad: Make
    good: Make
    run: IntendedRun = field(default_factory=lambda: IntendedRun(step_ns=MS, stop_ns=10 * MS))
    good_run: IntendedRun | None = None


def run(**changes: object) -> IntendedRun:
    return replace(IntendedRun(step_ns=MS, stop_ns=10 * MS), **changes)


def line(source: str, target: str, **changes: object) -> Connection:
    return replace(Connection(Endpoint.of_line(source), Endpoint.of_line(target)), **changes)


def with_lines(system: System, *lines: Connection) -> System:
    return replace(system, connections=(*system.connections, *lines))


def pair(*, delay: str | None = None, **values: float) -> System:
    """A source that feeds a gain."""
    system = System("pair").add("source", block("source")).add("gain", block("gain"), **values)
    return system.connect("source.y", "gain.u", delay=delay)


def ring(first: str = "lag", second: str = "gain", delay: str | None = None) -> System:
    system = System("ring").add("a", block(first)).add("b", block(second))
    return system.connect("a.y", "b.u", delay=delay).connect("b.y", "a.u")


def declared(name: str, *connectors: Connector, source: Source | None = None) -> Component:
    known = {connector.name: connector for connector in connectors}
    return Component(name, source or Source(SourceKind.BLOCK, name), known)


def fmu(path: Path | str, *connectors: Connector, **options: object) -> Component:
    found = declared("fmu", *connectors, source=Source(SourceKind.FMU, str(path)))
    return replace(found, options=ComponentOptions(**options))


def probe(make: Forge, **values: object) -> System:
    """The probe with values for all its inputs."""
    held = {"u": 0.0, "n": 0, "flag": False}
    return System("probe").add("probe", fmu(make()), **{**held, **values})


def changed(make: Forge, old: str, new: str, **values: object) -> System:
    """The probe with another model description."""

    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    held = {"u": 0.0, "n": 0, "flag": False}
    return System("probe").add("probe", fmu(make(change)), **{**held, **values})


def around(inner: System, name: str = "inner") -> System:
    return System("outer", systems={name: inner})


def owning(system: System, *connectors: Connector) -> System:
    return replace(system, connectors={c.name: c for c in connectors})


def enumerated(name: str, causality: Causality, *items: str) -> Connector:
    numbers = Enumeration(f"of_{'_'.join(items)}", {item: i for i, item in enumerate(items)})
    return Connector(name, causality, DataType.INTEGER, enumeration=numbers)


def counting(make: Forge, attribute: str, **options: object) -> System:
    """An FMU of FMI 3.0 with event mode."""
    path = make.c(
        "counter3", lambda text: text.replace("<CoSimulation ", f"<CoSimulation {attribute} ")
    )
    return System("s").add("counter", fmu(path, **options), value=0)
