"""Delays that devices and their twins add to the declared delays of a case."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from orchestrator.core.diagnostics import DescriptionError, Diagnostic, Severity, SoftdockError
from orchestrator.core.simunits import component_of
from orchestrator.core.simunits.registry import clock_ns
from orchestrator.core.structs import Struct, field, replace
from orchestrator.core.system import (
    Component,
    Connection,
    Source,
    SourceKind,
    System,
    TransportDelay,
    connection_name,
)
from orchestrator.rig.devices.registry import read_address
from orchestrator.rig.hardware.line_delay import (
    declared_otherwise,
    device_lines,
    identified_delay,
    in_ms,
    is_of_other,
    line_delay_ns,
    line_delays,
    with_device_delays,
)
from orchestrator.rig.hardware.twin_file import SignalPair, TwinFile
from orchestrator.rig.hardware.twins import twin_of
from orchestrator.study import Experiment
from orchestrator.study.experiment import Case
from orchestrator.study.prepare.prepared_case import RunSettings

#: A delay that is counted twice; one that identification found otherwise; a twin of other hardware.
TWICE, OTHERWISE, STRANGER = "TIM114", "TIM115", "CAP115"
#: A delay of the run that comes on top of that of a device.
ON_TOP = "TIM117"
#: Errors of this module, which a check passes on as they are.
ERRORS = (TWICE, STRANGER)


class Hardware(Struct):
    """What the cases of an experiment say of its rig.

    physical: Lines that hardware makes in some case.
    adapters: Adapters of each component in some case.
    clock: The component whose samples are the clock of runs; ``None``: the computer's is.
    twins: Sources of twins that stand in some case, or arm one, by component.
    """

    physical: Collection[str] = ()
    adapters: Mapping[str, Collection[str]] = field(default_factory=dict)
    clock: str | None = None
    twins: Mapping[str, Source] = field(default_factory=dict)

    @classmethod
    def of(cls, experiment: Experiment | Case, folder: Path) -> Hardware:
        """Read it off an experiment whose paths are relative to a folder, or off a case alone."""
        if isinstance(experiment, Case):
            return cls(_physical(experiment))
        sources = [(name, text.partition(":")) for name, text in experiment.stand_ins]
        adapters: dict[str, set[str]] = {}
        for case in experiment.case.values():
            for name, table in case.devices.items():
                if table.device is not None:
                    adapters.setdefault(name, set()).add(table.device)
        for name, (kind, _, at) in sources:
            if kind == SourceKind.DEVICE:
                adapters.setdefault(name, set()).add(at.partition("?")[0])
        return cls(
            _physical(*experiment.case.values()),
            adapters,
            experiment.realtime.clock if experiment.realtime else None,
            {
                name: Source(SourceKind.TWIN, at).resolved(folder)
                for name, (kind, _, at) in sources
                if kind == SourceKind.TWIN
            },
        )


def _physical(*cases: Case) -> frozenset[str]:
    return frozenset(connection_name(line) for case in cases for line in case.physical)


def prepared_on_hardware(
    system: System, experiment: Experiment | Case, folder: Path, case: Case, settings: RunSettings
) -> System:
    """Call :func:`on_hardware` with the tables of a rig and the delays of a case.

    Lines whose delays are set together with what stands in a place, or later, are beside it; others
    were declared when something else stood there.
    """
    later = {connection_name(line) for line in settings.delays}
    case_lines = {connection_name(line) for line in case.delays} | later
    lines_of = dict.fromkeys((*case.swap, *case.devices), case_lines) | dict.fromkeys(
        settings.swaps, later
    )
    return on_hardware(system, Hardware.of(experiment, folder), lines_of)


def on_hardware(
    system: System, hardware: Hardware, declared: Mapping[str, Collection[str]]
) -> System:
    """Let twins bring what their devices bring, and expect that no line declares it once more.

    A response that hardware carries on comes without transit; lines of it that the run reads are
    later by that. ``beside`` has lines by component, but of what the system's own file puts there.
    """
    problems: list[Diagnostic] = []
    for name, component in system.components.items():
        lines = declared.get(name, ())
        if component.source.kind is SourceKind.DEVICE:
            problems += _twice_by_device(component, system, lines)
            system = _as_late(system, component, hardware)
        elif component.source.kind is SourceKind.TWIN:
            system, twin_problems = _with_twin(system, component, hardware, lines)
            problems += twin_problems
    if problems:
        raise DescriptionError(*problems)
    return system


def _as_late(system: System, component: Component, hardware: Hardware) -> System:
    """Let a device be as late as its twin at hand, so that loops of the run count that."""
    twin = _twin_at_hand(component.name, hardware)
    if twin is None or twin.device != read_address(component.source.location)[0]:
        return system
    return with_device_delays(system, line_delays(system, system, [component.name], [twin]))


def _twin_at_hand(name: str, hardware: Hardware) -> TwinFile | None:
    """Return the twin that stands for a component in some case; ``None``: none can be read.

    The case that has the twin says why it cannot be read.
    """
    source = hardware.twins.get(name)
    if source is None:
        return None
    try:
        twin = twin_of(source.on_rig((), own_clock=name == hardware.clock))
    except SoftdockError:
        return None
    return twin.model_copy(update={"component": name})


def _with_twin(
    system: System, component: Component, hardware: Hardware, declared: Collection[str]
) -> tuple[System, list[Diagnostic]]:
    own_clock = component.name == hardware.clock
    source = component.source.on_rig((), own_clock=own_clock)
    read_twin = twin_of(source)
    if strange := _strange(system, component, read_twin, hardware):
        return system, [strange]
    twin = read_twin.model_copy(update={"component": component.name})
    lines = list(device_lines(system, twin))
    hardware_responses = {
        pair.response for line, pair, _ in lines if str(line) in hardware.physical
    }
    physical = {
        str(line)
        for line, pair, _ in lines
        if str(line) in hardware.physical
        or pair.response in {*source.physical} - hardware_responses
    }
    problems = list(_twice_by_twin(system, twin, source, physical, declared))
    source = source.on_rig(sorted(hardware_responses), own_clock=own_clock)
    described = component_of(source, component.name, component.values, component.options)
    part = replace(
        component, source=source, feedthrough=described.feedthrough, late_ns=described.late_ns
    )
    later = {
        line: replace(line, delay=_with_transit(line, twin, pair))
        for line, pair, _ in lines
        if pair.response in hardware_responses and str(line) not in physical
    }
    connections = tuple(later.get(line, line) for line in system.connections)
    components = {**system.components, component.name: part}
    return replace(system, components=components, connections=connections), problems


def _with_transit(line: Connection, twin: TwinFile, pair: SignalPair) -> TransportDelay:
    """Return the delay of a line that the run reads, where hardware carries the response on."""
    transit = identified_delay(twin, pair, pair.transit)
    if line.delay is None:
        return transit
    return replace(line.delay, nominal_ns=line.delay.nominal_ns + transit.nominal_ns)


def _strange(
    system: System, component: Component, twin: TwinFile, hardware: Hardware
) -> Diagnostic | None:
    """Say if a twin is of another device than the one that it stands for."""
    name = component.name
    adapters = hardware.adapters.get(name, ())
    if adapters and twin.device not in adapters:
        expected = f"a twin of {' or '.join(sorted(adapters))}, which replaces it in a case"
    elif twin.component != name and twin.component in system.components:
        expected = "a twin of that device"
    else:
        return None
    text = (
        f"expected {expected}; {component.source.file} is of '{twin.component}' ({twin.device},"
        f" {twin.date:%Y-%m-%d}): swap it for its own twin, which softdock identify --device {name}"
        " writes"
    )
    return Diagnostic(STRANGER, Severity.ERROR, text, place=name, key=name)


def _twice_by_twin(
    system: System,
    twin: TwinFile,
    source: Source,
    physical: Collection[str],
    declared: Collection[str],
) -> Iterator[Diagnostic]:
    for line, _, estimate in device_lines(system, twin, physical):
        lowest_ns = line_delay_ns(estimate.low)
        rest_ns = _declared_ns(line, twin.device)
        if rest_ns == 0 or line_delay_ns(estimate.high) == 0:
            continue
        if str(line) in declared and rest_ns < lowest_ns:
            continue  # too short for the device: it is the rest of the line
        remaining_ms = (
            max(0, rest_ns - line_delay_ns(estimate.value)) / 1e6 if str(line) in physical else 0.0
        )
        yield _twice(
            line,
            f"component '{twin.component}', a twin of {twin.device} ({source.short}), brings"
            f" {in_ms(estimate)}",
            f"declare on the connection only its delay besides the device, here {remaining_ms:g}"
            " ms:"
            f" --set-delay '{line}={remaining_ms:g} ms', or the same in the case's table of delays"
            " next"
            " to its swap",
        )


def _twice_by_device(
    component: Component, system: System, declared: Collection[str]
) -> Iterator[Diagnostic]:
    device = read_address(component.source.location)[0]
    for line in system.connections:
        if line.source.component != component.name or str(line) in declared:
            continue
        if _declared_ns(line, device):
            yield _twice(
                line,
                f"component '{component.name}' is the device {device}, which brings its own",
                "in the case with the device, set only the delay of the connection besides the"
                f' device, delays = {{ "{line}" = "0 ms" }}, and declare the delays of its models'
                " in arming.delays; or name the connection in 'physical' if hardware makes it",
            )


def _declared_ns(line: Connection, device: str) -> int:
    """Return what a line declares of the hardware that it begins at, ns."""
    return 0 if line.delay is None or is_of_other(line.delay, device) else line.delay.nominal_ns


def _twice(line: Connection, brings: str, advice: str) -> Diagnostic:
    delay = line.delay
    assert delay is not None  # noqa: S101 - it declares one
    text = (
        f"a delay is counted twice: {brings}, and the connection declares"
        f" {delay.nominal_ns / 1e6:g} ms ({delay.provenance}) for the same hardware;"
        f" {advice}. If the delay has another cause, name it in its 'device'"
    )
    return Diagnostic(TWICE, Severity.ERROR, text, place=str(line), key=str(line))


def notes_on_delays(system: System, experiment: Experiment, folder: Path) -> tuple[str, ...]:
    """Say the same in sentences, of a case of an experiment."""
    diagnostics = told_otherwise(system, Hardware.of(experiment, folder))
    return tuple(f"{diagnostic.place} {diagnostic.message}" for diagnostic in diagnostics)


def told_otherwise(system: System, hardware: Hardware) -> Iterator[Diagnostic]:
    """Say which lines of a prepared case declare another delay than a twin at hand was found with.

    Lines of what is a twin, or a device, are looked at when those take their place. Twins that
    cannot be read are left out: the case that has them says so.
    """
    for name in hardware.twins:
        part = system.components.get(name)
        if part is None or part.source.kind in {SourceKind.DEVICE, SourceKind.TWIN}:
            continue
        twin = _twin_at_hand(name, hardware)
        for line, text in declared_otherwise(system, twin, hardware.physical) if twin else ():
            yield Diagnostic(OTHERWISE, Severity.WARNING, text, place=str(line), key=str(line))


def added_to_devices(system: System) -> Iterator[Diagnostic]:
    """Say which lines of a prepared case delay what a device takes or gives, on top of its own."""
    for line in system.connections:
        if line.delay is None or not line.delay.nominal_ns:
            continue
        for end, side in ((line.target, "command"), (line.source, "response")):
            part = system.components[end.component]
            if clock_ns(part.source) is None:
                continue
            device = read_address(part.source.location)[0]
            if is_of_other(line.delay, device):
                continue
            delay_ns = part.late_ns.get(end.connector, 0) if side == "response" else 0
            has = f"{delay_ns / 1e6:g} ms by its twin" if delay_ns else "a delay of its own"
            text = (
                f"the run delays this {side} of device '{end.component}' ({device}) by"
                f" {line.delay.nominal_ns / 1e6:g} ms, and the device has {has}: the loop has both."
                ' If this is the delay of the device, set "0 ms" for the case and declare it in'
                " arming.delays"
            )
            yield Diagnostic(ON_TOP, Severity.WARNING, text, place=str(line), key=str(line))
