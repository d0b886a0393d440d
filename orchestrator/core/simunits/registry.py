"""From a component's source to its description: FMUs, blocks, and kinds of units of other rooms.

A kind of unit is a class at the entry points ``softdock.units``, by the name of its
:class:`~orchestrator.core.system.SourceKind`; what no component of a system is, is not imported.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import suppress
from math import isclose
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.core.diagnostics import (
    CapabilityError,
    DescriptionError,
    PluginError,
    SoftdockError,
    UnitMismatchError,
    UnknownNameError,
    choices_for,
    with_article,
)
from orchestrator.core.garbage import collection_paused
from orchestrator.core.plugins import PluginGroup
from orchestrator.core.simunits.fmi.fmu_description import missing_fmus, power_ports
from orchestrator.core.simunits.fmi.fmu_reading import fmu_of, read_fmu
from orchestrator.core.simunits.protocol import Capabilities, UnitDescription
from orchestrator.core.structs import replace
from orchestrator.core.system import (
    Causality,
    Component,
    ComponentOptions,
    Connector,
    Source,
    SourceKind,
    System,
    Value,
    conversion_between,
)
from orchestrator.core.system.component import FMU_OPTIONS, PROCESS_OPTIONS
from orchestrator.core.system.ports import converts
from orchestrator.core.system.source import expect_opened, stays_unopened

if TYPE_CHECKING:
    from orchestrator.core.simunits.blocks.block import Block
    from orchestrator.core.simunits.protocol import SimulationUnit


def _base() -> type[Block]:
    from orchestrator.core.simunits.blocks.block import Block

    return Block


BLOCKS = PluginGroup("softdock.blocks", "block", _base)


def block_names() -> list[str]:
    """Names of all registered blocks (entry points ``softdock.blocks``)."""
    return BLOCKS.names


def block_class(location: str) -> type[Block]:
    """Return the class of a block that is registered, or of a file or module."""
    if ":" in location:
        from orchestrator.core.simunits.blocks.block_file import class_at

        return class_at(location)
    if location.endswith(".py"):
        raise DescriptionError(f"block '{location}': which class? expected block:{location}:CLASS")
    return BLOCKS.class_of(location)


def class_of(source: Source) -> type[Block]:
    """Return the class of a component's source: the one that was given, or that of its location.

    Raises as :func:`block_class`, and UnopenedError if it is code that stays unopened.
    """
    expect_opened(source)
    from orchestrator.core.simunits.blocks.block_file import GivenBlock

    definition = source.definition
    return definition.kind if isinstance(definition, GivenBlock) else block_class(source.location)


def source_of(kind: type[Block]) -> Source:
    """Return the source that names a class: its entry point, or where it stands."""
    from orchestrator.core.simunits.blocks.block_file import GivenBlock, label_of

    for name, entry in BLOCKS.entry_points.items():
        if entry.value.rpartition(":")[2] != kind.__qualname__:
            continue
        with suppress(PluginError):  # of another one, which a message reports to its user
            if BLOCKS.class_of(name) is kind:
                return Source(SourceKind.BLOCK, name)
    return Source(SourceKind.BLOCK, label_of(kind), GivenBlock(kind))


_LOGGER = logging.getLogger(__name__)


def differences(declared: Component, component: Component) -> Iterator[DescriptionError]:
    """Say in what the connectors that a system declares differ from those of the source."""
    location = f"component '{declared.name}' ({declared.source})"
    for name, connector in declared.connectors.items():
        at = f"{declared.name}.{name}"
        actual = component.connectors.get(name)
        if actual is None:
            text = (
                f"the system declares connector '{name}', but the source has no such"
                f" connector{choices_for(name, component.connectors, 'connector', 'its')}"
            )
            yield UnknownNameError.about(text, code="FMU105", place=location, key=at)
        elif connector is not actual and not _agree(connector, actual, component):
            text = (
                f"connector '{name}' is declared as {_contract(connector)},"
                f" but the source has {_contract(actual)}"
            )
            yield DescriptionError.about(text, code="FMU106", place=location, key=at)


def _agree(declared: Connector, actual: Connector, part: Component) -> bool:
    """Whether a declared connector is the source's, but for extents that structure gives."""
    if declared.causality is Causality.STRUCTURAL_PARAMETER:
        declared = replace(declared, causality=Causality.PARAMETER)
    if not converts(declared, actual):
        return False
    if declared.unit != actual.unit:
        declared = replace(declared, unit=actual.unit)
    is_array = bool(declared.shape) and len(declared.shape) == len(actual.shape)
    if part.source.kind is SourceKind.FMU and is_array:
        dimensions = (
            read_fmu(Path(part.source.location), runnable=False).variables[actual.name].dimensions
        )
        if any(isinstance(size, str) for size in dimensions):
            declared = replace(declared, shape=actual.shape)
    return _contract(declared) == _contract(actual)


