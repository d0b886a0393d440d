"""What stands outside a system that is linearised: a source at each input that nothing feeds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from orchestrator.core.simunits import Block, Output, Parameter, State, block
from orchestrator.core.system import Causality, DataType, System


class Held(Block):
    """A number that stays what it is."""

    begin: float = Parameter(start=0.0)
    y: float = Output(depends_on=())
    value: float = State(start=0.0)

    def initialise(self, t: float) -> None:
        """Begin with the parameter."""
        self.value = self.y = self.begin

    def step(self, t: float, h: float) -> None:
        """Give it out."""
        self.y = self.value


def free_inputs(system: System) -> list[str]:
    """Name the Real scalar inputs that nothing is connected to."""
    fed = {str(line.target) for line in system.connections}
    return [
        f"{name}.{connector.name}"
        for name, component in system.components.items()
        for connector in component.connectors.values()
        if connector.causality is Causality.INPUT
        and connector.type is DataType.REAL
        and not connector.shape
        and f"{name}.{connector.name}" not in fed
    ]


def source_of(name: str) -> str:
    """Name the source at an input."""
    return f"into {name.replace('.', ' ')}"


def with_sources(system: System, inputs: Iterable[str]) -> System:
    """Connect a source to inputs that nothing is connected to; it holds what they are held at."""
    for name in inputs:
        owner, _, connector = name.partition(".")
        component = system.components[owner]
        begin = float(np.ravel(component.values.get(connector, 0.0))[0])
        rest = {key: value for key, value in component.values.items() if key != connector}
        components = {**system.components, owner: replace(component, values=rest)}
        system = replace(system, components=components)
        system = system.add(source_of(name), block(Held), begin=begin)
        system = system.connect(f"{source_of(name)}.y", name)
    return system
