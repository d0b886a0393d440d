"""Systems: components and connections as an immutable value, and as a few lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import DescriptionError, SoftdockError, UnknownNameError
from orchestrator.core.structs import Struct, field, replace
from orchestrator.core.system import building, checks, connecting, flatten, hierarchy, power_lines
from orchestrator.core.system.component import Bus, Component
from orchestrator.core.system.connection import Connection, Extrapolation
from orchestrator.core.system.experiment import DefaultExperiment, with_experiment
from orchestrator.core.system.naming import member_of
from orchestrator.core.system.ports import Connector, PowerPort, Value
from orchestrator.core.system.source import Backend, Source, SourceKind
from orchestrator.core.system.values import set_value, unset_value, value_at

if TYPE_CHECKING:
    import networkx as nx


#: So many of each sort are listed, and a line is so long.
_MOST, _WIDTH = 6, 100


def text_of(system: System) -> str:
    """Return what is in a system, in at most 23 lines of 100 characters."""
    lines = [f"System '{system.name}': {_counts(system)}"]
    if system.description:
        lines.append(f"  {system.description.splitlines()[0]}")
    parts = [f"  {name} ({c.source.short})" for name, c in system.components.items()]
    lines += _first(parts, "components")
    nested = [f"  {name}: {_counts(inner)}" for name, inner in system.systems.items()]
    lines += _first(nested, "nested systems")
    lines += _first([f"  {_line(line)}" for line in system.connections], "connections")
    return "\n".join(text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…" for text in lines)


def svg_of(system: System) -> str | None:
    """Return its block diagram, as of :func:`~orchestrator.draw_system`.

    ``None``: it cannot be drawn.
    """
    from orchestrator.core.upward import system_svg

    try:
        return system_svg(system)
    except SoftdockError:  # its text is shown
        return None


def _line(line: Connection) -> str:
    return f"{line} ({line.delay.nominal_ns / 1e6:g} ms)" if line.delay else str(line)


def _first(lines: list[str], plural: str) -> Iterator[str]:
    yield from lines[:_MOST]
    if len(lines) > _MOST:
        yield f"  and {len(lines) - _MOST} more {plural}"


def _counts(system: System) -> str:
    numbers = {
        "component": len(system.components),
        "nested system": len(system.systems),
        "connection": len(system.connections),
    }
    counts = [f"{n} {kind}{'s' if n > 1 else ''}" for kind, n in numbers.items() if n]
    return ", ".join(counts) or "empty"


class System(Struct, dict=True):
    """A graph of components and nested systems.

    A system is a value: every method returns a new one, so that variants are made by writing them
    down and never change each other. What is in a nested system is named by its path: the
    component ``"arm/motor"``, its parameter ``"arm/motor.k"``.

    Parameters
    ----------
    name
        Of the system.
    components, systems, buses
        What is in it, by name; a name is given once.
    connections
        Between connectors of what is in it, and the system's own.
    experiment
        How it wants to be run.
    description
        One line for people.
    connectors
        The system's own, as seen from outside: an input is a signal that goes in.
    values
        Start values of its own connectors.
    power_ports
        Those of its own connectors that are connected as one, by the name of the port.

    Examples
    --------
    ::

        system = (
            System("capture")
            .add("chaser", fmu("fmus/build/Chaser.fmu"), m=750.0, v0=0.0)
            .add("sheet", fmu("fmus/build/Compliance.fmu"), k=2510.0, latched=True)
            .connect("chaser.position", "sheet.position_a", delay="16 ms")
            .connect("sheet.force_a", "chaser.force")
        )
    """

    name: str
    components: Mapping[str, Component] = field(default_factory=dict)
    connections: tuple[Connection, ...] = ()
    experiment: DefaultExperiment = field(default_factory=DefaultExperiment)
    description: str = ""
    connectors: Mapping[str, Connector] = field(default_factory=dict)
    systems: Mapping[str, System] = field(default_factory=dict)
    buses: Mapping[str, Bus] = field(default_factory=dict)
    values: Mapping[str, Value] = field(default_factory=dict)
    power_ports: Mapping[str, PowerPort] = field(default_factory=dict)

    __repr__ = text_of
    _repr_svg_ = svg_of

    # What is done to a system stands in files of their own.
    nested = hierarchy.nested
    edit = hierarchy.edited
    component = hierarchy.component_at
    add = building.add
    remove = building.remove
    rename = building.rename
    move = building.move
    group = building.grouped
    merge = hierarchy.merge
    replace = building.put
    with_options = building.with_options
    with_experiment = with_experiment
    swap = hierarchy.swap
    expose = building.expose
    expose_power = building.expose_power
    withdraw = building.withdraw
    connect = connecting.connect
    disconnect = connecting.disconnect
    connect_power = power_lines.connect_power
    auto_connect = connecting.auto_connect
    with_delay = connecting.with_delay
    flat = flatten.flattened
    closed = flatten.closed
    set = set_value
    unset = unset_value
    value = value_at

    def with_backend(self, backend: Backend | str, *names: str) -> System:
        """Let another back-end run some FMUs, or all of them if no names are given.

        Parameters
        ----------
        backend
            ``"native"``, ``"fmpy"`` or ``"pyfmi"``.
        *names
            Components.

        Raises
        ------
        UnknownNameError
            If there is no such back-end or component.
        DescriptionError
            If a component is no FMU.
        """
        if backend not in set(Backend):
            names_known = ", ".join(Backend)
            raise UnknownNameError(f"back-end '{backend}': expected one of {names_known}")
        system = self
        for name in names or self.components:
            component = self.component(name)
            if component.source.kind is SourceKind.FMU:
                system = system.with_options(name, backend=str(backend))
            elif names:
                raise DescriptionError(
                    f"component '{name}' ({component.source}) is no FMU: it has no back-end"
                )
        return system

    def with_extrapolation(self, extrapolation: Extrapolation | str) -> System:
        """Let all connections without a delay predict what their targets see over a step.

        Those that say themselves how are left as they are.
        """
        word = member_of(Extrapolation, extrapolation, f"system '{self.name}': extrapolation")
        changed = (
            replace(c, extrapolation=word) if c.delay is None and c.extrapolation is None else c
            for c in self.connections
        )
        return replace(self, connections=tuple(changed))

    def without_zero_delays(self) -> System:
        """Turn delays of zero into plain connections, which no longer cut a loop.

        One that varies stays: its samples are late at times.
        """
        changed = (
            replace(c, delay=None, interpolation=None)
            if c.delay and not (c.delay.nominal_ns or c.delay.variation)
            else c
            for c in self.connections
        )
        return replace(self, connections=tuple(changed))

    @property
    def inside(self) -> Component:
        """The system's own connectors as a component that those inside are connected with."""
        connectors = flatten.seen_from_inside(self.connectors)
        return Component("system", Source(SourceKind.SYSTEM, self.name), connectors)

    @property
    def outside(self) -> Component:
        """The system as a component of another: nothing but its own connectors."""
        source = Source(SourceKind.SYSTEM, self.name)
        return Component(
            self.name or "system",
            source,
            self.connectors,
            values=self.values,
            power_ports=self.power_ports,
        )

    def _every(self) -> dict[str, Component]:
        """Components by name, and the system itself under no name."""
        return {**self.components, "": self.inside} if self.connectors else dict(self.components)

    def check(self, *, algebraic_loops: bool = False) -> System:
        """Raise all problems of the description together; return the system if there is none.

        Parameters
        ----------
        algebraic_loops
            Whether loops of direct feed-through that no delay cuts are allowed: an algorithm that
            iterates solves them.
        """
        problems = self.problems(algebraic_loops=algebraic_loops)
        if problems:
            raise DescriptionError.collect(problems)
        return self

    def problems(self, *, algebraic_loops: bool = False) -> list[DescriptionError]:
        """List all problems of the description; ``algebraic_loops`` as of :meth:`check`.

        Raises
        ------
        DescriptionError
            If the system cannot be made flat.
        """
        if self.systems or self.buses:
            return self.flat().problems(algebraic_loops=algebraic_loops)
        errors = checks.problems(self._every(), self.connections)
        return errors if algebraic_loops else [*errors, *self.algebraic_loops()]

    def algebraic_loops(self) -> list[DescriptionError]:
        """List the loops of direct feed-through that no delay cuts, of connections that exist."""
        valid = checks.resolvable_connections(self._every(), self.connections)
        return list(checks.algebraic_loops(self.components, valid))

    @cached_property
    def graph(self) -> nx.MultiDiGraph[str]:
        """The system as a networkx graph, frozen: see :func:`graph_of`."""
        from orchestrator.core.system.graph import graph_of

        return graph_of(self)

    @classmethod
    def from_graph(cls, graph: nx.MultiDiGraph[str] | nx.DiGraph[str]) -> System:
        """Make a system of a networkx graph: see :func:`system_of`."""
        from orchestrator.core.system.graph import system_of

        return system_of(graph, cls)