def as_declared(actual: Connector, declared: Connector | None, component: Component) -> Connector:
    """Return a connector of a source with unit and enumeration as the system's file has them."""
    if declared is None or declared is actual:
        return actual
    enumeration = declared.enumeration or actual.enumeration
    if declared.unit is None:
        return _changed(actual, enumeration=enumeration)
    try:
        factor, offset = conversion_between(declared, actual)
    except UnitMismatchError:  # it is among the differences
        return actual
    if actual.unit is not None and not (isclose(factor, 1.0) and isclose(offset, 0.0)):
        _LOGGER.warning(
            "component '%s' (%s): connector '%s' is declared in '%s', but the source has '%s'; its"
            " values are taken for '%s'",
            component.name,
            component.source,
            actual.name,
            declared.unit,
            actual.unit,
            declared.unit,
        )
    definition = declared.unit_definition
    if definition is None and declared.unit == actual.unit:
        definition = actual.unit_definition  # the file says nothing else
    return _changed(actual, unit=declared.unit, unit_definition=definition, enumeration=enumeration)


def _changed(connector: Connector, **fields: Any) -> Connector:
    """Return a connector with other fields: itself, if they are what it has."""
    if all(getattr(connector, name) == value for name, value in fields.items()):
        return connector
    return replace(connector, **fields)


def _contract(connector: Connector) -> str:
    shape = f" {connector.shape}" if connector.shape else ""
    unit = f" in {connector.unit}" if connector.unit else ""
    return f"{connector.causality} {connector.type}{shape}{unit}"


class UnitKind(ABC):
    """How components of one kind of source are described and made."""

    def complete(self, source: Source, name: str, like: Component | None) -> Source:
        """Return a source with what it leaves to the component ``like`` that it stands for."""
        return source

    @abstractmethod
    def describe(self, component: Component, *, runnable: bool) -> UnitDescription:
        """Describe a component, whose connectors are those of what it stands for."""

    @abstractmethod
    def make(self, component: Component, processes: dict[str, Any] | None) -> SimulationUnit:
        """Make the unit that runs; parameters as of :func:`.make_unit`."""

    def late_ns(self, source: Source, description: UnitDescription) -> Mapping[str, int]:
        """Return the delays that outputs bring with them, in ns."""
        return {}

    def clock_ns(self, source: Source) -> int | None:
        """Return the period of samples that a run can wait for, in ns; ``None``: there are none."""
        return None


_GROUP: PluginGroup[UnitKind] = PluginGroup("softdock.units", "kind of unit", lambda: UnitKind)


def kind_of(source: Source) -> UnitKind:
    """Return what makes units of a source that is neither an FMU nor a block."""
    name = str(source.kind)
    if name not in _GROUP.entry_points:
        raise CapabilityError(
            f"{source}: {with_article(source.kind)} cannot be run; expected an FMU, a block,"
            " a device, a"
            " recording or a twin, swap it for one"
        )
    return _GROUP.class_of(name)()


