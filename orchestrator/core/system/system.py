"""Systems: components and connections as an immutable value."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError
from orchestrator.core.structs import Struct, field, replace
from orchestrator.core.system import (
    building,
    checks,
    connecting,
    flatten,
    hierarchy,
    power_lines,
)
from orchestrator.core.system import (
    experiment as experiments,
)
from orchestrator.core.system import (
    values as start_values,
)
from orchestrator.core.system.component import Bus, Component
from orchestrator.core.system.connection import Connection, Extrapolation
from orchestrator.core.system.experiment import DefaultExperiment
from orchestrator.core.system.naming import member_of
from orchestrator.core.system.ports import Connector, PowerPort, Value
from orchestrator.core.system.source import Backend, Source, SourceKind
from orchestrator.core.system.system_text import svg_of, text_of

if TYPE_CHECKING:
    import networkx as nx

    from orchestrator.core.system.connecting import AutoConnection
    from orchestrator.core.system.delay import TransportDelay
    from orchestrator.core.system.line_attributes import LineSettings


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
        Default settings of a run.
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

    def __repr__(self) -> str:
        return text_of(self)

    def _repr_svg_(self) -> str | None:
        return svg_of(self)

    def nested(self, path: str) -> System:
        """Return a nested system by its path; ``""`` is the system itself."""
        return hierarchy.nested(self, path)

    def edit(self, path: str, change: Callable[[System], System]) -> System:
        """Return the system with a nested one changed."""
        return hierarchy.edited(self, path, change)

    def component(self, path: str) -> Component:
        """Return the component that a path names, or raise UnknownNameError."""
        return hierarchy.component_at(self, path)

    def add(self, name: str, part: Component | System, /, **values: Value) -> System:
        """Add a component or a nested system, with values of its parameters and inputs."""
        return building.add(self, name, part, **values)

    def remove(self, path: str) -> System:
        """Take away a component, nested system or bus, with its connections."""
        return building.remove(self, path)

    def rename(self, path: str, name: str) -> System:
        """Give a component, nested system or bus another name; its connections stay."""
        return building.rename(self, path, name)

    def move(self, path: str, into: str) -> System:
        """Put a component or nested system, which nothing is connected with, into another system.

        ``into`` is the path of a nested system; ``""`` is this one.
        """
        return building.move(self, path, into)

    def group(self, name: str, members: Collection[str]) -> System:
        """Move components and nested systems into a new nested system.

        Connections between them move too; one that crosses the border is led through a connector of
        the new system, which has the name ``component.connector`` of the end inside, with its type
        and unit. What stands on it (delay, transformation) stays outside. :meth:`System.flat` gives
        the same connections as before.
        """
        return building.grouped(self, name, members)

    def merge(self, added: System) -> System:
        """Put all that is in another system into this one, connectors of its own as well.

        What both have must be equal. The default experiment is this system's, if it has one.
        """
        return hierarchy.merge(self, added)

    def replace(self, component: Component, path: str | None = None) -> System:
        """Put another component in the place of the one of the same name, or of a path."""
        return building.put(self, component, path)

    def with_options(self, path: str, **changes: object) -> System:
        """Change how a component is run: ``system.with_options("arm", interface="me")``."""
        return building.with_options(self, path, **changes)

    def with_experiment(self, **changes: Any) -> System:
        """Change the default experiment: ``system.with_experiment(stop="10 s", step="1 ms")``.

        Parameters
        ----------
        **changes
            ``start``, ``stop`` and ``step``, in seconds or as text; ``algorithm``,
            ``algorithm_options``, ``rates`` and ``early_return`` as of :class:`DefaultExperiment`;
            ``tuning``, pairs of least and most by name, of delays seconds or text.
            ``None``: it is not said any more. Options belong to an algorithm: with another one they
            are left out unless they are given, too.

        Raises
        ------
        DescriptionError
            If there is no such setting, or the times hold no step.
        """
        return experiments.with_experiment(self, **changes)

    def swap(self, path: str, component: Component) -> System:
        """Put another component in the place of one that has the same ports.

        Every connected port and every value that is set must exist on the new one with the same
        causality, type and shape, and a unit that converts; values are carried over in its unit.
        Frames must be the same where both sides say one. Values of parameters belong to what is
        simulated: a device and a recording go without.
        """
        return hierarchy.swap(self, path, component)

    def expose(
        self,
        name: str,
        to: str | Iterable[str],
        *,
        value: Value | None = None,
        description: str | None = None,
        unit: str | None = None,
    ) -> System:
        """Give the system a connector of its own that leads to one or more of what is in it.

        Causality, type, shape and unit are those of the first that it leads to. Values that these
        have become the value of the new connector, so that what is outside decides.

        Parameters
        ----------
        name
            Of the new connector.
        to
            ``"component.connector"``, or several of inputs or of parameters.
        value
            While nothing outside feeds it.
        description
            Default: that of the first.
        unit
            Unit of the new connector and of ``value``; default: that of the first. Values are
            converted on the way.

        Raises
        ------
        DescriptionError
            If a target does not exist, or they differ in causality, type, shape or dimension; if
            the unit is none, or of another dimension.
        """
        return building.expose(self, name, to, value=value, description=description, unit=unit)

    def expose_power(self, name: str, to: str) -> System:
        """Give the system a power port of its own that leads to one of what is in it.

        Its connectors are called by its name and theirs: ``"tip_force"`` of the port ``"tip"``.
        """
        return building.expose_power(self, name, to)

    def withdraw(self, name: str) -> System:
        """Take away a connector of the system's own, with its connections."""
        return building.withdraw(self, name)

    def connect(self, source: str, target: str, **settings: Unpack[LineSettings]) -> System:
        """Connect an output to an input.

        Parameters
        ----------
        source, target
            ``"component.connector"``, or the name of a connector of the system itself.
        delay
            Transport delay: seconds, text such as ``"16 ms"``, or a TransportDelay.
        factor, offset
            Linear transformation of the signal, after the unit conversion.
        mapping
            Table from values of the source to those of the target, in place of the two.
        interpolation, extrapolation
            Between and after the samples: see :class:`Connection`.
        suppress_unit_conversion
            Skip unit checks and conversion.
        compensation
            How a line without a delay makes up for what holding its signal did: see
            :class:`Compensation`.

        Raises
        ------
        DescriptionError
            If an end is malformed, the delay is negative, or the ways to interpolate and
            extrapolate do not exist or fit; names are checked by :meth:`check`.
        """
        return connecting.connect(self, source, target, **settings)

    def disconnect(self, source: str, target: str | None = None) -> System:
        """Take away a connection; without a target, all of a connector or of a component."""
        return connecting.disconnect(self, source, target)

    def connect_power(
        self,
        first: str,
        second: str,
        *,
        delay: TransportDelay | str | float | None = None,
        effort_delay: TransportDelay | str | float | None = None,
        flow_delay: TransportDelay | str | float | None = None,
    ) -> System:
        """Connect two power ports: the effort one way, the flow and what goes along the other way.

        A wrench and a twist of six elements each have several units, so that these may be left out.
        The connectors determine the direction: the port that takes the effort gives the flow. If
        the power of both counts into their components, or of both out of them, the effort changes
        its sign on the way, so that one component gets the power that the other gives.

        Parameters
        ----------
        first, second
            ``"component.port"``: see :func:`power_ports` for undeclared ones.
        delay
            Of all lines; see :meth:`connect`.
        effort_delay, flow_delay
            In place of it, of the lines of the efforts, and of those of the flows and
            displacements.

        Raises
        ------
        DescriptionError
            If there is no such port, both give or both take the effort, shapes differ, effort times
            flow is no power, units do not convert, or the frames are not the same.
        """
        return power_lines.connect_power(
            self, first, second, delay=delay, effort_delay=effort_delay, flow_delay=flow_delay
        )

    def auto_connect(self, *names: str) -> AutoConnection:
        """Find what can be connected without a guess.

        An open input takes an output of another component that has the same type and shape and a
        unit of the same dimension. Outputs of the same name come first, in upper or lower case,
        with or without underscores; without one, both units must be declared. An input is connected
        if one output is left, and if, without a common name, no other input asks for that one. All
        else is reported.
        """
        return connecting.auto_connect(self, *names)

    def with_delay(
        self, source: str, target: str, delay: TransportDelay | str | float | None
    ) -> System:
        """Set or remove the delay of an existing connection."""
        return connecting.with_delay(self, source, target, delay)

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
        return flatten.flattened(self)

    def closed(self) -> System:
        """Return a flat system without connectors of its own.

        Its own inputs and parameters become values of what they feed; its own outputs are the
        outputs that feed them.

        Raises
        ------
        DescriptionError
            If one of its own inputs has no value.
        """
        return flatten.closed(self)

    def set(self, path: str, value: Value) -> System:
        """Set a parameter or an input's start value: ``system.set("chaser.m", 750.0)``.

        ``"arm.force"`` and ``"force"`` are connectors of a nested system and of this one. A
        component that declares no connectors has those of its source later: any value is taken for
        now.
        """
        return start_values.set_value(self, path, value)

    def unset(self, path: str) -> System:
        """Take away a value that was set, so that the source's own holds."""
        return start_values.unset_value(self, path)

    def value(self, path: str) -> Value:
        """Return a parameter's or held input's value: the one that was set, else its default."""
        return start_values.value_at(self, path)

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
                    f"component '{name}' ({component.source}) is not an FMU, so it has no back-end"
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
        source = Source(SourceKind.SYSTEM, self.name)
        return Component("system", source, connectors, power_ports=self.power_ports)

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
