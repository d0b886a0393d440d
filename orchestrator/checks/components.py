"""Components: their sources opened, compared with what is declared, and what an algorithm asks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from importlib.util import find_spec
from math import isclose
from pathlib import Path

from orchestrator.checks.context import Compiled, finding, of_error
from orchestrator.core.diagnostics import (
    CapabilityError,
    DescriptionError,
    Diagnostic,
    SoftdockError,
    UnitMismatchError,
)
from orchestrator.core.diagnostics.errors import Code, error, note, warning
from orchestrator.core.master import missing_capabilities
from orchestrator.core.optional_packages import missing_module
from orchestrator.core.simunits import (
    as_declared,
    component_of,
    description_of,
    differences,
    isolate,
    open_description,
    read_fmu,
    under_wine,
)
from orchestrator.core.structs import replace
from orchestrator.core.system import (
    SEPARATOR,
    Backend,
    Causality,
    Component,
    Connector,
    SourceKind,
    System,
    conversion_between,
)
from orchestrator.core.system.source import UnopenedError, stays_unopened, unopened_note

CODES: tuple[Code, ...] = (
    error(
        "FMU101",
        "the FMU does not exist",
        "The source of a component is a file that does not exist, or is missing in the archive."
        " Build it (`softdock build`), copy it there, or correct the source.",
        "SSP 1.0.1, 5.4",
    ),
    error(
        "FMU102",
        "the FMU cannot be read",
        "The file is not a zip archive, or has no usable modelDescription.xml: it is damaged, of"
        " another version than FMI 1.0, 2.0 and 3.0, or wrong in something that matters, such as"
        " names, value references, types, causalities and values of variables. Harmless violations"
        " are FMU104.",
        "FMI 2.0.4, 2.2",
    ),
    error(
        "FMU103",
        "no binary for this machine",
        "The FMU has no library for this operating system and processor. The check covers"
        " everything else. Request a build for this platform.",
        "FMI 2.0.4, 2.3",
    ),
    error(
        "FMU105",
        "a declared connector is not in the source",
        "The system declares a connector that the FMU or block does not have: the name is"
        " misspelled, or a new export of the FMU has other names. Correct the name or the FMU.",
        "SSP 1.0.1, 5.2.1",
    ),
    error(
        "FMU106",
        "a declared connector differs from that of the source",
        "Causality, type, shape or unit of a connector differ between system and FMU. A run uses"
        " those of the FMU.",
        "SSP 1.0.1, 5.2.1",
    ),
    error(
        "CAP103",
        "an option of a component is not available",
        "The FMU does not have the chosen interface (`cs`, `me`), solver, tolerance or debugging,"
        " or the component does not use the option.",
    ),
    error(
        "CAP106",
        "the back-end is not installed",
        "A component needs PyFMI or FMPy, and that package is not installed.",
    ),
    error(
        "CAP108",
        "a block is not available",
        "A component is a Python block under a name that no installed package registers (entry"
        " points `softdock.blocks`), or of a file or module that does not exist, fails or has no"
        " such class; or the block assigns a name that it does not declare.",
    ),
    warning(
        "FMU112",
        "a connector is declared in another unit than the source has",
        "The units convert, but an FMU gives numbers in its own unit: the declaration only tells"
        " Softdock how to read them. One of the two is probably wrong.",
        "SSP 1.0.1, 4.5.1",
    ),
    note(
        "CAP112",
        "the code of a block was not opened",
        "A component is a Python file in an archive (.ssp), which a check does not execute; with"
        " --no-code, any file or module that the system names. Softdock uses the component as"
        " declared, and does not check steps, loops and capabilities. A run executes the file:"
        " read it first.",
    ),
    note(
        "FMU111",
        "the system declares only some inputs of the FMU",
        "The FMU has inputs that the system does not declare, although it declares others: they"
        " keep their start values. Declare and connect them, or leave them.",
        "SSP 1.0.1, 5.2.1",
    ),
    error(
        "CAP101",
        "a step cannot be repeated",
        "The algorithm repeats steps (it iterates a loop, or controls its step), and the"
        " component cannot return to a saved state. The message names alternatives.",
        "FMI 2.0.4, 4.3.1",
    ),
    error(
        "CAP102",
        "the step cannot vary",
        "The algorithm varies its steps, and the component takes only equal steps.",
        "FMI 2.0.4, 4.3.1",
    ),
    error(
        "CAP104",
        "the algorithm or one of its options is unknown or does not fit",
        "No algorithm has that name (entry points `softdock.algorithms`), it has no such option,"
        " or the option needs something that the components do not provide, such as directional"
        " derivatives.",
    ),
    error(
        "CAP105",
        "an input cannot be extrapolated with this algorithm",
        "A connection extrapolates its signal over the step, but the algorithm updates inputs in"
        " its own way, or the component has a rate of its own.",
    ),
    error(
        "CAP114",
        "an input cannot be compensated with this algorithm",
        "A connection has a compensation, which corrects in a step the error of the previous"
        " step. The algorithm repeats steps, varies them, or updates inputs in its own way; or a"
        " component has a rate of its own, its signal changes only at events, or it has no"
        " directional derivatives for a corrector.",
    ),
    error(
        "CAP109",
        "the master cannot compile the system",
        "The master refuses the system when it compiles it for its algorithm: signals cannot be"
        " delayed, clocks never tick, or histories do not fit into memory.",
    ),
    error(
        "CAP107",
        "options of processes contradict each other",
        "A component without a process of its own has options of a process, or several components"
        " share one process although their FMU can be instantiated only once per process.",
    ),
    note(
        "CAP110",
        "components that get processes of their own",
        "The system has several instances of an FMU that can be instantiated only once per"
        " process.",
        "FMI 2.0.4, 4.3.1",
    ),
    note(
        "CAP116",
        "a component runs under Wine",
        "The option `platform` runs the 64-bit Windows library of the FMU on Linux. Each step is"
        " a round trip to another process and has no guaranteed duration. The message states the"
        " duration that 99.9 % of its steps kept in its last real-time run on this machine.",
    ),
    note(
        "CAP111",
        "an FMU with event mode is run without it",
        "Only the engine, in its own process, handles event mode of several FMUs together.",
        "FMI 3.0, 4.2",
    ),
)


def opened(system: System, path: str = "") -> tuple[System, list[Diagnostic], frozenset[str]]:
    """Complete the connectors of all components, as far as sources can be opened."""
    diagnostics: list[Diagnostic] = []
    unknown: set[str] = set()
    components: dict[str, Component] = {}
    here = f"{path}{SEPARATOR}" if path else ""
    for name, component in system.components.items():
        resolved, problems = _component(component, here + name)
        diagnostics += problems
        components[name] = resolved or component
        if resolved is None:
            unknown.add(here + name)
    nested: dict[str, System] = {}
    for name, inner in system.systems.items():
        nested[name], problems, more = opened(inner, here + name)
        diagnostics += problems
        unknown |= more
    return replace(system, components=components, systems=nested), diagnostics, frozenset(unknown)


def _component(component: Component, at: str) -> tuple[Component | None, list[Diagnostic]]:
    source = component.source
    if source.packed or stays_unopened(source):
        return None, [finding("CAP112", at, unopened_note(source))]
    findings = list(unusable(component, at))
    try:
        resolved = component_of(
            source,
            component.name,
            component.values,
            component.options,
            runnable=False,
            like=component,
        )
    except UnopenedError as failure:  # such as the block in a twin
        return None, [*findings, finding("CAP112", at, str(failure))]
    except CapabilityError as failure:
        return None, [*findings, finding("CAP103", at, str(failure))]
    except DescriptionError as failure:
        code = "VAL103" if source.kind is SourceKind.FMU else "CAP108"
        return None, [*findings, finding(code, at, str(failure))]
    except SoftdockError as failure:
        code = "FMU102" if source.kind is SourceKind.FMU else "CAP108"
        return None, findings or [finding(code, at, str(failure))]
    for problem in differences(component, resolved):
        findings += of_error(problem, at.rpartition(SEPARATOR)[0])
    findings += _undeclared(component, resolved, at)
    connectors = {**component.connectors, **resolved.connectors}
    for name, declared in component.connectors.items():
        findings += _other_unit(connectors[name], declared, at)
        connectors[name] = as_declared(connectors[name], declared, resolved)
    ports = {**resolved.power_ports, **component.power_ports}
    return replace(
        resolved, connectors=connectors, values=component.values, power_ports=ports
    ), findings


def _other_unit(connector: Connector, declared: Connector, at: str) -> Iterator[Diagnostic]:
    """Say where the system declares another unit than the source, that converts."""
    if connector.unit is None or declared.unit in {None, connector.unit}:
        return
    try:
        factor, offset = conversion_between(declared, connector)
    except UnitMismatchError:
        return  # it is among the differences
    if not (isclose(factor, 1.0) and isclose(offset, 0.0, abs_tol=1e-12)):
        text = f"declared in '{declared.unit}', the source has '{connector.unit}'"
        yield finding(
            "FMU112", f"{at}.{connector.name}", f"{text}; values are taken for the former"
        )


def unusable(component: Component, at: str) -> Iterator[Diagnostic]:
    """Say why an FMU cannot be used, if anything; blocks are not looked at."""
    if component.source.kind is not SourceKind.FMU:
        return
    path = Path(component.source.location)
    if not path.is_file():
        text = f"{path}: no such FMU; build it, copy it there, or correct the source"
        yield finding("FMU101", at, text)
        return
    try:
        open_description(path)
    except SoftdockError as failure:
        yield finding("FMU102", at, str(failure))
        return
    try:
        read_fmu(path, component.options.interface, component.options.platform)
    except CapabilityError:
        return  # told with the options
    except SoftdockError as failure:
        yield finding("FMU103", at, str(failure))
    package = {Backend.FMPY: "fmpy", Backend.PYFMI: "pyfmi"}.get(component.backend)
    if package is not None and find_spec(package) is None:
        reason = missing_module(package) or f"the package {package} is not installed"
        text = f"back-end '{component.backend}': {reason}"
        yield finding("CAP106", at, text)


def _undeclared(declared: Component, component: Component, at: str) -> Iterator[Diagnostic]:
    if not declared.connectors:
        return
    missing = [c.name for c in component.of(Causality.INPUT) if c.name not in declared.connectors]
    if missing:
        yield finding(
            "FMU111", at, f"inputs that the system does not declare: {', '.join(missing)}"
        )


def check(compiled: Compiled) -> Iterator[Diagnostic]:
    """Check what the algorithm asks of the components."""
    for problem in compiled.refused:
        if problem.code != "LOO102":  # told with the loops
            yield problem
    components = compiled.system.components
    if compiled.schedule is not None:
        abilities = [
            description_of(components[member.name], runnable=False).capabilities
            for member in compiled.schedule.members
        ]
        for refusal in missing_capabilities(compiled.schedule, abilities):
            yield from of_error(refusal)
    yield from _processes(compiled.system)
    for name, component in components.items():
        yield from _events(name, component)
        yield from _under_wine(name, component)


def _processes(system: System) -> Iterator[Diagnostic]:
    try:
        isolated, notes = isolate(system)
        under_wine(system)
    except DescriptionError as error:
        yield from of_error(error, code="CAP107")
        return
    by_source: dict[str, list[str]] = defaultdict(list)
    for name, component in isolated.components.items():
        if component.options != system.components[name].options:
            by_source[component.source.location].append(name)
    for names, text in zip(by_source.values(), notes, strict=True):
        yield finding("CAP110", names[0], text)


def _under_wine(name: str, component: Component) -> Iterator[Diagnostic]:
    platform = component.options.platform
    if platform is not None:
        from orchestrator.core.simunits.fmi.wine import measured_text

        times = measured_text(component.source.location)
        yield finding("CAP116", name, f"platform '{platform}' runs under Wine: {times}")


def _events(name: str, component: Component) -> Iterator[Diagnostic]:
    if component.source.kind is not SourceKind.FMU or component.shares_events:
        return
    can = description_of(component, runnable=False).capabilities
    if can.has_event_mode:
        how = "in a process of its own"
        if not component.options.runs_apart:
            how = f"by the back-end '{component.backend}'"
        yield finding("CAP111", name, f"it has an event mode, which is not used: it runs {how}")
