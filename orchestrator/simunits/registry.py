"""From a component's source to its description and to the unit that runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from orchestrator.errors import (
    CapabilityError,
    DescriptionError,
    PluginError,
    SoftdockError,
    UnknownNameError,
)
from orchestrator.simunits.block import Block
from orchestrator.simunits.block_place import place_of
from orchestrator.simunits.block_unit import BlockUnit, describe_block
from orchestrator.simunits.declared import as_declared, differences
from orchestrator.simunits.description import Capabilities, UnitDescription
from orchestrator.simunits.fmi1_unit import Fmu1Unit
from orchestrator.simunits.fmi2_unit import Fmu2Unit
from orchestrator.simunits.fmi3_unit import Fmu3Unit
from orchestrator.simunits.fmpy_unit import FmpyUnit
from orchestrator.simunits.fmu_description import FmuDescription, read_fmu
from orchestrator.simunits.fmu_unit import FmuUnit
from orchestrator.simunits.model_exchange_unit import ModelExchangeUnit
from orchestrator.simunits.pyfmi_unit import PyfmiUnit
from orchestrator.simunits.remote_unit import WorkerUnit
from orchestrator.simunits.terminals import power_ports
from orchestrator.simunits.unit import SimulationUnit
from orchestrator.system import (
    Backend,
    Component,
    PowerPort,
    Source,
    SourceKind,
    System,
    UnitOptions,
    Value,
    errors_of,
)

#: The class of an FMU's instances, by version.
_FMU_UNITS: Mapping[int, type[FmuUnit]] = {1: Fmu1Unit, 2: Fmu2Unit, 3: Fmu3Unit}
_BACKENDS: Mapping[Backend, Callable[[str, FmuDescription], SimulationUnit]] = {
    Backend.FMPY: FmpyUnit,
    Backend.PYFMI: PyfmiUnit,
}


@cache
def _entry_points() -> Mapping[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group="softdock.blocks")}


def block_names() -> list[str]:
    """Names of all registered blocks (entry points ``softdock.blocks``)."""
    return sorted(_entry_points())


#: Classes that were given to :func:`block` in this process.
_LOCAL: dict[str, type[Block]] = {}


def block_class(name: str) -> type[Block]:
    """Return the class of a block that is registered, or known in this process.

    Raises
    ------
    UnknownNameError, PluginError
        If there is none of that name, or it cannot be imported.
    """
    return _LOCAL.get(name) or _registered_class(name)


@cache
def _registered_class(name: str) -> type[Block]:
    entry = _entry_points().get(name)
    if entry is None:
        raise UnknownNameError(
            f"no block '{name}' is registered; registered: {', '.join(block_names()) or 'none'}"
        )
    try:
        kind = entry.load()
    except Exception as error:
        raise PluginError(f"block '{name}' ({entry.value}) cannot be imported: {error}") from error
    if not (isinstance(kind, type) and issubclass(kind, Block)):
        raise PluginError(f"block '{name}' ({entry.value}): expected a subclass of Block")
    return kind


def fmu(path: str | Path) -> Component:
    """Return a component made from an FMU, with its ports, to be added to a system."""
    return component_of(Source(SourceKind.FMU, str(path)))


def block(which: str | type[Block]) -> Component:
    """Return a component made from a Python block.

    Parameters
    ----------
    which
        A registered name; or a block class, which this process then knows by its own name. Another
        process that reads the system from a file needs it registered.
    """
    if isinstance(which, str):
        return component_of(Source(SourceKind.BLOCK, which))
    know(which.__name__, which)
    return component_of(Source(SourceKind.BLOCK, which.__name__))


def know(name: str, kind: type[Block]) -> None:
    """Make a block class known in this process."""
    _LOCAL[name] = kind


def _describe(
    source: Source, values: Mapping[str, Value], interface: str | None, *, runnable: bool = True
) -> UnitDescription:
    if source.kind is SourceKind.FMU:
        found = read_fmu(Path(source.location), interface, runnable=runnable)
        return found.shaped(values).description
    if source.kind is not SourceKind.BLOCK:
        raise CapabilityError(
            f"{source}: a {source.kind} cannot be run; expected an FMU or a block, swap it for one"
        )
    return describe_block(source.location, block_class(source.location))


def component_of(
    source: Source,
    name: str = "component",
    values: Mapping[str, Value] | None = None,
    options: UnitOptions | None = None,
    *,
    runnable: bool = True,
) -> Component:
    """Describe a source as a component.

    Parameters
    ----------
    source
        What to describe.
    name
        Of the component.
    values
        Values of its parameters: structural ones give arrays their extents.
    options
        How it is run.
    runnable
        Whether an FMU must have a binary for this machine.
    """
    options = options or UnitOptions()
    description = _describe(source, values or {}, options.interface, runnable=runnable)
    return Component(
        name,
        source,
        description.connectors,
        description.feedthrough,
        has_states=description.has_states,
        has_derivatives=description.capabilities.has_directional_derivatives
        and options.backend == "native",
        takes_slopes=description.capabilities.takes_input_slopes and options.backend == "native",
        has_event_mode=_shares_events(source, description, options),
        options=options,
        power_ports=_power_ports(source, description, options),
    )


def _power_ports(
    source: Source, description: UnitDescription, options: UnitOptions
) -> Mapping[str, PowerPort]:
    path = Path(source.location)
    if source.kind is not SourceKind.FMU or read_fmu(path, options.interface).version != 3:
        return {}
    return power_ports(path, description.connectors)


def _shares_events(source: Source, description: UnitDescription, options: UnitOptions) -> bool:
    """Whether the engine leads a unit through event mode, instead of what stands between them."""
    if source.kind is not SourceKind.FMU or not description.capabilities.has_event_mode:
        return False
    is_near = options.backend == "native" and options.isolation != "process"
    read = read_fmu(Path(source.location), options.interface, runnable=False)
    return is_near and read.interface == "CoSimulation"


def capabilities_of(component: Component) -> Capabilities:
    """Return what a component's description says that its unit can."""
    return description_of(component).capabilities


