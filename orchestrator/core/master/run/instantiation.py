"""Instantiation of the units of a schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.core.master.schedule.events import with_abilities
from orchestrator.core.master.schedule.schedule import Schedule
from orchestrator.core.simunits import SimulationUnit, capabilities_of, make_unit
from orchestrator.core.system import System

if TYPE_CHECKING:
    from orchestrator.core.simunits import WorkerProcess


def make_units(
    system: System, schedule: Schedule, *, early_return: bool
) -> tuple[Schedule, list[SimulationUnit]]:
    """Instantiate all units and bind their connectors.

    Units with event mode are told when they are made whether they may return early, which the
    abilities of all others decide: so those are made first.
    """
    components = [system.components[member.name] for member in schedule.members]
    made: dict[str, SimulationUnit] = {}
    processes: dict[str, WorkerProcess] = {}
    try:
        for component in components:
            if not component.shares_events:
                made[component.name] = make_unit(component, processes=processes)
        abilities = [
            made[c.name].description.capabilities if c.name in made else capabilities_of(c)
            for c in components
        ]
        schedule = with_abilities(system, schedule, abilities, early_return=early_return)
        early = schedule.events is not None and schedule.events.early_return
        for component in components:
            if component.shares_events:
                made[component.name] = make_unit(component, early_return=early)
        units = [made[member.name] for member in schedule.members]
        for member, unit in zip(schedule.members, units, strict=True):
            unit.bind(
                (*member.inputs, *member.text_inputs), (*member.outputs, *member.text_outputs)
            )
    except BaseException:
        for unit in made.values():
            unit.terminate()
        raise
    return schedule, units
