"""The connectors of a component that a file of SSP 1.0 declares."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.system import Causality, System

_DECLARED = {Causality.INPUT, Causality.OUTPUT, Causality.PARAMETER}


def without_locals(system: System) -> System:
    """Leave out what a component shows but nobody connects or sets: locals and calculated values.

    A source says what it has itself; a file that is read again does not need it.
    """
    components = {
        name: replace(
            component,
            connectors={
                key: connector
                for key, connector in component.connectors.items()
                if connector.causality in _DECLARED
            },
        )
        for name, component in system.components.items()
    }
    return replace(system, components=components)
