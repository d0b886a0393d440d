"""The parameters that a run had, as rows for reports and files."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.core.system import Causality, System, Value


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """One parameter of a component; ``is_set`` if the experiment set it, else it is a default."""

    component: str
    name: str
    value: Value | None
    unit: str = ""
    description: str = ""
    is_set: bool = False


def parameters_of(system: System) -> tuple[ParameterRow, ...]:
    """List the parameters of a resolved system, and the inputs that are held at a value.

    A value counts as set if the system sets it, also to what the default is.
    """
    fed = {line.target for line in system.connections}
    fed_names = {(end.component, end.connector) for end in fed}
    rows = []
    for component in system.components.values():
        held = [
            c
            for c in component.of(Causality.INPUT)
            if c.name in component.values and (component.name, c.name) not in fed_names
        ]
        for connector in [*component.of(Causality.PARAMETER), *held]:
            is_input = connector.causality is Causality.INPUT
            about = connector.description
            rows.append(
                ParameterRow(
                    component.name,
                    connector.name,
                    component.values.get(connector.name, connector.start),
                    connector.unit or "",
                    f"{about} (input, held)".strip() if is_input else about,
                    connector.name in component.values,
                )
            )
    return tuple(rows)