def clock_ns(source: Source) -> int | None:
    """Return the period of a device whose time goes on without the run, in ns; else ``None``."""
    return kind_of(source).clock_ns(source) if source.kind is SourceKind.DEVICE else None


def refuse_fmu_options(
    component: Component, kind: str, among: tuple[str, ...] = FMU_OPTIONS, whose: str = "FMUs"
) -> None:
    """Raise CapabilityError if options of FMUs are set that nothing would read."""
    texts = component.options.differing_texts()
    names = [f"{name} = {getattr(component.options, name)!r}" for name in among if name in texts]
    if names:
        raise CapabilityError(
            f"component '{component.name}': {kind} takes no {', '.join(names)}; these options"
            f" are for {whose}"
        )


def refuse_process_options(component: Component, kind: str) -> None:
    """Raise CapabilityError if options of units in processes are set that nothing would read."""
    texts = component.options.differing_texts()
    names = [f"{name} = {texts[name]!r}" for name in PROCESS_OPTIONS if name in texts]
    if names:
        raise CapabilityError(f"component '{component.name}': {kind} takes no {', '.join(names)}")


def fmu(path: str | Path, *, platform: str | None = None) -> Component:
    """Return a component made from an FMU, with its ports, to be added to a system.

    Parameters
    ----------
    path
        The ``.fmu`` file.
    platform
        ``"win64"`` runs the FMU's library for 64-bit Windows under Wine, in a process of its own.
        Default: the library for this machine.

    Raises
    ------
    FmuError
        If the file is missing, is not an FMU that can be run, or has no library for the platform.
    DescriptionError
        If the platform is unknown.

    Returns
    -------
    Component
        With the ports, units and start values of the FMU, for :meth:`System.add`.

    Examples
    --------
    ::

        system = System("rig").add("chaser", fmu("Chaser.fmu"), m=750.0)
    """
    options = ComponentOptions(platform=platform)
    return component_of(Source(SourceKind.FMU, str(path)), options=options)


def block(choice: str | type[Block]) -> Component:
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
        If no block has that name, or its file cannot be imported.

    Returns
    -------
    Component
        With the connectors that the block declares, for :meth:`System.add`.

    Examples
    --------
    ::

        system = System("rig").add("contact", block("spring_dashpot"), k=1000.0)
        system = system.add("law", block("control.py:Law"))
    """
    if isinstance(choice, str):
        return component_of(Source(SourceKind.BLOCK, choice).resolved(Path.cwd()))
    from orchestrator.core.simunits.blocks.block import Block

    kind: object = choice
    if isinstance(kind, Block):
        name = type(kind).__name__
        raise DescriptionError(
            f"block(..): found an instance of {name}; expected the class, block({name}): every run"
            f" makes its own instances. Values go to the system: add('c', block({name}), k=1.0)"
        )
    if not (isinstance(kind, type) and issubclass(kind, Block)):
        name = getattr(kind, "__name__", repr(kind))
        raise DescriptionError(
            f"block({name}): expected a subclass of Block with its connectors and step(t, h), or a"
            " name; a function alone does not say what its inputs and outputs are"
        )
    return component_of(source_of(kind))


def description_of(
    component: Component,
    *,
    runnable: bool = True,
    blocks: dict[Source, UnitDescription] | None = None,
) -> UnitDescription:
    """Return what a component's source says of itself; parameters as of :func:`component_of`."""
    source = component.source
    if source.kind is SourceKind.FMU:
        opened_fmu = fmu_of(component, runnable=runnable)
        return opened_fmu.shaped(component.values).description
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
    opened_fmu = None
    late_ns: Mapping[str, int] = {}
    if source.kind is SourceKind.FMU:
        opened_fmu = read_fmu(
            Path(source.location), options.interface, options.platform, runnable=runnable
        )
        description = opened_fmu.shaped(values or {}).description
    else:
        kind = None if source.kind is SourceKind.BLOCK else kind_of(source)
        if kind is not None:
            source = kind.complete(source, name, like)
        connectors = {} if like is None else like.connectors
        component = Component(name, source, connectors, values=values or {}, options=options)
        description = description_of(component, runnable=runnable, blocks=blocks)
        late_ns = {} if kind is None else kind.late_ns(source, description)
    can, is_native = description.capabilities, options.backend == "native"
    return Component(
        name,
        source,
        description.connectors,
        description.feedthrough,
        has_states=description.has_states,
        has_derivatives=can.has_directional_derivatives and is_native,
        input_order=can.input_order if is_native else 0,
        # led by the engine; else what stands between them leads the unit through event mode
        has_event_mode=can.has_event_mode
        and (is_native and not options.runs_apart)
        and (opened_fmu is not None and opened_fmu.interface == "CoSimulation"),
        options=options,
        power_ports=power_ports(opened_fmu.path, description.connectors)
        if opened_fmu is not None and opened_fmu.version == 3
        else {},
        late_ns=late_ns,
    )


