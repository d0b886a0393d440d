"""The FMUs inside of an exported system: what the engine must know to run them without Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from orchestrator.core.master import Schedule
from orchestrator.core.simunits import UnitDescription, open_description, read_fmu
from orchestrator.core.simunits.fmi.description_part import ModelDescription
from orchestrator.core.simunits.fmi.exchange_description import (
    ExchangeDescription,
    describe_exchange,
)
from orchestrator.core.simunits.fmi.fmi3_clocks import Timer
from orchestrator.core.simunits.fmi.fmu_description import FmuDescription
from orchestrator.core.simunits.fmi.model_exchange_unit import DEFAULT_TOLERANCE
from orchestrator.core.simunits.protocol.unit import signal_order, text_order
from orchestrator.core.system import Causality, Component, Value
from orchestrator.export.system.variable import TYPES, Port


@dataclass(frozen=True)
class InnerFmu:
    """One component, and the FMU that it is made from.

    Parameters
    ----------
    component
        Of the flat system.
    inputs, outputs
        Connectors that the schedule transfers, in its order; texts last.
    early_return
        Whether it may end a step before its end, at an event.
    """

    component: Component
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    early_return: bool

    @property
    def path(self) -> Path:
        """The FMU's archive."""
        return Path(self.component.source.location)

    @cached_property
    def fmu(self) -> FmuDescription:
        """What the archive says of itself, with the extents that the component's values give."""
        fmu = read_fmu(self.path, self.component.options.interface)
        return fmu.shaped(self.component.values)

    @cached_property
    def described(self) -> ModelDescription:
        """The model description as FMPy reads it."""
        return open_description(self.path)

    @property
    def description(self) -> UnitDescription:
        """Ports and capabilities."""
        return self.fmu.description

    @cached_property
    def folder(self) -> str:
        """Name of the folder of the resources that it lies in: equal FMUs share one."""
        return sha256(self.path.read_bytes()).hexdigest()[:16]

    @property
    def is_exchange(self) -> bool:
        """Whether the engine integrates it."""
        return self.fmu.interface == "ModelExchange"

    @cached_property
    def exchange(self) -> ExchangeDescription:
        """Its Model Exchange interface."""
        can = self.description.capabilities
        return describe_exchange(self.described, has_jacobian=can.has_directional_derivatives)

    @property
    def tolerance(self) -> float:
        """Relative tolerance of the integration."""
        given = self.component.options.tolerance
        return DEFAULT_TOLERANCE if given is None else given

    def port(self, name: str) -> Port:
        """Return one of its connectors as the engine transfers it."""
        variable = self.fmu.variables[name]
        return Port(
            name,
            TYPES[variable.type.upper()],
            variable.reference,
            self.description.connectors[name].size,
            variable.is_discrete,
            self.is_exchange and name in self.exchange.continuous,
            variable.clocks,
        )

    def ports(self, names: Sequence[str]) -> list[Port]:
        """Return connectors in the order in which the engine transfers them."""
        known = [self.description.connectors[name] for name in names]
        return [self.port(c.name) for c in (*signal_order(known), *text_order(known))]

    def timers(self) -> list[tuple[int, Timer]]:
        """Time-based clocks that no connection makes tick, with their value references."""
        if not self.description.capabilities.has_event_mode or self.is_exchange:
            return []
        variables = self.fmu.variables
        return [
            (variables[c.name].reference, timer)
            for c in self.description.of(Causality.INPUT)
            if c.name not in self.inputs and (timer := variables[c.name].timer) is not None
        ]

    def starts(self) -> list[tuple[Port, bool, tuple[Value, ...]]]:
        """Values that the system sets: port, whether it is structural, and its elements."""
        return [
            (self.port(name), self.fmu.variables[name].is_structural, elements(value))
            for name, value in self.component.values.items()
        ]

    def is_tunable(self, name: str) -> bool:
        """Whether a parameter may be set while the FMU runs."""
        return name in self._tunable

    @cached_property
    def _tunable(self) -> frozenset[str]:
        return frozenset(
            v.name for v in self.described.modelVariables if v.variability == "tunable"
        )


def elements(value: Value) -> tuple[Any, ...]:
    """Return the elements of a value, one for a scalar."""
    return value if isinstance(value, tuple) else (value,)


def inner_fmus(components: Sequence[Component], schedule: Schedule) -> list[InnerFmu]:
    """Return the inner FMUs in the order of the schedule's members."""
    members = {member.name: member for member in schedule.members}
    early = schedule.events is not None and schedule.events.early_return
    found = []
    for component in components:
        member = members[component.name]
        can = read_fmu(
            Path(component.source.location), component.options.interface
        ).description.capabilities
        found.append(
            InnerFmu(
                component,
                (*member.inputs, *member.text_inputs),
                (*member.outputs, *member.text_outputs),
                early and component.shares_events and can.might_return_early,
            )
        )
    return found
