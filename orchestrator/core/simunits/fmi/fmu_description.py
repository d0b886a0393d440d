"""Reading of an FMU's model description as what the system graph and the engine need."""

from __future__ import annotations

import logging
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from os.path import normpath
from pathlib import Path

from lxml import etree

from orchestrator.core.diagnostics import (
    CapabilityError,
    DescriptionError,
    FmuError,
    UnitMismatchError,
)
from orchestrator.core.diagnostics.reading import reads
from orchestrator.core.files.archive import open_archive, parse_xml, read_entry
from orchestrator.core.optional_packages import install_line, missing_module
from orchestrator.core.simunits.fmi.description_parts import ModelDescription
from orchestrator.core.simunits.fmi.fmu_variable import FmuVariable
from orchestrator.core.simunits.fmi.model_description import (
    name_and_extent_faults,
    read_model_description,
)
from orchestrator.core.simunits.protocol import UnitDescription
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import (
    SEPARATOR,
    Causality,
    Component,
    Connector,
    DataType,
    Positive,
    PowerPort,
    SourceKind,
    System,
    Value,
    conversion,
)
from orchestrator.core.system.power_lines import pairs_of_power, port_of_pairs

_LOGGER = logging.getLogger(__name__)
_BUILD = "sources/buildDescription.xml"
#: Relative tolerance of the integration of a Model Exchange FMU that states none.
DEFAULT_TOLERANCE = 1e-6
#: Categories of FMI 2.0 and 3.0 that say what went wrong; all others are for debugging.
_ALWAYS_LOGGED = frozenset(
    {"logStatusWarning", "logStatusDiscard", "logStatusError", "logStatusFatal"}
)
#: Folder of the binaries, by operating system and processor.
_FOLDERS = {("Linux", "x86_64"): "linux64", ("Linux", "i686"): "linux32"}
_FOLDERS_FMI3 = {("Linux", "x86_64"): "x86_64-linux", ("Linux", "aarch64"): "aarch64-linux"}
#: Folders of FMI 1.0 and 2.0 and of FMI 3.0, and the suffix, of platforms that are not this one.
_OTHER_PLATFORMS = {"win64": (("win64", "x86_64-windows"), ".dll")}


class FmuDescription(Struct):
    """An FMU on disk.

    path: The archive.
    description: Ports, feed-through and capabilities.
    references: FMI value reference by name, of all variables.
    guid, library: What the instance is made with, and the library's path inside the archive.
    version: Major version of FMI.
    interface: ``"CoSimulation"`` or ``"ModelExchange"``.
    variables: The connectors, as FMI has them.
    is_resizable: Whether structural parameters give some of them their extents.
    tolerance: Relative tolerance of its default experiment; ``None``: it states none.
    logs: Whether an instance logs from the start: its description lists nothing but warnings and
        errors as categories.
    log_categories: Those of warnings and errors, where it lists others, too: these are turned on.
    platform: Name of the platform that the library is for; ``None``: this one.
    """

    path: Path
    description: UnitDescription
    references: Mapping[str, int]
    guid: str
    library: str
    version: int
    interface: str
    variables: Mapping[str, FmuVariable]
    is_resizable: bool
    tolerance: float | None = None
    logs: bool = False
    log_categories: tuple[str, ...] = ()
    platform: str | None = None

    def relative_tolerance(self, chosen: float | None) -> float | None:
        """Return the relative tolerance of an instance; ``chosen`` is the component's option.

        ``None``: the FMU's own solver takes its own; FMI 1.0 has no way to hand one over.
        """
        if self.version == 1:
            return None
        if chosen is None:
            chosen = self.tolerance
        is_ours = self.interface == "ModelExchange"
        return DEFAULT_TOLERANCE if chosen is None and is_ours else chosen

    def shaped(self, values: Mapping[str, Value]) -> FmuDescription:
        """Return the description of an instance whose structural parameters have other values."""
        if not self.is_resizable:
            return self
        connectors = dict(self.description.connectors)
        sizes: dict[str, Value] = {}
        extents = {end for each in self.variables.values() for end in each.dimensions}
        for name, variable in self.variables.items():
            if variable.is_structural and name in extents:
                size = values.get(name, connectors[name].start)
                if isinstance(size, bool) or not isinstance(size, int) or size < 0:
                    raise DescriptionError(
                        f"{self.path}: structural parameter '{name}': expected a whole number"
                        f" >= 0, found {size!r}"
                    )
                sizes[name] = size
        for name, variable in self.variables.items():
            shape = variable.shape(sizes)
            if shape != connectors[name].shape:
                connectors[name] = replace(connectors[name], shape=shape, start=None)
        return replace(self, description=replace(self.description, connectors=connectors))


