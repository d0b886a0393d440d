"""A system: components and connections as an immutable value, and as a networkx graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import networkx as nx

from orchestrator.errors import DescriptionError, UnknownNameError
from orchestrator.system import checks
from orchestrator.system.bus import Bus
from orchestrator.system.component import Backend, Component, Source, SourceKind
from orchestrator.system.connection import (
    Connection,
    Endpoint,
    Extrapolation,
    Interpolation,
)
from orchestrator.system.connector import Connector, Value
from orchestrator.system.delay import TransportDelay
from orchestrator.system.experiment import DefaultExperiment
from orchestrator.system.flatten import closed, flattened, seen_from_inside
from orchestrator.system.graph import graph_of, parts_of
from orchestrator.system.problem import Problem, errors_of
from orchestrator.system.time import nanoseconds
from orchestrator.system.transformation import LinearTransformation


def _ways(
    where: str, interpolation: str | None, extrapolation: str | None
) -> tuple[Interpolation | None, Extrapolation | None]:
    if interpolation is not None and interpolation not in set(Interpolation):
        raise DescriptionError(
            f"{where}: interpolation: expected one of {', '.join(Interpolation)},"
            f" found '{interpolation}'"
        )
    if extrapolation is not None and extrapolation not in set(Extrapolation):
        raise DescriptionError(
            f"{where}: extrapolation: expected one of {', '.join(Extrapolation)},"
            f" found '{extrapolation}'"
        )
    return (
        None if interpolation is None else Interpolation(interpolation),
        None if extrapolation is None else Extrapolation(extrapolation),
    )


@dataclass(frozen=True)
class System:
    """A graph of components and nested systems.

    A system is a value: every method returns a new one, so that variants are made by writing them
    down and never change each other.

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

    def add(self, name: str, component: Component, /, **values: Value) -> System:
        """Add a component under a name, with parameter values and input start values."""
        if name in self.components:
            raise DescriptionError(f"system '{self.name}' already has a component '{name}'")
        if not isinstance(component, Component):
            raise DescriptionError(
                f"component '{name}': expected what fmu(path) or block(name) returns,"
                f" found {component!r}"
            )
        named = replace(component, name=name).with_values(values)
        return replace(self, components={**self.components, name: named})

    def connect(
        self,
        source: str,
        target: str,
        *,
        delay: TransportDelay | str | float | None = None,
        factor: float = 1.0,
        offset: float = 0.0,
        interpolation: Interpolation | str | None = None,
        extrapolation: Extrapolation | str | None = None,
    ) -> System:
        """Connect an output to an input.

        Parameters
        ----------
        source, target
            ``"component.connector"``, or the name of a connector of the system itself.
        delay
            Transport delay: seconds, text such as ``"16 ms"``, or a TransportDelay.
        factor, offset
            Linear transformation of the signal, after the unit conversion.
        interpolation, extrapolation
            Between and after the samples: see :class:`Connection`.

        Raises
        ------
        DescriptionError
            If an end is malformed, the delay is negative, or the ways to interpolate and
            extrapolate do not exist or fit; names are checked by :meth:`check`.
        """
        if delay is not None and not isinstance(delay, TransportDelay):
            try:
                delay = TransportDelay(nanoseconds(delay, "delay"))
            except DescriptionError as error:
                raise DescriptionError(f"connection {source} -> {target}: {error}") from None
        linear = LinearTransformation(factor, offset) if (factor, offset) != (1.0, 0.0) else None
        line = Connection(
            Endpoint.of_line(source),
            Endpoint.of_line(target),
            delay,
            linear,
            *_ways(f"connection {source} -> {target}", interpolation, extrapolation),
        )
        return replace(self, connections=(*self.connections, line))

    def component(self, name: str) -> Component:
        """Return a component by name, or raise UnknownNameError that lists the valid names."""
        try:
            return self.components[name]
        except KeyError:
            known = ", ".join(self.components) or "none"
            raise UnknownNameError(
                f"system '{self.name}' has no component '{name}'; it has: {known}"
            ) from None

    def set(self, path: str, value: Value) -> System:
        """Set a parameter or an input's start value: ``system.set("chaser.m", 750.0)``."""
        end = Endpoint.parse(path)
        component = self.component(end.component)
        connector = component.connector(end.connector)
        if not connector.accepts(value):
            raise DescriptionError(
                f"{path}: expected {checks.expected_value(connector)}, found {value!r}"
            )
        return self.replace(component.with_values({end.connector: value}))

    def value(self, path: str) -> Value:
        """Return a parameter's or held input's value: the one that was set, else its default.

        Raises
        ------
        UnknownNameError
            If there is none of that name.
        DescriptionError
            If neither the system nor the source gives it a value.
        """
        end = Endpoint.parse(path)
        component = self.component(end.component)
        connector = component.connector(end.connector)
        value = component.values.get(end.connector, connector.start)
        if value is None:
            raise DescriptionError(f"{path}: has no value; set one")
        return value

    def with_options(self, name: str, **changes: object) -> System:
        """Change how a component is run: ``system.with_options("arm", interface="me")``.

        Raises
        ------
        DescriptionError
            If there is no such component or option, or a value does not fit.
        """
        component = self.component(name)
        try:
            options = component.options.changed(changes)
        except DescriptionError as error:
            told = (f"component '{name}': {text}" for text in error.problems)
            raise type(error)(*told) from None
        return self.replace(replace(component, options=options))

    def replace(self, component: Component) -> System:
        """Put another component in the place of the one of the same name."""
        self.component(component.name)
        return replace(self, components={**self.components, component.name: component})

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
            known = ", ".join(Backend)
            raise UnknownNameError(f"back-end '{backend}': expected one of {known}")
        changed = dict(self.components)
        for name in names or self.components:
            component = self.component(name)
            if component.source.kind is SourceKind.FMU:
                options = component.options.changed({"backend": str(backend)})
                changed[name] = replace(component, options=options)
            elif names:
                raise DescriptionError(
                    f"component '{name}' ({component.source}) is no FMU: it has no back-end"
                )
        return replace(self, components=changed)

    def with_delay(
        self, source: str, target: str, delay: TransportDelay | str | float | None
    ) -> System:
        """Set or remove the delay of an existing connection."""
        ends = (Endpoint.of_line(source), Endpoint.of_line(target))
        if all((c.source, c.target) != ends for c in self.connections):
            known = "; ".join(map(str, self.connections)) or "none"
            raise UnknownNameError(
                f"system '{self.name}' has no connection {source} -> {target}; it has: {known}"
            )
        if delay is not None and not isinstance(delay, TransportDelay):
            delay = TransportDelay.of(delay)
        changed = (
            replace(c, delay=delay) if (c.source, c.target) == ends else c for c in self.connections
        )
        return replace(self, connections=tuple(changed))

    def with_extrapolation(self, extrapolation: Extrapolation | str) -> System:
        """Let all connections without a delay predict what their targets see over a step.

        Those that say themselves how are left as they are.
        """
        _, way = _ways(f"system '{self.name}'", None, extrapolation)
        changed = (
            replace(c, extrapolation=way) if c.delay is None and c.extrapolation is None else c
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

    def flat(self) -> System:
        """Return the system without nested systems and buses.

        A component of a nested system is then called by its path, ``"arm/motor"``. Connections that
        pass connectors of systems become one, with conversions and transformations composed and
        delays added; a value that holds at a connector of a system that nothing feeds is that of
        the inputs and parameters behind it. The system's own connectors stay.

        Raises
        ------
        DescriptionError
            If a connector on the way has two sources, or connections in a row do not compose.
        """
        return flattened(self)

    def closed(self) -> System:
        """Return a flat system without connectors of its own.

        Its own inputs and parameters become values of what they feed; its own outputs are the
        outputs that feed them.

        Raises
        ------
        DescriptionError
            If one of its own inputs has no value.
        """
        return closed(self)

    @property
    def inside(self) -> Component:
        """The system's own connectors as a component that those inside are connected with."""
        own = seen_from_inside(self.connectors)
        return Component(self.name or "system", Source(SourceKind.SYSTEM, self.name), own)

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
        if self.systems or self.buses:
            self.flat().check(algebraic_loops=algebraic_loops)
            return self
        problems = checks.problems(self._every(), self.connections)
        if not algebraic_loops:
            problems += self.algebraic_loops()
        if problems:
            raise DescriptionError.collect(errors_of(problems))
        return self

    def algebraic_loops(self) -> list[Problem]:
        """List the loops of direct feed-through that no delay cuts, of connections that exist."""
        sound = checks.sound(self._every(), self.connections)
        return list(checks.algebraic_loops(self.components, sound))

    @cached_property
    def graph(self) -> nx.MultiDiGraph[str]:
        """The system as a networkx graph, frozen: see :func:`graph_of`."""
        return graph_of(self)

    @classmethod
    def from_graph(cls, graph: nx.MultiDiGraph[str]) -> System:
        """Make a system of a networkx graph: see :func:`parts_of`."""
        return cls(**parts_of(graph))
