"""Reading of an FMU's model description as what the system graph and the engine need."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from os.path import normpath
from pathlib import Path

from lxml import etree

from orchestrator.core.diagnostics import (
    DescriptionError,
    FmuError,
    UnitMismatchError,
    counted,
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
    Causality,
    Connector,
    DataType,
    Positive,
    PowerPort,
    Value,
    conversion,
)
from orchestrator.core.system.power_lines import pairs_of_power, port_of_pairs

_LOGGER = logging.getLogger(__name__)
_BUILD = "sources/buildDescription.xml"
#: Relative tolerance of the integration of a Model Exchange FMU that states none.
DEFAULT_TOLERANCE = 1e-6


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

    def relative_tolerance(self, tolerance: float | None) -> float | None:
        """Return the relative tolerance of an instance; ``chosen`` is the component's option.

        ``None``: the FMU's own solver takes its own; FMI 1.0 has no way to hand one over.
        """
        if self.version == 1:
            return None
        if tolerance is None:
            tolerance = self.tolerance
        is_ours = self.interface == "ModelExchange"
        return DEFAULT_TOLERANCE if tolerance is None and is_ours else tolerance

    def shaped(self, values: Mapping[str, Value]) -> FmuDescription:
        """Return the description of an instance whose structural parameters have other values."""
        if not self.is_resizable:
            return self
        connectors = dict(self.description.connectors)
        sizes: dict[str, Value] = {}
        extents = {end for variable in self.variables.values() for end in variable.dimensions}
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


class OpenedFmu(Struct):
    """What the archive of an FMU holds: its description, flaws, the XML, names of entries."""

    described: ModelDescription
    flaws: tuple[str, ...]
    root: etree._Element
    names: frozenset[str]
    version: int


def open_description(path: Path) -> ModelDescription:
    """Return an FMU's model description; raises as :func:`read_fmu`."""
    return open_fmu(path, stamp_of(path)).described


def stamp_of(path: Path) -> int:
    """Time at which a file changed last, in nanoseconds; raises FmuError where there is none."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        advice = f"build it ({_build_command([path])}) or correct the component's source"
        raise FmuError.in_file(path, f"no such FMU; {advice}") from None


def missing_fmus(components: Mapping[str, Path]) -> DescriptionError:
    """Make one error of several components whose FMUs do not exist."""
    users: dict[Path, list[str]] = {}
    for name, path in components.items():
        users.setdefault(path, []).append(f"'{name}'")
    listed = [f"{path} ({', '.join(names)})" for path, names in users.items()]
    return DescriptionError(
        f"{counted(len(components), 'component')} need FMUs that do not exist:"
        f" {', '.join(listed)}; build them ({_build_command(list(users))})"
        " or correct the sources of the components"
    )


def _build_command(paths: Sequence[Path]) -> str:
    """Say how to build FMUs, and what that needs if it is not installed."""
    expected = [
        Path(normpath(path.parent / ".." / f"{path.name.partition('.')[0]}.toml")) for path in paths
    ]
    recipes = [recipe for recipe in expected if recipe.is_file()]
    if not recipes:
        return "`softdock build`"
    folders = dict.fromkeys(recipe.parent for recipe in recipes)
    targets = recipes if len(recipes) == 1 else folders
    needs = f", after {install_line('modelica')}" if missing_module("casadi") else ""
    return f"{' and '.join(f'`softdock build {target}`' for target in targets)}{needs}"


@lru_cache(maxsize=256)
@reads("the FMU cannot be read", FmuError)
def open_fmu(path: Path, stamp: int) -> OpenedFmu:  # noqa: ARG001 - the stamp renews the cache
    """Read the model description of an FMU, and the names of its files, once for each stamp."""
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
    if ambiguous := list(name_and_extent_faults(root)):
        raise FmuError.in_file(path, f"modelDescription.xml is not valid: {'; '.join(ambiguous)}")
    reading = read_model_description(path, root, version, build if version == 3 else None)
    if reading.faults or reading.described is None:
        raise FmuError.in_file(
            path, f"modelDescription.xml is not valid: {'; '.join(reading.faults)}"
        )
    return OpenedFmu(reading.described, reading.flaws, root, names, version)


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
    ports = {}
    for name, members in terminals:
        ends = {
            variable: (connectors[variable], kind)
            for variable, kind in members
            if variable in connectors
            and connectors[variable].causality in {Causality.INPUT, Causality.OUTPUT}
            and connectors[variable].type is DataType.REAL
        }
        if (port := _port(name, [*ends.values()])) is not None:
            ports[name] = port
    return ports


def _terminals(path: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each terminal's name, with its variables' names and kinds; nested ones after theirs."""
    with open_archive(path, FmuError) as archive:
        if _TERMINALS not in archive.namelist():
            return
        content = read_entry(path, archive, _TERMINALS, FmuError)
    root = parse_xml(content, f"{path}: {_TERMINALS}", FmuError)
    for terminal in root.iter("Terminal"):
        within = [terminal, *terminal.iterancestors("Terminal")]
        names = [terminal.get("name", "") for terminal in reversed(within)]
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
def _converts(unit: str, target: str) -> bool:
    try:
        conversion(unit, target)
    except UnitMismatchError:
        return False
    return True
