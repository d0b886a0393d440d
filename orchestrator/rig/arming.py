"""Arming of cases in which devices are commanded, and the table of their margins."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

from orchestrator.author.reading import plain_value
from orchestrator.core.coupling import DelayMode
from orchestrator.core.diagnostics import ArmingError, DescriptionError, SoftdockError
from orchestrator.core.recording import Result
from orchestrator.core.simunits.registry import clock_ns
from orchestrator.core.system import Endpoint, System
from orchestrator.core.system.time import step_length
from orchestrator.loops import LinearSystem, linear_system
from orchestrator.rig.identified_model import (
    gain_ratios,
    model_system,
    used_responses,
    with_gains,
    with_identified_dynamics,
)
from orchestrator.rig.margins import Arming, Knobs, arm
from orchestrator.rig.tables import ArmingTable
from orchestrator.rig.twin_file import (
    TwinFile,
    declared_otherwise,
    device_lines,
    identified_delay,
    in_run_time,
)
from orchestrator.study import Experiment, Extension, Run, Section
from orchestrator.study.content import Cell
from orchestrator.study.experiment import RunOptions
from orchestrator.study.prepare.prepared_case import PreparedCase, RunSettings, SystemReader

_PLAIN = "margins were computed with plain delays: hardware takes nothing off its own"


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
    found = {}
    for name, case in cases.items():
        if commanded(case.system):
            given = experiment, case, reader, settings, tuple((identified or {}).get(name, ()))
            found[name] = replace(_armed(*given), again=partial(_armed_with, *given))
    return found


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
        known = {*system.components, *map(str, system.connections)}
        for name in changed:
            if (name if "->" in name else Endpoint.parse(name).component) not in known:
                raise DescriptionError(
                    f"'{name}' is not in the models that margins are computed with"
                )
    except SoftdockError as error:
        return Arming(table.reserve, 0, (), failure=f"its margins cannot be computed: {error}")
    return _armed(experiment, case, reader, later, twins)


def expect_armed(found: Mapping[str, Arming]) -> None:
    """Expect that every case may run."""
    refused = {name: one for name, one in found.items() if not one.is_granted and not one.forced}
    if refused:
        raise ArmingError(
            *(f"case '{name}': arming is refused: {one.refusal()}" for name, one in refused.items())
        )


def commanded(system: System) -> list[str]:
    """Name the devices of a system that something is connected to, but those that it steps."""
    fed = {line.target.component for line in system.connections}
    return [n for n, one in system.components.items() if n in fed and clock_ns(one.source)]


def _with_longer(
    system: System, twins: Sequence[TwinFile], physical: Collection[str], step_ns: int
) -> tuple[System, tuple[str, ...]]:
    """Give lines the delays that were identified where they are longer than those declared."""
    told = []
    for twin in twins:
        told += [f"{line} {text}" for line, text in declared_otherwise(system, twin, physical)]
        for line, pair, found in device_lines(system, twin, physical):
            delay = identified_delay(twin, pair, found)
            beyond = delay.nominal_ns % step_ns if step_ns else 0
            if beyond * 1e-9 < pair.jitter.value:  # by more than that samples scatter
                delay = replace(delay, nominal_ns=delay.nominal_ns - beyond)
            declared = line.delay.nominal_ns if line.delay else 0
            name = f"{line.source} -> {line.target}"
            told.append(
                f"{name}: {delay.nominal_ns / 1e6:g} ms identified, {declared / 1e6:g} ms declared;"
                f" margins are those with {max(delay.nominal_ns, declared) / 1e6:g} ms"
            )
            if delay.nominal_ns > declared:
                system = system.with_delay(str(line.source), str(line.target), delay)
    return system, tuple(told)


def _with_dynamics(
    system: System, run: System, twins: Sequence[TwinFile], options: RunOptions
) -> tuple[System, tuple[str, ...]]:
    """Give models the dynamics that were identified, where it is known when they are stepped."""
    if not any(pair.lag for twin in twins for pair in twin.pair):
        return system, ()
    if options.algorithm != "gauss-seidel" or options.step is None:
        told = (
            "identified lags are not in the margins: expected a case with 'step' and gauss-seidel"
        )
        return system, (told,)
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
        system, told, objections = _as_identified(system, case, twins, table)
        linear = _linear(system, case.options, table)
        knobs = Knobs(table.stiffness, table.damping, clock)
        watched = experiment.supervisor.tracking.values() if experiment.supervisor else ()
        tracked = [limits.command for limits in watched]
        found = arm(linear, commanded(case.system), table.reserve, knobs, case.system, tracked)
    except SoftdockError as error:
        failed = f"its margins cannot be computed: {error}"
        return Arming(table.reserve, 0, (), failure=failed, forced=reason)
    found = replace(found, objections=objections, advice=() if objections else found.advice)
    remarks = (_PLAIN, *converted, *told, *found.remarks)
    return replace(found, remarks=remarks, forced="" if found.is_granted else reason)


def _as_identified(
    system: System, case: PreparedCase, twins: Sequence[TwinFile], table: ArmingTable
) -> tuple[System, tuple[str, ...], tuple[str, ...]]:
    """Give models what was identified: return the system, what was done, and what is refused."""
    doubts = tuple(
        doubt
        for twin in twins
        for response, doubt in twin.doubts.items()
        if response.partition("[")[0] in used_responses(system, twin.component)
    )
    twins = [twin.without_doubts() for twin in twins]
    if not twins:
        return system, (), doubts
    linear = _linear(system, case.options, table)
    ratios = [ratio for twin in twins for ratio in gain_ratios(linear, case.system, twin)]
    objections = [ratio.objection(table.gain_within) for ratio in ratios]
    step_ns = 0 if case.options.step is None else step_length(case.options.step, "step")
    later, told = _with_longer(system, twins, case.case.physical, step_ns)
    found, changed = _with_dynamics(later, case.system, twins, case.options)
    kept = [
        one for one in ratios if found.components[one.component] is later.components[one.component]
    ]
    found, turned = with_gains(found, kept)
    return found, (*told, *changed, *turned), (*doubts, *filter(None, objections))


def _linear(system: System, options: RunOptions, table: ArmingTable) -> LinearSystem:
    return linear_system(system, **options.way | {"delay": DelayMode.PLAIN, "at": table.at})


class ArmingOfDevices(Extension):
    """Refuses cases whose loops have too little margin."""

    follows = ("realtime", "identification")

    def begin(self, run: Run) -> None:
        """Compute them, with what was identified."""
        twins = {name: run.value(name, "identified") or () for name in run.cases}
        found = armed(run.experiment, run.cases, run.reader, run.settings, twins)
        expect_armed(found)

        for name, arming in found.items():
            run.notes[name] += arming.notes
            run.add(name, arming_section(name, arming))

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
    """Return what is said of the margins of a case's devices."""
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
