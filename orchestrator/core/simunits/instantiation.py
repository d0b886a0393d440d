"""From a component to the unit that runs: an FMU's instance or a block, here or in a process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import CapabilityError, PluginError
from orchestrator.core.simunits.block_registry import class_of
from orchestrator.core.simunits.fmi.fmu_description import FmuDescription, read_fmu
from orchestrator.core.simunits.fmi.once_per_process import only_instance
from orchestrator.core.simunits.kinds import kind_of, refuse_fmu_options
from orchestrator.core.simunits.protocol.unit import SimulationUnit
from orchestrator.core.simunits.registry import description_of
from orchestrator.core.system import Backend, Component, Source, SourceKind
from orchestrator.engine import Surroundings

if TYPE_CHECKING:
    from orchestrator.core.simunits.fmi.fmu_unit import FmuUnit
    from orchestrator.core.simunits.isolation.worker_process import WorkerProcess


def make_unit(
    component: Component,
    *,
    early_return: bool = False,
    processes: dict[str, WorkerProcess] | None = None,
) -> SimulationUnit:
    """Instantiate a component, in another process if it says so, and set its values."""
    source = component.source
    if source.kind not in {SourceKind.FMU, SourceKind.BLOCK}:
        return kind_of(source).make(component, processes)
    if component.options.isolation == "process":
        from orchestrator.core.simunits.isolation.remote_unit import WorkerUnit

        described = description_of(component)
        if source.kind is SourceKind.BLOCK:
            from orchestrator.core.simunits.blocks.block_place import location_of

            source = Source(source.kind, location_of(class_of(source)))
        process = _process_of(component, {} if processes is None else processes)
        return WorkerUnit(replace(component, source=source), described, process)
    before = Surroundings()
    try:
        if source.kind is SourceKind.FMU:
            unit = _make_fmu(component, early_return=early_return)
        else:
            unit = _make_block(component)
    finally:
        changed = before.put_back() if SimulationUnit.shares_process else []
    unit.has_changed(changed, "being made")
    unit.set_values(component.values)
    return unit


def _process_of(component: Component, processes: dict[str, WorkerProcess]) -> WorkerProcess:
    from orchestrator.core.simunits.isolation.worker_process import WorkerProcess

    shared = component.options.process
    if shared is None:
        return WorkerProcess(component.name)
    if shared not in processes:
        processes[shared] = WorkerProcess(component.name, shared)
    return processes[shared]


def _make_block(component: Component) -> SimulationUnit:
    from orchestrator.core.simunits.blocks.block_unit import BlockUnit

    location = component.source.location
    refuse_fmu_options(component, f"block '{location}'")
    kind = class_of(component.source)
    try:
        made = kind()
    except Exception as error:
        raise PluginError(
            f"component '{component.name}': block '{location}' cannot be made:"
            f" {type(error).__name__}: {error}"
        ) from error
    return BlockUnit(component.name, description_of(component), made)


def _make_fmu(component: Component, *, early_return: bool) -> SimulationUnit:
    try:
        described = read_fmu(Path(component.source.location), component.options.interface)
    except CapabilityError as error:
        raise CapabilityError(f"component '{component.name}': {error}") from None
    make = partial(_fmu_unit, component, described, early_return=early_return)
    if not described.description.capabilities.once_per_process:
        return make()
    return only_instance(component.name, described.path, make)


def _fmu_unit(
    component: Component, described: FmuDescription, *, early_return: bool
) -> SimulationUnit:
    options = component.options
    if component.backend is not Backend.NATIVE:
        refuse_fmu_options(component, f"a unit that {component.backend} runs")
        return _backend(component.backend)(component.name, described)
    instance = _instance(component.name, described, early_return=early_return)
    if described.interface == "ModelExchange":
        from orchestrator.core.simunits.fmi.model_exchange_unit import ModelExchangeUnit

        return ModelExchangeUnit(component.name, instance, options)
    what = f"{described.path}, run as Co-Simulation,"
    refuse_fmu_options(component, what, ("solver", "tolerance"))
    return instance


def _instance(name: str, described: FmuDescription, *, early_return: bool) -> FmuUnit:
    """Make an instance of the class of its version, which is imported when an FMU has it."""
    match described.version:
        case 1:
            from orchestrator.core.simunits.fmi.fmi1_unit import Fmu1Unit

            return Fmu1Unit(name, described)
        case 2:
            from orchestrator.core.simunits.fmi.fmi2_unit import Fmu2Unit

            return Fmu2Unit(name, described)
    from orchestrator.core.simunits.fmi.fmi3_unit import Fmu3Unit

    return Fmu3Unit(name, described, early_return=early_return)


def _backend(backend: Backend) -> Callable[[str, FmuDescription], SimulationUnit]:
    """Return what runs an FMU in place of the engine."""
    if backend is Backend.FMPY:
        from orchestrator.core.simunits.fmi.fmpy_unit import FmpyUnit

        return FmpyUnit
    from orchestrator.core.simunits.fmi.pyfmi_unit import PyfmiUnit

    return PyfmiUnit
