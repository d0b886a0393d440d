"""Reading of FMU files: descriptions by version and interface, and what is wrong with them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from lxml import etree

from orchestrator.core.diagnostics import (
    CapabilityError,
    FmuError,
)
from orchestrator.core.diagnostics.reading import reads
from orchestrator.core.operating_system.platforms import OF_32_BITS, here, machine, platform_named
from orchestrator.core.simunits.fmi.description_parts import ModelDescription
from orchestrator.core.simunits.fmi.fmu_description import (
    FmuDescription,
    open_fmu,
    stamp_of,
)
from orchestrator.core.simunits.fmi.fmu_variable import FmuVariable
from orchestrator.core.simunits.protocol import UnitDescription
from orchestrator.core.system import (
    SEPARATOR,
    Component,
    SourceKind,
    System,
)

_LOGGER = logging.getLogger(__name__)
#: Categories of FMI 2.0 and 3.0 that say what went wrong; all others are for debugging.
_ALWAYS_LOGGED = frozenset(
    {"logStatusWarning", "logStatusDiscard", "logStatusError", "logStatusFatal"}
)


#: Platforms whose libraries run on another one, under Wine.
_UNDER_WINE = ("win64",)


def read_fmu(
    path: Path,
    interface: str | None = None,
    platform: str | None = None,
    *,
    runnable: bool = True,
) -> FmuDescription:
    """Read and check an FMU that the engine is to run, by its library for some platform."""
    stamp = stamp_of(path)
    description = _read(path, stamp, interface, platform)
    names = open_fmu(path, stamp).names
    if runnable and description.library not in names:
        there = sorted({n.split("/")[1] for n in names if n.startswith("binaries/") and n[9:]})
        others = [
            name
            for name in _UNDER_WINE
            if name != platform
            and not platform_named(name).is_here
            and _read(path, stamp, interface, name).library in names
        ]
        hint = f"; platform = '{others[0]}' runs that one under Wine" if others else ""
        if there and OF_32_BITS.issuperset(there):
            hint = "; a 32-bit library runs nowhere here: ask for a 64-bit build"
        raise FmuError.in_file(
            path,
            f"no binary for {'this machine' if platform is None else platform}: expected"
            f" '{description.library}', found platforms: {', '.join(there) or 'none'}{hint}",
        )
    return description


def fmu_of(component: Component, *, runnable: bool = True) -> FmuDescription:
    """Read and check the FMU of a component, by the interface and platform of its options."""
    options = component.options
    path = Path(component.source.location)
    return read_fmu(path, options.interface, options.platform, runnable=runnable)


def flaws_of(path: str | Path) -> tuple[str, ...]:
    """Return the flaws of an FMU's model description that do not prevent it from running.

    Raises
    ------
    FmuError
        As :func:`read_fmu`, except that a library for this machine is not required.
    """
    path = Path(path)
    return open_fmu(path, stamp_of(path)).flaws


@lru_cache(maxsize=256)
@reads("the FMU cannot be read", FmuError)
def _read(path: Path, stamp: int, requested: str | None, target: str | None) -> FmuDescription:
    opened = open_fmu(path, stamp)
    described, version = opened.described, opened.version
    interface = _interface(path, described, requested)
    if interface == "modelExchange" and version == 1:
        raise FmuError.in_file(
            path, "FMI 1.0 for Model Exchange; the engine integrates FMI 2.0 and 3.0"
        )
    description, variables = _describe(path, version, described, opened.root)
    if interface == "modelExchange":
        from orchestrator.core.simunits.fmi.model_exchange_unit import as_model_exchange

        description = as_model_exchange(description, described)
    runs_on = here() if target is None else platform_named(target)
    if runs_on is None:
        raise FmuError.in_file(
            path, f"FMI has no folder for this machine ({' on '.join(machine())})"
        )
    identifier = getattr(described, interface).modelIdentifier
    return FmuDescription(
        path,
        description,
        {v.name: v.valueReference for v in described.modelVariables},
        described.guid or "",
        f"{runs_on.folder(str(version))}/{identifier}{runs_on.suffix}",
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
    categories = [category.name or "" for category in described.logCategories]
    serious = tuple(name for name in categories if name in _ALWAYS_LOGGED)
    if serious and all(name in _ALWAYS_LOGGED or name == "logAll" for name in categories):
        return True, ()
    return False, serious


def _stated_tolerance(described: ModelDescription) -> float | None:
    """Return the tolerance of the default experiment, where it is one that a solver can keep."""
    stated = described.defaultExperiment and described.defaultExperiment.tolerance
    with suppress(ValueError):
        if stated and 0.0 < (tolerance := float(stated)) < 1.0:
            return tolerance
    return None


def _interface(path: Path, described: ModelDescription, requested: str | None) -> str:
    """Choose the interface by which the FMU is run, as an attribute."""
    attributes = {"cs": "coSimulation", "me": "modelExchange"}
    available = [
        key for key, name in attributes.items() if getattr(described, name, None) is not None
    ]
    if not available:
        raise FmuError.in_file(path, "has neither a Co-Simulation nor a Model Exchange interface")
    if requested is not None and requested not in available:
        raise CapabilityError.in_file(
            path, f"has no interface '{requested}'; it has: {', '.join(available)}"
        )
    return attributes[requested or available[0]]


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


#: Number of flaws that are reported for one FMU.
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
    """Refuse FMUs whose model descriptions break any rule of FMI, even a harmless one.

    Raises
    ------
    FmuError
        If there are such FMUs; the message lists all of them.
    """
    faults = [
        f"component '{name}': {path}: modelDescription.xml breaks rules of FMI (refused since it"
        f" is to be strict): {'; '.join(flaws)}"
        for system in systems
        for name, path, flaws in _flawed(system)
    ]
    if faults:
        raise FmuError("\n".join(dict.fromkeys(faults)))


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
