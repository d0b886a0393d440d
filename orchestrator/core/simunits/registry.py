"""From a component's source to its description and to the unit that runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import DescriptionError, SoftdockError
from orchestrator.core.garbage import collection_paused
from orchestrator.core.simunits.block_registry import class_of, source_of
from orchestrator.core.simunits.declared import as_declared, differences
from orchestrator.core.simunits.fmi.fmu_description import FmuDescription, read_fmu
from orchestrator.core.simunits.kinds import kind_of
from orchestrator.core.simunits.protocol.description import Capabilities, UnitDescription
from orchestrator.core.system import (
    Component,
    ComponentOptions,
    PowerPort,
    Source,
    SourceKind,
    System,
    Value,
)
from orchestrator.core.system.packed_code import stays_unopened

if TYPE_CHECKING:
    from orchestrator.core.simunits.blocks.block import Block


def fmu(path: str | Path) -> Component:
    """Return a component made from an FMU, with its ports, to be added to a system."""
    return component_of(Source(SourceKind.FMU, str(path)))


def block(which: str | type[Block]) -> Component:
    """Return a component made from a Python block.

    Parameters
    ----------
    which
        A block class, which the component keeps; or a registered name, ``FILE.py:CLASS`` (relative
        to the working directory) or ``MODULE:CLASS``. Files can name a class that is at the top of
        a module or script.

    Raises
    ------
    DescriptionError
        If it is something else, such as an instance of a block.
    UnknownNameError, PluginError
        If there is none of that name, or it cannot be imported.
    """
    if isinstance(which, str):
        return component_of(Source(SourceKind.BLOCK, which).resolved(Path.cwd()))
    from orchestrator.core.simunits.blocks.block import Block

    found: object = which
    if isinstance(found, Block):
        name = type(found).__name__
        raise DescriptionError(
            f"block(..): found an instance of {name}; expected the class, block({name}): every run"
            f" makes its own instances. Values go to the system: add('c', block({name}), k=1.0)"
        )
    if not (isinstance(found, type) and issubclass(found, Block)):
        name = getattr(found, "__name__", repr(found))
        raise DescriptionError(
            f"block({name}): expected a subclass of Block with its connectors and step(t, h), or a"
            " name; a function alone does not say what its inputs and outputs are"
        )
    return component_of(source_of(found))


def _describe(
    component: Component,
    *,
    runnable: bool = True,
    blocks: dict[Source, UnitDescription] | None = None,
) -> UnitDescription:
    source = component.source
    if source.kind is SourceKind.FMU:
        found = read_fmu(Path(source.location), component.options.interface, runnable=runnable)
        return found.shaped(component.values).description
    if source.kind is not SourceKind.BLOCK:
        return kind_of(source).describe(component, runnable=runnable)
    from orchestrator.core.simunits.blocks.block_unit import describe_block

    blocks = {} if blocks is None else blocks
    if source not in blocks:
        blocks[source] = describe_block(source.location, class_of(source))
    return blocks[source]


def component_of(
    source: Source,
    name: str = "component",
    values: Mapping[str, Value] | None = None,
    options: ComponentOptions | None = None,
    *,
    runnable: bool = True,
    like: Component | None = None,
    blocks: dict[Source, UnitDescription] | None = None,
) -> Component:
    """Describe a source as a component."""
    options = options or ComponentOptions()
    found = None
    late_ns: Mapping[str, int] = {}
    if source.kind is SourceKind.FMU:
        found = read_fmu(Path(source.location), options.interface, runnable=runnable)
        description = found.shaped(values or {}).description
    else:
        kind = None if source.kind is SourceKind.BLOCK else kind_of(source)
        if kind is not None:
            source = kind.complete(source, name, like)
        known = {} if like is None else like.connectors
        whole = Component(name, source, known, values=values or {}, options=options)
        description = _describe(whole, runnable=runnable, blocks=blocks)
        late_ns = {} if kind is None else kind.late_ns(source, description)
    return Component(
        name,
        source,
        description.connectors,
        description.feedthrough,
        has_states=description.has_states,
        has_derivatives=description.capabilities.has_directional_derivatives
        and options.backend == "native",
        input_order=description.capabilities.input_order if options.backend == "native" else 0,
        has_event_mode=found is not None and _shares_events(found, options),
        options=options,
        power_ports={} if found is None else _power_ports(found, description),
        late_ns=late_ns,
    )


def _power_ports(found: FmuDescription, description: UnitDescription) -> Mapping[str, PowerPort]:
    if found.version != 3:
        return {}
    from orchestrator.core.simunits.fmi.terminals import power_ports

    return power_ports(found.path, description.connectors)


def _shares_events(found: FmuDescription, options: ComponentOptions) -> bool:
    """Whether the engine leads a unit through event mode, instead of what stands between them."""
    is_near = options.backend == "native" and options.isolation != "process"
    has_event_mode = found.description.capabilities.has_event_mode
    return has_event_mode and is_near and found.interface == "CoSimulation"


def capabilities_of(component: Component) -> Capabilities:
    """Return what a component's description says that its unit can."""
    return description_of(component).capabilities


def description_of(component: Component, *, runnable: bool = True) -> UnitDescription:
    """Return what a component's source says of itself; parameters as of :func:`component_of`."""
    return _describe(component, runnable=runnable)


@collection_paused()
def resolve(system: System, *, runnable: bool = True) -> System:
    """Open the source of every component and complete its connectors and feed-through.

    Connectors that the system's file declares are compared with those of the source. Within
    :func:`.packed_code_unopened` blocks of archives keep those that are declared.

    Parameters
    ----------
    system
        As it is written.
    runnable
        Whether FMUs must have a binary for this machine.

    Raises
    ------
    DescriptionError
        All components whose source cannot be opened or does not have a declared connector,
        together.
    """
    return _resolved(system, {}, runnable=runnable)


def _resolved(system: System, blocks: dict[Source, UnitDescription], *, runnable: bool) -> System:
    problems: list[DescriptionError] = []
    resolved = {}
    for name, component in system.components.items():
        if stays_unopened(component.source):
            resolved[name] = component
            continue
        try:
            found = component_of(
                component.source,
                name,
                component.values,
                component.options,
                runnable=runnable,
                like=component,
                blocks=blocks,
            )
        except SoftdockError as error:
            kind = type(error) if isinstance(error, DescriptionError) else DescriptionError
            problems.append(kind(*error.within(f"component '{name}'")))
            continue
        problems += differences(component, found)
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
            nested[name] = _resolved(inner, blocks, runnable=runnable)
        except DescriptionError as error:
            problems.append(DescriptionError(*error.within(f"system '{name}'")))
    if problems:
        raise DescriptionError.collect(problems)
    return replace(system, components=resolved, systems=nested)
