"""From a component's source to its description and to the unit that runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from orchestrator.errors import (
    DescriptionError,
    PluginError,
    SoftdockError,
    UnknownNameError,
)
from orchestrator.simunits.block import Block
from orchestrator.simunits.block_place import place_of
from orchestrator.simunits.block_unit import BlockUnit, describe_block
from orchestrator.simunits.description import UnitDescription
from orchestrator.simunits.fmu_description import read_fmu
from orchestrator.simunits.fmu_unit import FmuUnit
from orchestrator.simunits.remote_unit import WorkerUnit
from orchestrator.simunits.unit import SimulationUnit
from orchestrator.system import Component, Connector, Source, SourceKind, System


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
    know(which.__name__, which)
    return component_of(Source(SourceKind.BLOCK, which.__name__))


def know(name: str, kind: type[Block]) -> None:
    """Make a block class known in this process."""
    _LOCAL[name] = kind


def _describe(source: Source) -> UnitDescription:
    if source.kind is SourceKind.FMU:
        return read_fmu(Path(source.location)).description
    return describe_block(source.location, _block_class(source.location))


def component_of(source: Source, name: str = "component") -> Component:
    """Describe a source as a component."""
    description = _describe(source)
    return Component(
        name,
        source,
        description.connectors,
        description.feedthrough,
        has_states=description.has_states,
    )


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
            found = component_of(component.source, name)
        except SoftdockError as error:
            problems.append(DescriptionError(f"component '{name}': {error}"))
            continue
        problems += _differences(component, found)
        resolved[name] = replace(found, values=component.values, options=component.options)
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
        elif _contract(replace(connector, unit=connector.unit or actual.unit)) != _contract(actual):
            problems.append(
                DescriptionError(
                    f"{where}: connector '{name}' is declared as {_contract(connector)},"
                    f" but the source has {_contract(actual)}"
                )
            )
    return problems


def _contract(connector: Connector) -> str:
    shape = f" {connector.shape}" if connector.shape else ""
    unit = f" in {connector.unit}" if connector.unit else ""
    return f"{connector.causality} {connector.type}{shape}{unit}"


def make_unit(component: Component) -> SimulationUnit:
    """Instantiate a component, in a process of its own if it says so, and set its values."""
    source = component.source
    if component.options.isolation == "process":
        kind = None if source.kind is SourceKind.FMU else _block_class(source.location)
        place = {} if kind is None else place_of(kind)
        return WorkerUnit(component, _describe(source), place)
    unit: SimulationUnit
    if source.kind is SourceKind.FMU:
        unit = FmuUnit(component.name, read_fmu(Path(source.location)))
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
