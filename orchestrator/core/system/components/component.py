"""A component: a named box of the drawing, and where its behaviour comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system.components.component_options import ComponentOptions
from orchestrator.core.system.components.source import Backend, Source
from orchestrator.core.system.naming import lacking
from orchestrator.core.system.ports.connector import (
    Causality,
    Connector,
    DataType,
    Value,
    Variability,
)
from orchestrator.core.system.ports.plain_value import plain_value
from orchestrator.core.system.power.power_port import PowerPort

_USUAL = ComponentOptions()


@dataclass(frozen=True, slots=True)
class Component:
    """One node of the system graph.

    Parameters
    ----------
    name
        Unique within the system.
    source
        Where its behaviour comes from.
    connectors
        Ports and parameters by name.
    feedthrough
        For every output, the inputs that it depends on without a state in between. An output
        that is missing here depends on all inputs.
    values
        Parameter values, and start values of inputs, by connector name.
    has_states
        Whether an output may also depend on inputs through a state. Without one, an output that
        depends at once on some inputs depends on no other.
    input_order
        Highest derivative of its Real inputs that it takes within a step; 0: they are held.
    has_derivatives
        Whether it gives directional derivatives of its outputs.
    has_event_mode
        Whether its unit has an event mode that the engine can lead it through.
    options
        How the source is run, see :class:`ComponentOptions`.
    power_ports
        Connectors that are connected as one, by the name of the port.
    late_ns
        Nanoseconds by which outputs are late as those of a device, by name: see its twin.
    """

    name: str
    source: Source
    connectors: Mapping[str, Connector] = field(default_factory=dict)
    feedthrough: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    values: Mapping[str, Value] = field(default_factory=dict)
    has_states: bool = True
    input_order: int = 0
    has_derivatives: bool = False
    has_event_mode: bool = False
    options: ComponentOptions = _USUAL
    power_ports: Mapping[str, PowerPort] = field(default_factory=dict)
    late_ns: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.name or "." in self.name:
            raise DescriptionError(
                f"component '{self.name}': a name must not be empty or contain a dot,"
                " the dot separates component and connector"
            )

    @property
    def backend(self) -> Backend:
        """What runs it, if it is an FMU."""
        return Backend(self.options.backend)

    def of(self, causality: Causality) -> list[Connector]:
        """Return the connectors of one causality, in declared order."""
        return [c for c in self.connectors.values() if c.causality is causality]

    def connector(self, name: str) -> Connector:
        """Return a connector by name, or raise UnknownNameError that lists the valid names."""
        try:
            return self.connectors[name]
        except KeyError:
            holder = f"component '{self.name}' ({self.source})"
            raise lacking(holder, "connector", name, self.connectors) from None

    def frame_of(self, name: str) -> str | None:
        """Return the frame that a connector is given in: its own, or that of its power port."""
        if (own := self.connectors[name].frame) is not None:
            return own
        ports = (p.frame for p in self.power_ports.values() if name in p.connectors)
        return next((frame for frame in ports if frame is not None), None)

    def direct_inputs(self, output: str) -> tuple[str, ...]:
        """Inputs on which an output depends without a state in between."""
        found = self.feedthrough.get(output)
        return tuple(c.name for c in self.of(Causality.INPUT)) if found is None else found

    def passes(self, source: str, output: str) -> bool:
        """Whether an input acts on an output, at once or later."""
        direct = self.direct_inputs(output)
        return source in direct or self.has_states or not direct

    @property
    def shares_events(self) -> bool:
        """Whether it is led through event mode with others: in a process of its own it is not."""
        return self.has_event_mode and self.options.isolation != "process"

    def changes_at_events(self, name: str) -> bool:
        """Whether a connector is a clock or a discrete number of a unit with event mode."""
        connector = self.connectors[name]
        if not self.shares_events or connector.type.is_text:
            return False
        is_clock = connector.type is DataType.CLOCK
        return is_clock or connector.variability is not Variability.CONTINUOUS

    def with_power_port(
        self,
        name: str,
        effort: str | tuple[str, ...],
        flow: str | tuple[str, ...],
        *,
        displacement: str | tuple[str, ...] = (),
        frame: str | None = None,
        positive: str | None = None,
    ) -> Component:
        """Declare connectors that are connected as one; see :class:`PowerPort`.

        Raises
        ------
        DescriptionError
            If the component has no such connector, or the port is described wrongly.
        """
        port = PowerPort.of(
            name, effort, flow, displacement=displacement, frame=frame, positive=positive
        )
        for each in port.connectors:
            self.connector(each)
        return replace(self, power_ports={**self.power_ports, name: port})

    def with_values(self, values: Mapping[str, Value]) -> Component:
        """Return a copy with some values set: numbers, lists, arrays, or items by name."""
        given = {n: plain_value(v, self.connectors.get(n)) for n, v in values.items()}
        return replace(self, values={**self.values, **given})