def capabilities_of(component: Component) -> Capabilities:
    """Return what a component's description says that its unit can."""
    return description_of(component).capabilities


@collection_paused()
def resolve(system: System, *, runnable: bool = True) -> System:
    """Open the source of every component and complete its connectors and feed-through.

    Connectors that the system's file declares are compared with those of the source. Within
    ``packed_code_unopened`` blocks of archives keep the declared connectors.

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
    return _resolved(system, {}, set(), runnable=runnable)


def _missing_at_once(system: System, problems: list[DescriptionError]) -> list[DescriptionError]:
    """Replace the problems of several FMUs that do not exist by one problem."""
    failed = {problem.diagnostics[0].context[:1] for problem in problems}
    absent = {
        name: Path(component.source.location)
        for name, component in system.components.items()
        if (f"component '{name}'",) in failed
        and component.source.kind is SourceKind.FMU
        and not Path(component.source.location).exists()
    }
    if len(absent) < 2:
        return problems
    of_them = {(f"component '{name}'",) for name in absent}
    others = [problem for problem in problems if problem.diagnostics[0].context[:1] not in of_them]
    return [missing_fmus(absent), *others]


def _resolved(
    system: System,
    blocks: dict[Source, UnitDescription],
    alike: set[tuple[int, int]],
    *,
    runnable: bool,
) -> System:
    """Resolve a system.

    blocks: What is known of blocks.
    alike: Connectors of files that say nothing beyond those of their source, with these.
    """
    problems: list[DescriptionError] = []
    resolved = {}
    for name, component in system.components.items():
        if stays_unopened(component.source):
            resolved[name] = component
            continue
        try:
            arguments = component.source, name, component.values, component.options
            actual = component_of(*arguments, runnable=runnable, like=component, blocks=blocks)
        except SoftdockError as error:
            cause = type(error) if isinstance(error, DescriptionError) else DescriptionError
            problems.append(cause(*error.within(f"component '{name}'")))
            continue
        connectors = actual.connectors
        kind = id(component.connectors), id(connectors)  # both are kept: by this system, the result
        if kind not in alike:
            differ = list(differences(component, actual))
            problems += differ
            connectors = {
                key: as_declared(connector, component.connectors.get(key), actual)
                for key, connector in actual.connectors.items()
            }
            if not differ and connectors == actual.connectors:
                connectors = actual.connectors
                alike.add(kind)
        resolved[name] = replace(
            actual,
            connectors=connectors,
            values=component.values,
            power_ports={**actual.power_ports, **component.power_ports},
            late_ns=actual.late_ns or component.late_ns,  # what is known of a device
        )
    problems = _missing_at_once(system, problems)
    nested = {}
    for name, inner in system.systems.items():
        try:
            nested[name] = _resolved(inner, blocks, alike, runnable=runnable)
        except DescriptionError as error:
            problems.append(DescriptionError(*error.within(f"system '{name}'")))
    if problems:
        raise DescriptionError.collect(problems)
    return replace(system, components=resolved, systems=nested)
