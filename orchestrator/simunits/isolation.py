"""Which components run in processes of their own."""

from __future__ import annotations

import logging
from pathlib import Path

from orchestrator.errors import CapabilityError, DescriptionError
from orchestrator.simunits.fmu_description import read_fmu
from orchestrator.system import SourceKind, System

_LOG = logging.getLogger(__name__)


def isolate(system: System) -> tuple[System, list[str]]:
    """Choose processes of their own for components that need them.

    An FMU that can be instantiated only once per process keeps its state outside of its instances;
    a second one would change the first. So each of several has its own process.

    Returns
    -------
    System, list of str
        With isolation chosen, and what was chosen, in sentences.

    Raises
    ------
    CapabilityError
        If several such components shall run without isolation.
    DescriptionError
        If options of a process are chosen for a component that has none.
    """
    notes = []
    for location, names in _once_per_process(system).items():
        told = [n for n in names if system.components[n].options.isolation == "none"]
        if len(told) > 1:
            raise CapabilityError(
                f"components {', '.join(told)}: {location} can be instantiated only once per"
                " process (canBeInstantiatedOnlyOncePerProcess); leave isolation 'none' away, so"
                " that each gets a process of its own"
            )
        chosen = [n for n in names if system.components[n].options.isolation is None]
        for name in chosen:
            system = system.with_options(name, isolation="process")
        if chosen:
            notes.append(
                f"components {', '.join(chosen)} run in processes of their own: {location} can be"
                " instantiated only once per process"
            )
            _LOG.info("%s", notes[-1])
    _expect_processes(system)
    return system, notes


def _once_per_process(system: System) -> dict[str, list[str]]:
    """Components by FMU, where several share one that allows one instance per process."""
    users: dict[str, list[str]] = {}
    for name, component in system.components.items():
        if component.source.kind is SourceKind.FMU:
            users.setdefault(component.source.location, []).append(name)
    return {
        location: names
        for location, names in users.items()
        if len(names) > 1 and read_fmu(Path(location)).description.capabilities.once_per_process
    }


def _expect_processes(system: System) -> None:
    problems = [
        f"component '{name}': option '{option}' is for a unit in a process of its own; choose"
        " isolation 'process' too"
        for name, component in system.components.items()
        if component.options.isolation != "process"
        for option in ("step_timeout", "on_failure", "restarts")
        if option in component.options.said()
    ]
    problems += [
        f"component '{name}': option 'restarts': only with on_failure 'restart' is it started"
        f" again, found on_failure '{component.options.on_failure}'; choose that, or leave restarts"
        " out"
        for name, component in system.components.items()
        if component.options.isolation == "process"
        and component.options.on_failure != "restart"
        and "restarts" in component.options.said()
    ]
    if problems:
        raise DescriptionError(*problems)
