"""What a system may not hold to become an FMU; every component is named with a way out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from orchestrator.core.archive import open_archive
from orchestrator.core.diagnostics import CapabilityError, FmuError
from orchestrator.core.simunits import read_fmu
from orchestrator.core.simunits.fmi.fmu_description import FmuDescription
from orchestrator.core.system import Component, DataType, SourceKind, System
from orchestrator.export.platforms import Platform, names_of, this_platform


def expect_exportable(system: System, platforms: Sequence[Platform]) -> None:
    """Refuse what an exported FMU cannot hold.

    Parameters
    ----------
    system
        Flat and resolved.
    platforms
        That the FMU shall run on.

    Raises
    ------
    CapabilityError
        All refusals together.
    """
    problems = [
        problem for c in system.components.values() for problem in _of_component(c, platforms)
    ]
    problems += _once_per_process(system)
    problems += [
        f"connector '{name}' of system '{system.name}' is a clock: the exported FMU has no event"
        " mode; remove it"
        for name, connector in system.connectors.items()
        if connector.type is DataType.CLOCK
    ]
    if not system.components:
        problems.append(f"system '{system.name}' has no components: there is nothing to export")
    if problems:
        raise CapabilityError(*problems)


def _of_component(component: Component, platforms: Sequence[Platform]) -> Iterator[str]:
    who, source = f"component '{component.name}'", component.source
    if component.options.isolation == "process":
        yield (
            f"{who} runs in a process of its own, which an FMU does not start: leave its isolation"
            " out"
        )
    if source.kind is not SourceKind.FMU:
        return
    if component.options.backend != "native":
        yield (
            f"{who} is run by '{component.options.backend}', and an exported system has the native"
            " engine only: leave its back-end out"
        )
    fmu = read_fmu(Path(source.location), component.options.interface)
    if fmu.version == 1:
        yield (
            f"{who} ({source.location}) is an FMU of FMI 1.0, which has no initialization mode to"
            " be led through: build it for FMI 2.0 or 3.0"
        )
        return
    missing = [each.name for each in platforms if not _has_binary(fmu, each)]
    if missing:
        yield (
            f"{who} ({source.location}) has no binary for {', '.join(missing)}: build it with"
            f" --platform {','.join(dict.fromkeys(names_of((this_platform(), *platforms))))}"
        )
    others = [each.name for each in platforms if not each.is_here]
    if others and component.options.solver == "cvode":
        yield (
            f"{who} is integrated by cvode, whose libraries are those of this machine and not of"
            f" {', '.join(others)}: choose the solver dopri5"
        )


def _has_binary(fmu: FmuDescription, platform: Platform) -> bool:
    library = f"{PurePosixPath(fmu.library).stem}{platform.suffix}"
    with open_archive(fmu.path, FmuError) as archive:
        return f"{platform.folder(f'{fmu.version}.0')}/{library}" in archive.namelist()


def _once_per_process(system: System) -> list[str]:
    users = Counter(
        c.source.location for c in system.components.values() if c.source.kind is SourceKind.FMU
    )
    return [
        f"{count} components are made from {location}, which can be instantiated only once per"
        " process (canBeInstantiatedOnlyOncePerProcess): give each an FMU of its own"
        for location, count in users.items()
        if count > 1 and read_fmu(Path(location)).description.capabilities.once_per_process
    ]
