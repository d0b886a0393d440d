"""Merge two systems into one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system.experiment import DefaultExperiment
from orchestrator.core.system.nesting.hierarchy import elements

if TYPE_CHECKING:
    from orchestrator.core.system.system import System

_KINDS = ("components", "systems", "buses", "connectors", "values", "power_ports")


def merge(system: System, other: System) -> System:
    """Put all that is in another system into this one, connectors of its own as well.

    What both have must be equal. The default experiment is this system's, if it has one.
    """
    clashes = []
    for kind in _KINDS:
        mine, theirs = getattr(system, kind), getattr(other, kind)
        clashes += [name for name in theirs if name in mine and mine[name] != theirs[name]]
    mine, theirs = elements(system), elements(other)
    clashes += [
        name for name in theirs if name in mine and type(mine[name]) is not type(theirs[name])
    ]
    if clashes:
        raise DescriptionError(
            *(
                f"cannot merge '{other.name}' into '{system.name}': both have '{name}', and they"
                " differ; rename one, or remove it"
                for name in dict.fromkeys(clashes)
            )
        )
    lines = [*system.connections, *(c for c in other.connections if c not in system.connections)]
    experiment = system.experiment
    return replace(
        system,
        components={**system.components, **other.components},
        systems={**system.systems, **other.systems},
        buses={**system.buses, **other.buses},
        connectors={**system.connectors, **other.connectors},
        values={**system.values, **other.values},
        power_ports={**system.power_ports, **other.power_ports},
        connections=tuple(lines),
        experiment=other.experiment if experiment == DefaultExperiment() else experiment,
    )
