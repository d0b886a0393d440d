"""The place of every signal in the engine's buffer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Final

from orchestrator.core.master.algorithms.plan import Plan
from orchestrator.core.master.schedule.schedule import Member
from orchestrator.core.simunits.protocol.unit import signal_order, text_order
from orchestrator.core.system import Causality, Connector, Endpoint, System

_NONE: Final[AbstractSet[str]] = frozenset()


def _by_component(ends: Iterable[Endpoint]) -> dict[str, AbstractSet[str]]:
    """Names of connectors by the component that has them."""
    found: dict[str, set[str]] = {}
    for end in ends:
        found.setdefault(end.component, set()).add(end.connector)
    return dict(found)


class Buffer:
    """Gives every bound connector its place in the buffer of signals, or of texts.

    Parameters
    ----------
    system, plan
        Whose components, in which order.
    rates
        Communication steps that one step of a component takes, where it is not 1.
    recorded
        Variables to keep although nothing is connected to them (``component.connector``).
    """

    def __init__(
        self,
        system: System,
        plan: Plan,
        rates: Mapping[str, int],
        recorded: Collection[str],
    ) -> None:
        self.size = 0
        self.text_size = 0
        self.text_slots: dict[str, tuple[int, int]] = {}
        self.members: list[Member] = []
        self.slots: dict[str, tuple[int, int]] = {}
        fed = _by_component(line.target for line in system.connections)
        wanted = [Endpoint.parse(name) for name in recorded]
        used = _by_component(chain((line.source for line in system.connections), wanted))
        recorded_of = _by_component(wanted)
        for name in (name for group in plan.groups for name in group.members):
            component = system.components[name]
            fed_here, used_here = fed.get(name, _NONE), used.get(name, _NONE)
            read = recorded_of.get(name, _NONE) - fed_here
            bound_in = [c for c in component.of(Causality.INPUT) if c.name in fed_here]
            bound_out = [c for c in component.of(Causality.OUTPUT) if c.name in used_here]
            bound_out += [  # whatever else is recorded is read as outputs are
                c
                for c in component.connectors.values()
                if c.name in read and c.causality is not Causality.OUTPUT
            ]
            inputs, outputs = signal_order(bound_in), signal_order(bound_out)
            text_inputs, text_outputs = text_order(bound_in), text_order(bound_out)
            first_input = self._allot(name, inputs)
            first_output = self._allot(name, outputs)
            first_text_input = self._allot_texts(name, text_inputs)
            first_text_output = self._allot_texts(name, text_outputs)
            self.members.append(
                Member(
                    name,
                    tuple(c.name for c in inputs),
                    tuple(c.name for c in outputs),
                    first_input,
                    first_output,
                    first_output - first_input,
                    self.size - first_output,
                    rates.get(name, 1),
                    tuple(c.name for c in text_inputs),
                    tuple(c.name for c in text_outputs),
                    first_text_input,
                    first_text_output,
                    self.text_size,
                )
            )

    def _allot(self, component: str, connectors: Iterable[Connector]) -> int:
        first = self.size
        for connector in connectors:
            self.slots[f"{component}.{connector.name}"] = self.size, connector.size
            self.size += connector.size
        return first

    def _allot_texts(self, component: str, connectors: Iterable[Connector]) -> int:
        first = self.text_size
        for connector in connectors:
            self.text_slots[f"{component}.{connector.name}"] = self.text_size, connector.size
            self.text_size += connector.size
        return first