def description_of(component: Component, *, runnable: bool = True) -> UnitDescription:
    """Return what a component's source says of itself; parameters as of :func:`component_of`."""
    options = component.options
    return _describe(component.source, component.values, options.interface, runnable=runnable)


def resolve(system: System) -> System:
    """Open the source of every component and complete its connectors and feed-through.

    Connectors that the system's file declares are compared with those of the source.

    Raises
    ------
    DescriptionError
        All components whose source cannot be opened or does not have a declared connector,
        together.
    """
    problems: list[DescriptionError] = []
    resolved = {}
    for name, component in system.components.items():
        try:
            found = component_of(component.source, name, component.values, component.options)
        except SoftdockError as error:
            kind = type(error) if isinstance(error, DescriptionError) else DescriptionError
            problems.append(kind(f"component '{name}': {error}"))
            continue
        problems += errors_of(differences(component, found))
        connectors = {
            key: as_declared(connector, component.connectors.get(key), found)
            for key, connector in found.connectors.items()
        }
        resolved[name] = replace(
            found,
            connectors=connectors,
            values=component.values,
            power_ports={**found.power_ports, **component.power_ports},
        )
    nested = {}
    for name, inner in system.systems.items():
        try:
            nested[name] = resolve(inner)
        except DescriptionError as error:
            problems += [DescriptionError(f"system '{name}': {text}") for text in error.problems]
    if problems:
        raise DescriptionError.collect(problems)
    return replace(system, components=resolved, systems=nested)


def make_unit(component: Component, *, early_return: bool = False) -> SimulationUnit:
    """Instantiate a component, in a process of its own if it says so, and set its values.

    Parameters
    ----------
    component
        What to instantiate.
    early_return
        Whether a unit with event mode may end a step before its end, at an event.
    """
    source = component.source
    if component.options.isolation == "process":
        kind = None if source.kind is SourceKind.FMU else block_class(source.location)
        place = {} if kind is None else place_of(kind)
        described = _describe(source, component.values, component.options.interface)
        return WorkerUnit(component, described, place)
    unit: SimulationUnit
    if source.kind is SourceKind.FMU:
        unit = _make_fmu(component, early_return=early_return)
    else:
        _refuse_fmu_options(component, f"block '{source.location}'")
        kind = block_class(source.location)
        try:
            made = kind()
        except Exception as error:
            raise PluginError(
                f"component '{component.name}': block '{source.location}' cannot be made:"
                f" {type(error).__name__}: {error}"
            ) from error
        unit = BlockUnit(component.name, describe_block(source.location, kind), made)
    unit.set_values(component.values)
    return unit


def _make_fmu(component: Component, *, early_return: bool) -> SimulationUnit:
    options = component.options
    try:
        described = read_fmu(Path(component.source.location), options.interface)
    except CapabilityError as error:
        raise CapabilityError(f"component '{component.name}': {error}") from None
    if component.backend is not Backend.NATIVE:
        _refuse_fmu_options(component, f"a unit that {component.backend} runs")
        return _BACKENDS[component.backend](component.name, described)
    kind = _FMU_UNITS[described.version]
    if issubclass(kind, Fmu3Unit):
        instance: FmuUnit = kind(component.name, described, early_return=early_return)
    else:
        instance = kind(component.name, described)
    if described.interface == "ModelExchange":
        return ModelExchangeUnit(component.name, instance, options)
    what = f"{described.path}, run as Co-Simulation,"
    _refuse_fmu_options(replace(component, options=options.changed({"interface": None})), what)
    return instance


def _refuse_fmu_options(component: Component, what: str) -> None:
    """Raise CapabilityError if options of Model Exchange are set that nothing would read."""
    options = component.options
    given = [
        f"{name} = {value!r}"
        for name in ("interface", "solver", "tolerance")
        if (value := getattr(options, name)) is not None
    ]
    if given:
        raise CapabilityError(
            f"component '{component.name}': {what} takes no {', '.join(given)}; these options are"
            " for FMUs with interface 'me'"
        )
