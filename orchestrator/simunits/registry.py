"""From a component's source to its description and to the unit that runs."""

from __future__ import annotations

from collections.abc import Mapping
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
from orchestrator.simunits.block_unit import BlockUnit, describe_block
from orchestrator.simunits.description import Capabilities, UnitDescription
from orchestrator.simunits.fmi2_unit import Fmu2Unit
from orchestrator.simunits.fmi3_unit import Fmu3Unit
from orchestrator.simunits.fmu_description import read_fmu
from orchestrator.simunits.fmu_unit import FmuUnit
from orchestrator.simunits.unit import SimulationUnit
from orchestrator.system import Component, Connector, Source, SourceKind, System, Value

#: The class that runs an FMU, by version and interface.
_FMU_UNITS: Mapping[tuple[int, str], type[FmuUnit]] = {
    (2, "CoSimulation"): Fmu2Unit,
    (3, "CoSimulation"): Fmu3Unit,
}


@cache
def _entry_points() -> Mapping[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group="softdock.blocks")}


def block_names() -> list[str]:
    """Names of all registered blocks (entry points ``softdock.blocks``)."""
    return sorted(_entry_points())


#: Classes that were given to :func:`block` in this process.
_LOCAL: dict[str, type[Block]] = {}


def _block_class(name: str) -> type[Block]:
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
    _LOCAL[which.__name__] = which
    return component_of(Source(SourceKind.BLOCK, which.__name__))


def _describe(source: Source, values: Mapping[str, Value]) -> UnitDescription:
    if source.kind is SourceKind.FMU:
        return read_fmu(Path(source.location)).shaped(values).description
    return describe_block(source.location, _block_class(source.location))


def component_of(
    source: Source, name: str = "component", values: Mapping[str, Value] | None = None
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
    """
    description = _describe(source, values or {})
    return Component(
        name,
        source,
        description.connectors,
        description.feedthrough,
        has_states=description.has_states,
        has_event_mode=description.capabilities.has_event_mode,
    )


def capabilities_of(component: Component) -> Capabilities:
    """Return what a master may ask of a component's unit."""
    return _describe(component.source, component.values).capabilities


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
            found = component_of(component.source, name, component.values)
        except SoftdockError as error:
            problems.append(DescriptionError(f"component '{name}': {error}"))
            continue
        problems += _differences(component, found)
        resolved[name] = replace(found, values=component.values)
    if problems:
        raise DescriptionError.collect(problems)
    return replace(system, components=resolved)


def _differences(declared: Component, found: Component) -> list[DescriptionError]:
    where = f"component '{declared.name}' ({declared.source})"
    problems: list[DescriptionError] = []
    for name, connector in declared.connectors.items():
        actual = found.connectors.get(name)
        if actual is None:
            problems.append(
                UnknownNameError(
                    f"{where}: the system declares connector '{name}', but the source has only:"
                    f" {', '.join(found.connectors)}"
                )
            )
        elif not _agree(connector, actual, found):
            problems.append(
                DescriptionError(
                    f"{where}: connector '{name}' is declared as {_contract(connector)},"
                    f" but the source has {_contract(actual)}"
                )
            )
    return problems


def _agree(declared: Connector, actual: Connector, found: Component) -> bool:
    """Whether a declared connector is the source's, but for extents that structure gives."""
    declared = replace(declared, unit=declared.unit or actual.unit)
    if found.source.kind is SourceKind.FMU and len(declared.shape) == len(actual.shape):
        dimensions = read_fmu(Path(found.source.location)).variables[actual.name].dimensions
        if any(isinstance(size, str) for size in dimensions):
            declared = replace(declared, shape=actual.shape)
    return _contract(declared) == _contract(actual)


def _contract(connector: Connector) -> str:
    shape = f" {connector.shape}" if connector.shape else ""
    unit = f" in {connector.unit}" if connector.unit else ""
    return f"{connector.causality} {connector.type}{shape}{unit}"


def refuse_second_instances(system: System) -> None:
    """Raise CapabilityError if an FMU that allows one instance per process is used twice.

    Such an FMU keeps its state outside of its instances; a second one would change the first.
    """
    users: dict[str, list[str]] = {}
    for name, component in system.components.items():
        if component.source.kind is SourceKind.FMU:
            users.setdefault(component.source.location, []).append(name)
    for location, names in users.items():
        if len(names) > 1 and read_fmu(Path(location)).description.capabilities.once_per_process:
            raise CapabilityError(
                f"components {', '.join(names)}: {location} can be instantiated only once per"
                " process (canBeInstantiatedOnlyOncePerProcess); use it in one component"
            )


def make_unit(component: Component, *, early_return: bool = False) -> SimulationUnit:
    """Instantiate a component and set its values.

    Parameters
    ----------
    component
        What to instantiate.
    early_return
        Whether a unit with event mode may end a step before its end, at an event.
    """
    source = component.source
    unit: SimulationUnit
    if source.kind is SourceKind.FMU:
        described = read_fmu(Path(source.location))
        kind_of_unit = _FMU_UNITS[described.version, described.interface]
        if issubclass(kind_of_unit, Fmu3Unit):
            unit = kind_of_unit(component.name, described, early_return=early_return)
        else:
            unit = kind_of_unit(component.name, described)
    else:
        kind = _block_class(source.location)
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
