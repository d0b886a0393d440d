"""From a component to the unit that runs: here, or in a process of its own."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import (
    CapabilityError,
    DescriptionError,
    PluginError,
    exits_are_errors,
)
from orchestrator.core.simunits.fmi.fmu_description import FmuDescription
from orchestrator.core.simunits.fmi.fmu_reading import fmu_of, read_fmu
from orchestrator.core.simunits.fmi.fmu_unit import (
    Fmu2Unit,
    FmuUnit,
    is_loaded,
    only_instance,
    show_messages,
)
from orchestrator.core.simunits.protocol import SimulationUnit, put_back
from orchestrator.core.simunits.registry import (
    class_of,
    description_of,
    kind_of,
    refuse_fmu_options,
)
from orchestrator.core.structs import replace
from orchestrator.core.system import Backend, Component, Source, SourceKind, System
from orchestrator.core.system.component import PROCESS_OPTIONS
from orchestrator.engine import Surroundings

if TYPE_CHECKING:
    from orchestrator.core.simunits.isolation.worker_process import WorkerProcess


def make_unit(
    component: Component,
    *,
    early_return: bool = False,
    processes: dict[str, WorkerProcess] | None = None,
) -> SimulationUnit:
    """Instantiate a component, in another process if it says so, and set its values."""
    source = component.source
    if component.options.debug:
        show_messages(component.name)
    if source.kind not in {SourceKind.FMU, SourceKind.BLOCK}:
        return kind_of(source).make(component, processes)
    if component.options.runs_apart:
        from orchestrator.core.simunits.isolation.remote_unit import WorkerUnit
        from orchestrator.core.simunits.isolation.worker_process import WorkerProcess

        described = description_of(component)
        if component.options.platform is not None:
            from orchestrator.core.simunits.fmi.wine import prepare

            prepare(component.name)  # here, as it may take longer than a worker may to answer
        if source.kind is SourceKind.BLOCK:
            from orchestrator.core.simunits.blocks.block_file import location_of

            source = Source(source.kind, location_of(class_of(source)))
        shared_processes, shared = {} if processes is None else processes, component.options.process
        if shared is None:
            process = WorkerProcess(component.name)
        elif (shared_process := shared_processes.get(shared)) is None:
            process = shared_processes[shared] = WorkerProcess(component.name, shared)
        else:
            process = shared_process
        return WorkerUnit(replace(component, source=source), described, process)
    before = Surroundings()
    try:
        if source.kind is SourceKind.FMU:
            unit = _make_fmu(component, early_return=early_return)
        else:
            unit = _make_block(component)
    finally:
        changed, unresolved = put_back(before) if SimulationUnit.shares_process else ([], [])
    unit.has_changed(changed, unresolved, "being made")
    unit.set_values(component.values)
    return unit


def _make_block(component: Component) -> SimulationUnit:
    from orchestrator.core.simunits.blocks.block_unit import BlockUnit

    location = component.source.location
    refuse_fmu_options(component, f"block '{location}'")
    kind = class_of(component.source)
    try:
        with exits_are_errors():
            new_block = kind()
    except Exception as error:
        code, defaults = kind.__init__.__code__, kind.__init__.__defaults__
        needs_arguments = code.co_argcount - len(defaults or ()) > 1
        advice = (
            "; Softdock calls __init__ without arguments: declare Parameter(start=..) instead"
            if needs_arguments
            else ""
        )
        raise PluginError(
            f"component '{component.name}': block '{location}' cannot be made:"
            f" {type(error).__name__}: {error}{advice}"
        ) from error
    return BlockUnit(component.name, description_of(component), new_block)


def _make_fmu(component: Component, *, early_return: bool) -> SimulationUnit:
    try:
        described = fmu_of(component)
    except CapabilityError as error:
        raise CapabilityError(f"component '{component.name}': {error}") from None
    make = partial(_fmu_unit, component, described, early_return=early_return)
    if not described.description.capabilities.once_per_process:
        return make()
    return only_instance(component.name, described.path, make)


def _fmu_unit(
    component: Component, described: FmuDescription, *, early_return: bool
) -> SimulationUnit:
    """Make an instance of the class of its version, which is imported when an FMU has it."""
    name, options = component.name, component.options
    instance: FmuUnit
    exchange = "FMUs with interface 'me'"
    if described.version == 1:
        subject = f"{described.path}, of FMI 1.0,"
        refuse_fmu_options(component, subject, ("tolerance",), "FMUs of FMI 2.0 and 3.0")
    if component.backend is not Backend.NATIVE:
        subject = f"a unit that {component.backend} runs"
        refuse_fmu_options(component, subject, ("interface", "solver"), exchange)
        from orchestrator.core.simunits.fmi.foreign_unit import FmpyUnit, PyfmiUnit

        foreign = FmpyUnit if component.backend is Backend.FMPY else PyfmiUnit
        return foreign(name, described, options)
    if described.version == 1:
        from orchestrator.core.simunits.fmi.fmi1_unit import Fmu1Unit

        instance = Fmu1Unit(name, described, options)
    elif described.version == 2:
        instance = Fmu2Unit(name, described, options)
    else:
        from orchestrator.core.simunits.fmi.fmi3_unit import Fmu3Unit

        instance = Fmu3Unit(name, described, options, early_return=early_return)
    if described.interface == "ModelExchange":
        from orchestrator.core.simunits.fmi.model_exchange_unit import ModelExchangeUnit

        return ModelExchangeUnit(name, instance, options)
    subject = f"{described.path}, run as Co-Simulation,"
    refuse_fmu_options(component, subject, ("solver",), exchange)
    return instance


_LOG = logging.getLogger(__name__)


def isolate(system: System) -> tuple[System, list[str]]:
    """Choose processes of their own for components that need them.

    An FMU that can be instantiated only once per process keeps its state outside of its instances;
    a second one would change the first. So each of several has its own process, and also a single
    one while another run of this process has it loaded.
    """
    notes = []
    for location, names in _once_per_process(system).items():
        unisolated = [n for n in names if system.components[n].options.isolation == "none"]
        if len(unisolated) > 1:
            raise CapabilityError(
                f"components {', '.join(unisolated)}: {location} can be instantiated only once per"
                " process (canBeInstantiatedOnlyOncePerProcess); leave isolation 'none' away, so"
                " that each gets a process of its own"
            )
        _expect_apart(system, location, names)
        isolated = [n for n in names if system.components[n].options.isolation is None]
        for name in isolated:
            system = system.with_options(name, isolation="process")
        if isolated:
            elsewhere = ", and another run of this process has it loaded"
            notes.append(
                f"components {', '.join(isolated)} run in processes of their own: {location} can be"
                f" instantiated only once per process{elsewhere if is_loaded(location) else ''}"
            )
            _LOG.info("%s", notes[-1])
    _expect_processes(system)
    return system, notes


def under_wine(system: System) -> tuple[System, list[str]]:
    """Give components that run under Wine their processes, and note which they are.

    Raises
    ------
    CapabilityError
        If options of such a component contradict that, or Wine is absent or too old.
    """
    names = [n for n, c in system.components.items() if c.options.platform is not None]
    if not names:
        return system, []
    from orchestrator.core.simunits.fmi.wine import version

    for name in names:
        options = system.components[name].options
        problem = None
        if system.components[name].source.kind is not SourceKind.FMU:
            problem = "is no FMU"
        elif options.backend != "native":
            problem = f"has back-end '{options.backend}'; only 'native' runs Windows libraries"
        elif options.isolation == "none":
            problem = "has isolation 'none'; a Windows library runs in a process of its own"
        elif options.process is not None:
            problem = f"shares process '{options.process}'; a Windows library has one to itself"
        if problem is not None:
            raise CapabilityError(
                f"component '{name}': option platform = '{options.platform}': it {problem}"
            )
        system = system.with_options(name, isolation="process")
    many = "components" if len(names) > 1 else "component"
    note = (
        f"{many} {', '.join(names)}: the FMU's Windows library runs under {version()}, in a"
        " process of its own"
    )
    return system, [note]


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
        if not component.options.runs_apart
        for option in component.options.differing_texts()
        if option in PROCESS_OPTIONS
    ]
    problems += [
        f"component '{name}': option 'restarts': only with on_failure 'restart' is it started"
        f" again, found on_failure '{component.options.on_failure}'; choose that, or leave restarts"
        " out"
        for name, component in system.components.items()
        if component.options.isolation == "process"
        and component.options.on_failure != "restart"
        and "restarts" in component.options.differing_texts()
    ]
    problems += [  # a restart would take the others along
        f"component '{name}': on_failure 'restart' is for a unit that has a process to itself;"
        f" leave process '{component.options.process}' away, or choose 'stop' or 'hold'"
        for name, component in system.components.items()
        if component.options.process is not None and component.options.on_failure == "restart"
    ]
    if problems:
        raise DescriptionError(*problems)
