"""Which components run in processes of their own."""

from __future__ import annotations

import logging
from pathlib import Path

from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.simunits.fmi.fmu_description import read_fmu
from orchestrator.core.simunits.fmi.once_per_process import is_loaded
from orchestrator.core.system import SourceKind, System

_LOG = logging.getLogger(__name__)


def isolate(system: System) -> tuple[System, list[str]]:
    """Choose processes of their own for components that need them.

    An FMU that can be instantiated only once per process keeps its state outside of its instances;
    a second one would change the first. So each of several has its own process, and also a single
    one while another run of this process has it loaded.
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
        _expect_apart(system, location, names)
        chosen = [n for n in names if system.components[n].options.isolation is None]
        for name in chosen:
            system = system.with_options(name, isolation="process")
        if chosen:
            notes.append(
                f"components {', '.join(chosen)} run in processes of their own: {location} can be"
                f" instantiated only once per process{_elsewhere(location)}"
            )
            _LOG.info("%s", notes[-1])
    _expect_processes(system)
    return system, notes


def _elsewhere(location: str) -> str:
    return ", and another run of this process has it loaded" if is_loaded(location) else ""


def _expect_apart(system: System, location: str, names: list[str]) -> None:
    processes: dict[str, list[str]] = {}
    for name in names:
        if process := system.components[name].options.process:
            processes.setdefault(process, []).append(name)
    for process, together in processes.items():
        if len(together) > 1:
            raise CapabilityError(
                f"components {', '.join(together)}: {location} can be instantiated only once per"
                f" process (canBeInstantiatedOnlyOncePerProcess), and they share the process"
                f" '{process}'; give each a process of another name, or none"
            )


def _once_per_process(system: System) -> dict[str, list[str]]:
    """Components by FMU that allows one instance per process, where it may meet another."""
    users: dict[str, list[str]] = {}
    for name, component in system.components.items():
        if component.source.kind is SourceKind.FMU:
            users.setdefault(component.source.location, []).append(name)
    return {
        location: names
        for location, names in users.items()
        if is_loaded(location)
        or (len(names) > 1 and read_fmu(Path(location)).description.capabilities.once_per_process)
    }


def _expect_processes(system: System) -> None:
    problems = [
        f"component '{name}': option '{option}' is for a unit in a process of its own; choose"
        " isolation 'process' too"
        for name, component in system.components.items()
        if component.options.isolation != "process"
        for option in ("process", "step_timeout", "on_failure", "restarts")
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
    problems += _unshareable(system)
    if problems:
        raise DescriptionError(*problems)


def _unshareable(system: System) -> list[str]:
    """What cannot be in a process that it names: its restart would take the others along."""
    return [
        f"component '{name}': on_failure 'restart' is for a unit that has a process to itself;"
        f" leave process '{component.options.process}' away, or choose 'stop' or 'hold'"
        for name, component in system.components.items()
        if component.options.process is not None and component.options.on_failure == "restart"
    ]
