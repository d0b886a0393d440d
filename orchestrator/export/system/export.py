"""A whole system as one FMU."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Unpack

from orchestrator.core.diagnostics import CapabilityError, DescriptionError, FmuError
from orchestrator.core.files.archive import open_archive
from orchestrator.core.master import (
    DelayMode,
    ExecutionSettings,
    RunKeywords,
    Schedule,
    recordable,
    schedule_for,
)
from orchestrator.core.master.run.step_failure import expect_capabilities
from orchestrator.core.master.schedule.events import with_abilities
from orchestrator.core.master.schedule.input_hold import SINK, SOURCE, interior, with_boundary
from orchestrator.core.master.schedule.schedule import connector_at
from orchestrator.core.operating_system.platforms import Platform
from orchestrator.core.simunits import Capabilities, capabilities_of, read_fmu, resolve
from orchestrator.core.simunits.fmi.fmu_description import FmuDescription
from orchestrator.core.structs import replace
from orchestrator.core.system import (
    Causality,
    Component,
    DataType,
    Endpoint,
    SourceKind,
    System,
    kept_notes,
    whole_step_ns,
    with_starts,
)
from orchestrator.core.system.flatten import carried
from orchestrator.export import block_as_fmu
from orchestrator.export.archive.fmu_archive import guid_of
from orchestrator.export.recipe import names_of, platforms_of, this_platform
from orchestrator.export.system.description import describe, identifier_of
from orchestrator.export.system.interface import InterfaceBuilder, inner_fmus
from orchestrator.export.system.package import (
    TABLES,
    engine_library,
    expect_library,
    write_package,
    write_system,
)


def with_blocks_as_fmus(flat: System, folder: Path, platforms: Sequence[str] = ()) -> System:
    """Return a flat system in which every block is its FMU, as of ``softdock export block``."""
    problems: list[DescriptionError] = []
    for number, (name, component) in enumerate(flat.components.items()):
        if component.source.kind is not SourceKind.BLOCK:
            continue
        identifier = re.sub(r"\W", "_", name, flags=re.ASCII)
        try:
            replacement = _built(component, folder / str(number) / f"{identifier}.fmu", platforms)
        except DescriptionError as error:
            sentences = (f"component '{name}': its FMU: {text}" for text in error.problems)
            problems.append(type(error)(*sentences))
            continue
        except FmuError as error:
            raise FmuError(f"component '{name}': its FMU: {error}") from error
        flat = flat.replace(replacement)
    if problems:
        raise DescriptionError.collect(problems)
    return flat


def _built(component: Component, path: Path, platforms: Sequence[str]) -> Component:
    has_arrays = any(connector.shape for connector in component.connectors.values())
    path.parent.mkdir()
    version = "3.0" if has_arrays else "2.0"
    replacement = block_as_fmu(component, path, fmi=version, platforms=platforms)
    values = {
        key: value for key, value in component.values.items() if key in replacement.connectors
    }
    # What the block says of itself is planned with, so that it is stepped as in a run; its FMU may
    # know of fewer inputs that act at once.
    return replace(
        replacement,
        values=values,
        feedthrough=component.feedthrough,
        has_states=component.has_states,
    )


def expect_exportable(system: System, platforms: Sequence[Platform]) -> None:
    """Refuse what an exported FMU cannot hold."""
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
    if component.options.platform is not None:
        yield (
            f"{who} runs its FMU's library for {component.options.platform} under Wine, which an"
            " exported system does not start: use a build of the FMU for the platform of the export"
        )
        return
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
    missing = [platform.name for platform in platforms if not _has_binary(fmu, platform)]
    if missing:
        yield (
            f"{who} ({source.location}) has no binary for {', '.join(missing)}: build it with"
            f" --platform {','.join(dict.fromkeys(names_of((this_platform(), *platforms))))}"
        )
    others = [platform.name for platform in platforms if not platform.is_here]
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


_LOGGER = logging.getLogger(__name__)
#: The boundary of a system has all capabilities of a unit.
_BOUNDARY = Capabilities(can_roll_back=True, can_serialize=True)


def export_system(
    system: System,
    path: str | Path,
    *,
    fmi: int = 2,
    platforms: Sequence[str] = (),
    **keywords: Unpack[RunKeywords],
) -> Path:
    """Write a system as one FMU for Co-Simulation, which runs without Softdock.

    Its Python blocks become FMUs inside: C code where they can (a compiler is needed then), else,
    with a warning, Python that the machine must have. Its inputs, outputs and parameters are the
    system's own connectors; outputs inside are local variables, parameters inside are parameters,
    by names such as ``arm.motor.speed``. For the same step it gives the values that
    :class:`~orchestrator.core.master.Execution` gives.

    Parameters
    ----------
    system
        What to export; it may hold systems.
    path
        The FMU; an older one is replaced as a whole.
    fmi
        Version of FMI, 2 or 3.
    platforms
        As for :func:`~orchestrator.export.build_model`; all FMUs inside must have binaries for
        them, and for this machine.
    **given
        How it is stepped: ``step``, ``algorithm``, ``algorithm_options``, ``rates``, ``delay``,
        ``faults``, ``early_return``; see :class:`orchestrator.Execution`.

    Returns
    -------
    Path
        Of the FMU.

    Raises
    ------
    DescriptionError
        If the system is wrong, or holds what an FMU cannot: all components together.
    SoftdockError
        If an inner FMU cannot be read or the FMU cannot be written.
    """
    expect_library()
    if fmi not in {2, 3}:
        raise DescriptionError(f"version of FMI: expected 2 or 3, found {fmi!r}")
    settings, target = ExecutionSettings.of(system, **keywords), Path(path)
    with TemporaryDirectory(prefix="softdock-export-") as folder:
        for_platforms = platforms_of(platforms)
        flat = _checked(system, settings.mode, Path(folder), for_platforms)
        step_ns = whole_step_ns(flat, settings.step, "an exported system")
        _write(flat, _scheduled(flat, step_ns, settings), target, fmi, for_platforms)
    return target


def _scheduled(flat: System, step_ns: int, settings: ExecutionSettings) -> Schedule:
    schedule = schedule_for(flat, settings, step_ns, _numbers(flat))
    abilities = [
        _BOUNDARY if m.name in (SOURCE, SINK) else capabilities_of(flat.components[m.name])
        for m in schedule.members
    ]
    # Nothing outside takes part in the events inside.
    inside = replace(with_boundary(flat), connections=interior(flat).connections)
    schedule = with_abilities(inside, schedule, abilities, early_return=settings.early_return)
    expect_capabilities(schedule, abilities)
    return schedule


def _checked(
    system: System, mode: DelayMode, folder: Path, platforms: Sequence[Platform]
) -> System:
    """Refuse what cannot go in, and let blocks become FMUs in a folder."""
    flat, starts = with_starts(resolve(system).flat(), closed=False)
    for text in kept_notes(starts):
        _LOGGER.warning("system '%s': %s", system.name, text)
    expect_exportable(flat, platforms)
    flat = with_blocks_as_fmus(flat, folder, names_of((this_platform(), *platforms)))
    if mode is DelayMode.PLAIN:
        flat = flat.without_zero_delays()  # nothing to take a step's own delay off
    return _with_parameters(flat.check(algebraic_loops=True))


def _with_parameters(flat: System) -> System:
    """Give what own parameters feed their values, unless a component sets it itself."""
    for line in flat.connections:
        source = flat.connectors.get(line.source.connector)
        if line.source.component or source is None or source.causality is not Causality.PARAMETER:
            continue
        component = flat.components[line.target.component]
        value = flat.values.get(source.name, source.start)
        target = component.connectors[line.target.connector]
        held = None if value is None else carried(value, [line], [source, target])
        if held is not None and target.name not in component.values:
            flat = flat.replace(component.with_values({target.name: held}))
    return flat


def _numbers(flat: System) -> list[str]:
    """All outputs inside but clocks, which tick between the steps."""
    inside = interior(flat)
    return [
        name
        for name in recordable(inside, None)
        if connector_at(inside, Endpoint.parse(name)).type is not DataType.CLOCK
    ]


def _write(
    flat: System, schedule: Schedule, path: Path, fmi: int, platforms: Sequence[Platform]
) -> None:
    fmus = inner_fmus(flat, schedule)
    variables = InterfaceBuilder(flat, schedule, fmus).variables(arrays=fmi == 3)
    arguments = (flat, schedule, fmus, variables, fmi)
    # The same system gives the same token, and another system or engine another one.
    content = [
        *(engine_library(platform).read_bytes() for platform in platforms),
        write_system("", schedule, fmus, variables),
        describe(*arguments, token=""),
    ]
    digest = sha256(b"".join(sha256(part).digest() for part in content)).hexdigest()
    token = guid_of({"key": digest})
    files = {
        "modelDescription.xml": describe(*arguments, token=token),
        TABLES: write_system(token, schedule, fmus, variables),
    }
    write_package(path, fmi, identifier_of(flat), files, fmus, platforms)
