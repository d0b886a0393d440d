"""Arming of cases in which devices are commanded, and the table of their margins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from orchestrator.author.reading import plain_value
from orchestrator.core.coupling import DelayMode
from orchestrator.core.diagnostics import ArmingError, DescriptionError, SoftdockError
from orchestrator.core.recording import Result
from orchestrator.core.simunits import component_of
from orchestrator.core.simunits.registry import clock_ns
from orchestrator.core.structs import Struct
from orchestrator.core.system import (
    Connection,
    Endpoint,
    SourceKind,
    System,
    TransportDelay,
    connection_name,
    nanoseconds,
)
from orchestrator.core.system.time import step_length
from orchestrator.loops import LinearSystem, linear_system
from orchestrator.rig.arming.identified_model import (
    gain_ratios,
    model_system,
    used_responses,
    with_gains,
    with_identified_dynamics,
)
from orchestrator.rig.arming.margins import Arming, Knobs, arm, other_order
from orchestrator.rig.arming.tables import ArmingTable
from orchestrator.rig.hardware.line_delay import (
    LineDelay,
    corrections,
    declared_otherwise,
    line_delays,
    with_device_delays,
)
from orchestrator.rig.hardware.twin_file import TwinFile, in_run_time
from orchestrator.rig.hardware.twins import inner_of
from orchestrator.study import Experiment, Extension, Run, Section
from orchestrator.study.content import Cell
from orchestrator.study.experiment import RunOptions
from orchestrator.study.prepare.prepared_case import PreparedCase, RunSettings, SystemReader

#: What models are, what was done to them, and what is refused.
_Identified = tuple[System, tuple[str, ...], tuple[str, ...]]
_OTHER_AGE = (
    "the run steps its components in another order than its models: a loop has one step of delay"
    " more or less"
)
#: How often delays of models are changed, whose order changes with them.
_TRIES = 5
_PLAIN = "margins were computed with plain delays, since hardware cannot compensate its own delay"


def armed(
    experiment: Experiment,
    cases: Mapping[str, PreparedCase],
    reader: SystemReader,
    settings: RunSettings,
    identified: Mapping[str, Sequence[TwinFile]] | None = None,
) -> dict[str, Arming]:
    """Arm the cases whose devices are commanded, by name; nothing is opened.

    ``identified`` is what was found of the devices of a case: margins are computed with its gains
    and lags, and with its delays where they are longer than those declared. What is in doubt, of
    another sign, or too far from the model is refused.

    A case that cannot be armed, since a device has no model or a model cannot be linearised, is
    refused, too; the arming says why.
    """
    armings = {}
    for name, case in cases.items():
        if commanded(case.system):
            arguments = experiment, case, reader, settings, tuple((identified or {}).get(name, ()))
            armings[name] = replace(_armed(*arguments), again=partial(_armed_with, *arguments))
    return armings


def _armed_with(
    experiment: Experiment,
    case: PreparedCase,
    reader: SystemReader,
    settings: RunSettings,
    twins: Sequence[TwinFile],
    changed: Mapping[str, str],
) -> Arming:
    """Arm a case with other values and delays, as text by name; nothing is forced."""
    values = {name: text for name, text in changed.items() if "->" not in name}
    delays = {name: plain_value(text) for name, text in changed.items() if "->" in name}
    later = replace(
        settings,
        values={**settings.values, **values},
        delays={**settings.delays, **delays},
        force_arming=False,
    )
    table = case.case.arming or experiment.arming or ArmingTable()
    try:
        system = model_system(case, reader, later, table)
        names = {*system.components, *map(str, system.connections)}
        for name in changed:
            if (name if "->" in name else Endpoint.parse(name).component) not in names:
                raise DescriptionError(
                    f"'{name}' is not in the models that margins are computed with"
                )
    except SoftdockError as error:
        return Arming(table.reserve, 0, (), failure=f"its margins cannot be computed: {error}")
    return _armed(experiment, case, reader, later, twins)


def expect_armed(armings: Mapping[str, Arming]) -> None:
    """Expect that every case may run."""
    refused = {
        name: arming
        for name, arming in armings.items()
        if not arming.is_granted and not arming.forced
    }
    if refused:
        raise ArmingError(
            *(
                f"case '{name}': arming is refused: {arming.refusal()}"
                for name, arming in refused.items()
            )
        )


def commanded(system: System) -> list[str]:
    """Name the devices of a system that have a connected input, except stepped devices."""
    fed = {line.target.component for line in system.connections}
    return [
        n for n, component in system.components.items() if n in fed and clock_ns(component.source)
    ]


class _Delays(Struct):
    """The delays of a case with devices, and the models that its margins are computed with.

    model: Has what twins are around in their place, and does not have the delays yet.
    lines: That begin at devices.
    run: Delays of commands in the run itself, ns, by lines into a device.
    otherwise: Lines that declare another delay than was identified, in sentences.
    later_ns: By how much lines of the model are later, ns, for its loops to be those of the run.
    """

    model: System
    lines: tuple[LineDelay, ...]
    run: Mapping[str, int]
    otherwise: tuple[str, ...]
    later_ns: Mapping[str, int] = {}

    @property
    def system(self) -> System:
        """The model with the delays of the run and of its devices."""
        delays = {**self.run, **{line.line: line.total_ns for line in self.lines}}
        # A part of a step counts as a whole one, so that a whole one less may leave nothing.
        delays |= {name: max(delays[name] + by_ns, 0) for name, by_ns in self.later_ns.items()}

        def later(line: Connection) -> Connection:
            delay_ns = delays.get(str(line))
            if delay_ns is None or not (line.delay or delay_ns or str(line) in self.later_ns):
                return line
            delay = replace(line.delay, nominal_ns=delay_ns) if line.delay else None
            return replace(line, delay=delay or TransportDelay(delay_ns))

        return replace(self.model, connections=tuple(map(later, self.model.connections)))

    def more(self, later_ns: Mapping[str, int]) -> _Delays:
        """Let lines be later, by ns."""
        names = {*self.later_ns, *later_ns}
        both = {name: self.later_ns.get(name, 0) + later_ns.get(name, 0) for name in names}
        return replace(self, later_ns=both)


def _ends(line: str) -> tuple[str, str]:
    source, _, target = line.partition(" -> ")
    return source, target


def _delays_of(
    model: System,
    case: PreparedCase,
    settings: RunSettings,
    twins: Sequence[TwinFile],
    table: ArmingTable,
) -> _Delays:
    """Account for the delays of a case: what its run has, is identified and is declared."""
    run = case.system
    for text, delay in settings.delays.items():
        name = connection_name(text)
        if any(str(line) == name for line in run.connections):
            run = run.with_delay(*_ends(name), delay)
    declared = {
        connection_name(text): nanoseconds(delay, "arming.delays")
        for text, delay in table.delays.items()
    }
    devices = [name for name, component in run.components.items() if clock_ns(component.source)]
    step_ns = 0 if case.options.step is None else step_length(case.options.step, "step")
    rates = case.options.rates or {}

    def period_ns(name: str) -> int:
        return step_ns * rates.get(name, 1)

    lines = tuple(line_delays(model, run, devices, twins, declared, period_ns))
    otherwise_by_name = {
        str(line): 0 if line.delay is None else line.delay.nominal_ns
        for line in run.connections
        if line.target.component in devices
    }
    compared = model
    for line in lines:
        if not line.is_physical:
            compared = compared.with_delay(*_ends(line.line), declared.get(line.line, 0) * 1e-9)
    physical = {line.line for line in lines if line.is_physical}
    otherwise = tuple(
        f"{line} {text}"
        for twin in twins
        for line, text in declared_otherwise(compared, twin, physical)
    )
    for name in devices:
        if (component := model.components[name]).source.kind is SourceKind.TWIN:
            inner = inner_of(component)
            part = component_of(inner.source, name, inner.values, inner.options)
            model = replace(model, components={**model.components, name: part})
    return _Delays(model, lines, otherwise_by_name, otherwise)


def _with_dynamics(
    system: System, run: System, twins: Sequence[TwinFile], options: RunOptions
) -> tuple[System, tuple[str, ...]]:
    """Give models the dynamics that were identified, where it is known when they are stepped."""
    if not any(pair.lag for twin in twins for pair in twin.pair):
        return system, ()
    if options.algorithm != "gauss-seidel" or options.step is None:
        remark = (
            "identified lags are not in the margins: expected a case with 'step' and gauss-seidel"
        )
        return system, (remark,)
    return with_identified_dynamics(system, run, twins, step_length(options.step, "step"))


def _armed(
    experiment: Experiment,
    case: PreparedCase,
    reader: SystemReader,
    settings: RunSettings,
    twins: Sequence[TwinFile],
) -> Arming:
    table = case.case.arming or experiment.arming or ArmingTable()
    reason = "--force-arming" if settings.force_arming else table.force or ""
    clock = experiment.realtime.clock if experiment.realtime else None
    try:
        system = model_system(case, reader, settings, table)
        twins, converted = in_run_time(twins, clock)
        delays = _delays_of(system, case, settings, twins, table)
        (system, delay_remarks, objections), is_as_late = _in_run_order(delays, case, twins, table)
        linear = _linear(system, case.options, table)
        knobs = Knobs(table.stiffness, table.damping, clock)
        watched = experiment.supervisor.tracking.values() if experiment.supervisor else ()
        tracked = [limits.command for limits in watched]
        run = None if is_as_late else case.system
        arming = arm(linear, commanded(case.system), table.reserve, knobs, run, tracked)
    except SoftdockError as error:
        failed = f"its margins cannot be computed: {error}"
        return Arming(table.reserve, 0, (), failure=failed, forced=reason)
    arming = replace(
        arming,
        objections=objections,
        advice=() if objections else arming.advice,
        delays=delays.lines,
    )
    order_remarks = () if is_as_late or arming.remarks else (_OTHER_AGE,)
    remarks = (_PLAIN, *converted, *delay_remarks, *arming.remarks, *order_remarks)
    return replace(arming, remarks=remarks, forced="" if arming.is_granted else reason)


def _in_run_order(
    delays: _Delays, case: PreparedCase, twins: Sequence[TwinFile], table: ArmingTable
) -> tuple[_Identified, bool]:
    """Give models what was identified, with the loops of the run; whether these are as late.

    Components of the models are stepped in another order than those of the run where delays of
    devices, which the run does not have on its lines, cut other lines.
    """
    identified = _as_identified(delays, case, twins, table)
    options = case.options
    if options.algorithm != "gauss-seidel" or options.step is None or options.rates:
        return identified, not other_order(identified[0], case.system, commanded(case.system))
    step_ns, first = step_length(options.step, "step"), identified
    for _ in range(_TRIES):
        before = {str(line): line.delay for line in delays.system.connections}
        added_ns = {
            str(line): line.delay.nominal_ns - (old.nominal_ns if old else 0)
            for line in identified[0].connections
            if line.delay and (old := before[str(line)]) != line.delay
        }
        movable = {*delays.run, *(line.line for line in delays.lines)}
        missing = corrections(identified[0], added_ns, case.system, delays.lines, movable, step_ns)
        if missing is None:
            break
        if not missing:
            return identified, True
        delays = delays.more(missing)
        identified = _as_identified(delays, case, twins, table)
    return first, False


def _as_identified(
    delays: _Delays, case: PreparedCase, twins: Sequence[TwinFile], table: ArmingTable
) -> _Identified:
    """Give models what was identified: return the system, what was done, and what is refused."""
    system = delays.model
    moved = commanded(case.system)
    remarks = tuple(
        str(line)
        for line in delays.lines
        if line.identified_ns is not None
        or (not line.is_physical and line.line.partition(".")[0] in moved)
    )
    doubts = tuple(
        doubt
        for twin in twins
        for response, doubt in twin.doubts.items()
        if response.partition("[")[0] in used_responses(system, twin.component)
    )
    twins = [twin.without_doubts() for twin in twins]
    if not twins:
        return delays.system, remarks, doubts
    linear = _linear(system, case.options, table)
    ratios = [ratio for twin in twins for ratio in gain_ratios(linear, case.system, twin)]
    objections = [ratio.objection(table.gain_within) for ratio in ratios]
    objections += [line.objection for line in delays.lines]
    later = delays.system
    corrected, changed = _with_dynamics(later, case.system, twins, case.options)
    ratios_kept = [
        ratio
        for ratio in ratios
        if corrected.components[ratio.component] is later.components[ratio.component]
    ]
    corrected, turned = with_gains(corrected, ratios_kept)
    all_remarks = (*delays.otherwise, *remarks, *changed, *turned)
    return corrected, all_remarks, (*doubts, *filter(None, objections))


def _linear(system: System, options: RunOptions, table: ArmingTable) -> LinearSystem:
    return linear_system(system, **options.stepping | {"delay": DelayMode.PLAIN, "at": table.at})


class ArmingOfDevices(Extension):
    """Refuses cases whose loops have too little margin."""

    follows = ("realtime", "identification")

    def begin(self, run: Run) -> None:
        """Compute them, with what was identified."""
        twins = {name: run.value(name, "identified") or () for name in run.cases}
        armings = armed(run.experiment, run.cases, run.reader, run.settings, twins)
        expect_armed(armings)

        for name, arming in armings.items():
            run.notes[name] += arming.notes
            run.add(name, arming_section(name, arming))

    def prepare(self, run: Run, case: PreparedCase) -> PreparedCase:
        """Let the loops of the run count what its devices bring, as arming does."""
        arming: Arming | None = run.value(case.name, "arming")
        if arming is None:
            return case
        return replace(case, system=with_device_delays(case.system, arming.delays))

    def after(self, run: Run, case: PreparedCase, result: Result) -> Result:
        """Put them into the result."""
        arming = run.value(case.name, "arming")
        return result if arming is None else replace(result, arming=arming.as_json())


COLUMNS = (
    "command",
    "delay margin [ms]",
    "gain margin",
    "growth [1/s]",
    "frequency [Hz]",
    "arming",
)


def arming_rows(arming: Arming) -> list[tuple[Cell, ...]]:
    """Return a row of :data:`COLUMNS` for each command."""
    refused = "refused, forced" if arming.forced else "refused"
    return [
        (
            line.line,
            None if line.margins is None else line.margins.delay.value * 1e3,
            None if line.margins is None else line.gain,
            None if line.root is None else line.growth,
            None if line.root is None else line.frequency,
            refused if line.lacks or arming.objections else "granted",
        )
        for line in arming.lines
    ]


def arming_section(name: str, arming: Arming) -> Section:
    """Return the report section on the margins of a case's devices."""
    reserve = arming.reserve
    note = (
        f"Reserve: {reserve.delay * 1e3:g} ms and a factor of {reserve.gain:g}, with steps of"
        f" {arming.step_ns / 1e6:g} ms. {'; '.join(arming.notes)}."
    )
    return Section(
        "arming",
        f"Arming of {name}",
        COLUMNS,
        tuple(arming_rows(arming)),
        note,
        data=arming.as_json(),
        value=arming,
    )