class _Opened(Struct):
    """What the archive of an FMU holds: its description, flaws, the XML, names of entries."""

    described: ModelDescription
    flaws: tuple[str, ...]
    root: etree._Element
    names: frozenset[str]
    version: int


def read_fmu(
    path: Path,
    interface: str | None = None,
    platform: str | None = None,
    *,
    runnable: bool = True,
) -> FmuDescription:
    """Read and check an FMU that the engine is to run, by its library for some platform."""
    stamp = _stamp(path)
    found = _read(path, stamp, interface, platform)
    names = _open(path, stamp).names
    if runnable and found.library not in names:
        there = sorted({n.split("/")[1] for n in names if n.startswith("binaries/") and n[9:]})
        others = [
            name
            for name in _OTHER_PLATFORMS
            if name != platform and _read(path, stamp, interface, name).library in names
        ]
        way = f"; platform = '{others[0]}' runs that one under Wine" if others else ""
        raise FmuError.in_file(
            path,
            f"no binary for {'this machine' if platform is None else platform}: expected"
            f" '{found.library}', found platforms: {', '.join(there) or 'none'}{way}",
        )
    return found


def fmu_of(component: Component, *, runnable: bool = True) -> FmuDescription:
    """Read and check the FMU of a component, by the interface and platform of its options."""
    options = component.options
    path = Path(component.source.location)
    return read_fmu(path, options.interface, options.platform, runnable=runnable)


def open_description(path: Path) -> ModelDescription:
    """Return an FMU's model description; raises as :func:`read_fmu`."""
    return _open(path, _stamp(path)).described


def flaws_of(path: str | Path) -> tuple[str, ...]:
    """Return how an FMU's model description breaks rules of FMI without keeping it from running.

    Raises
    ------
    FmuError
        As :func:`read_fmu`, but for the platform.
    """
    path = Path(path)
    return _open(path, _stamp(path)).flaws


def _stamp(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        advice = f"build it ({_build_command(path)}) or correct the component's source"
        raise FmuError.in_file(path, f"no such FMU; {advice}") from None


def _build_command(path: Path) -> str:
    """Say how to build an FMU, and what that needs if it is not installed."""
    recipe = Path(normpath(path.parent / ".." / f"{path.name.partition('.')[0]}.toml"))
    if not recipe.is_file():
        return "`softdock build`"
    needs = f", after {install_line('modelica')}" if missing_module("casadi") else ""
    return f"`softdock build {recipe}`{needs}"


@lru_cache(maxsize=256)
@reads("the FMU cannot be read", FmuError)
def _open(path: Path, stamp: int) -> _Opened:  # noqa: ARG001 - the stamp renews the cache
    with open_archive(path, FmuError) as archive:
        content = read_entry(path, archive, "modelDescription.xml", FmuError)
        names = frozenset(archive.namelist())
        build = None
        if _BUILD in names:
            build = b""  # no XML, where it cannot be read
            with suppress(FmuError):
                build = read_entry(path, archive, _BUILD, FmuError)
    root = parse_xml(content, f"{path}: modelDescription.xml", FmuError)
    text = root.get("fmiVersion", "none")
    version = {"1.0": 1, "2.0": 2, "3.0": 3}.get(text[:3])
    if version is None:
        raise FmuError.in_file(path, f"FMI version {text}; the engine loads FMI 1.0, 2.0 and 3.0")
    if wrong := list(name_and_extent_faults(root)):
        raise FmuError.in_file(path, f"modelDescription.xml is not valid: {'; '.join(wrong)}")
    found = read_model_description(path, root, version, build if version == 3 else None)
    if found.faults or found.described is None:
        raise FmuError.in_file(
            path, f"modelDescription.xml is not valid: {'; '.join(found.faults)}"
        )
    return _Opened(found.described, found.flaws, root, names, version)


@lru_cache(maxsize=256)
@reads("the FMU cannot be read", FmuError)
def _read(path: Path, stamp: int, wanted: str | None, target: str | None) -> FmuDescription:
    opened = _open(path, stamp)
    described, version = opened.described, opened.version
    interface = _interface(path, described, wanted)
    if interface == "modelExchange" and version == 1:
        raise FmuError.in_file(
            path, "FMI 1.0 for Model Exchange; the engine integrates FMI 2.0 and 3.0"
        )
    description, variables = _describe(path, version, described, opened.root)
    if interface == "modelExchange":
        from orchestrator.core.simunits.fmi.model_exchange_unit import as_model_exchange

        description = as_model_exchange(description, described)
    if target is None:
        system, suffix = (platform.system(), platform.machine()), ".so"
        folder = (_FOLDERS_FMI3 if version == 3 else _FOLDERS).get(system, "-".join(system))
    else:
        folders, suffix = _OTHER_PLATFORMS[target]
        folder = folders[version == 3]
    return FmuDescription(
        path,
        description,
        {v.name: v.valueReference for v in described.modelVariables},
        described.guid or "",
        f"binaries/{folder}/{getattr(described, interface).modelIdentifier}{suffix}",
        version,
        interface[0].upper() + interface[1:],
        variables,
        any(v.is_structural or v.dimensions for v in variables.values()),
        _stated_tolerance(described),
        *_logged(described),
        target,
    )


def _logged(described: ModelDescription) -> tuple[bool, tuple[str, ...]]:
    """Return whether all messages are wanted, and else the categories that are turned on.

    PythonFMU gives its messages an empty category, and drops all if any is chosen: so none is,
    where those for warnings and errors are all that there are.
    """
    known = [category.name or "" for category in described.logCategories]
    serious = tuple(name for name in known if name in _ALWAYS_LOGGED)
    if serious and all(name in _ALWAYS_LOGGED or name == "logAll" for name in known):
        return True, ()
    return False, serious


def _stated_tolerance(described: ModelDescription) -> float | None:
    """Return the tolerance of the default experiment, where it is one that a solver can keep."""
    stated = described.defaultExperiment and described.defaultExperiment.tolerance
    with suppress(ValueError):
        if stated and 0.0 < (tolerance := float(stated)) < 1.0:
            return tolerance
    return None


def _interface(path: Path, described: ModelDescription, wanted: str | None) -> str:
    """Choose the interface by which the FMU is run, as an attribute."""
    known = {"cs": "coSimulation", "me": "modelExchange"}
    found = [key for key, name in known.items() if getattr(described, name, None) is not None]
    if not found:
        raise FmuError.in_file(path, "has neither a Co-Simulation nor a Model Exchange interface")
    if wanted is not None and wanted not in found:
        raise CapabilityError.in_file(
            path, f"has no interface '{wanted}'; it has: {', '.join(found)}"
        )
    return known[wanted or found[0]]


def _describe(
    path: Path, version: int, described: ModelDescription, root: etree._Element
) -> tuple[UnitDescription, dict[str, FmuVariable]]:
    """Describe by the version's own module, which is imported when an FMU has it."""
    match version:
        case 1:
            from orchestrator.core.simunits.fmi.fmi1_unit import describe_fmi1

            return describe_fmi1(path, described, root)
        case 2:
            from orchestrator.core.simunits.fmi.fmu_unit import describe_fmi2

            return describe_fmi2(described, root)
    from orchestrator.core.simunits.fmi.fmi3_unit import describe_fmi3

    return describe_fmi3(described, root)


#: So many flaws of one FMU are told.
_MOST_TOLD = 5


def flaw_notes(system: System) -> list[str]:
    """Say of every FMU file of a system once how its model description breaks rules of FMI."""
    notes = []
    for name, path, flaws in _flawed(system):
        more = f"; and {len(flaws) - _MOST_TOLD} more" if len(flaws) > _MOST_TOLD else ""
        notes.append(
            f"component '{name}' ({path.name}): its modelDescription.xml breaks rules of FMI, and"
            f" is used all the same: {'; '.join(flaws[:_MOST_TOLD])}{more}"
        )
    return notes


def expect_flawless(*systems: System) -> None:
    """Refuse FMUs whose model descriptions break rules of FMI, whether it does harm or not.

    Raises
    ------
    FmuError
        All of them together.
    """
    wrong = [
        f"component '{name}': {path}: modelDescription.xml breaks rules of FMI (refused since it"
        f" is to be strict): {'; '.join(flaws)}"
        for system in systems
        for name, path, flaws in _flawed(system)
    ]
    if wrong:
        raise FmuError("\n".join(dict.fromkeys(wrong)))


def _flawed(system: System) -> Iterator[tuple[str, Path, tuple[str, ...]]]:
    """Paths of components, their FMUs and the flaws of these; each file once."""
    first: dict[Path, str] = {}
    for name, path in _fmus(system):
        first.setdefault(path, name)
    yield from ((name, path, flaws) for path, name in first.items() if (flaws := flaws_of(path)))


def _fmus(system: System) -> Iterator[tuple[str, Path]]:
    for name, component in system.components.items():
        if component.source.kind is SourceKind.FMU:
            yield name, Path(component.source.location)
    for key, inner in system.systems.items():
        yield from ((f"{key}{SEPARATOR}{name}", path) for name, path in _fmus(inner))


_TERMINALS = "terminalsAndIcons/terminalsAndIcons.xml"
#: What is an effort; of a pair whose product is a power the other one is the flow.
_EFFORTS = ("N", "N.m", "V", "Pa")
#: What goes along with a flow.
_DISPLACEMENTS = ("m", "rad", "C", "m3")
_KINDS = {"inflow": Positive.IN, "outflow": Positive.OUT}


def power_ports(path: Path, connectors: Mapping[str, Connector]) -> dict[str, PowerPort]:
    """Return the terminals of an FMU whose members are efforts and flows, as power ports.

    A terminal counts if every effort among its members has one flow that goes in the opposite
    direction, with which it makes a power. Where a member is an inflow, the power counts into the
    component, as FMI 3.0 and Modelica have it; an outflow, out of it.
    """
    try:
        terminals = list(_terminals(path))
    except FmuError as error:
        _LOGGER.warning("terminals are not read: %s", error)
        return {}
    found = {}
    for name, members in terminals:
        ends = {
            variable: (connectors[variable], kind)
            for variable, kind in members
            if variable in connectors
            and connectors[variable].causality in {Causality.INPUT, Causality.OUTPUT}
            and connectors[variable].type is DataType.REAL
        }
        if (port := _port(name, [*ends.values()])) is not None:
            found[name] = port
    return found


def _terminals(path: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each terminal's name, with its variables' names and kinds; nested ones after theirs."""
    with open_archive(path, FmuError) as archive:
        if _TERMINALS not in archive.namelist():
            return
        content = read_entry(path, archive, _TERMINALS, FmuError)
    root = parse_xml(content, f"{path}: {_TERMINALS}", FmuError)
    for terminal in root.iter("Terminal"):
        within = [terminal, *terminal.iterancestors("Terminal")]
        names = [each.get("name", "") for each in reversed(within)]
        members = [
            (member.get("variableName", ""), member.get("variableKind", ""))
            for member in terminal.findall("TerminalMemberVariable")
        ]
        yield ".".join(names), members


def _port(name: str, ends: Sequence[tuple[Connector, str]]) -> PowerPort | None:
    efforts = [c for c, _ in ends if _measures(c, _EFFORTS)]
    pairs = pairs_of_power(efforts, [c for c, _ in ends if c not in efforts])
    kinds = {_KINDS[kind] for _, kind in ends if kind in _KINDS}
    if not pairs or [effort for effort, _ in pairs] != efforts or len(kinds) > 1:
        return None
    along = [c for c, _ in ends if _measures(c, _DISPLACEMENTS)]
    return port_of_pairs(name, pairs, along, kinds.pop() if kinds else None)


def _measures(connector: Connector, units: tuple[str, ...]) -> bool:
    """Whether a connector has the dimension of one of some units."""
    return connector.unit is not None and any(_converts(connector.unit, unit) for unit in units)


@cache
def _converts(unit: str, other: str) -> bool:
    try:
        conversion(unit, other)
    except UnitMismatchError:
        return False
    return True
