"""Real time: what experiment and command say of it together, and the timing of a run as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError, choices_for
from orchestrator.core.realtime import Durations, RealTimeRecord
from orchestrator.core.simunits.registry import clock_ns
from orchestrator.study.content import Cell, Curve, Panel, Plot, Section
from orchestrator.study.experiment import Experiment
from orchestrator.study.extension import Extension, Run
from orchestrator.study.prepare.prepared_case import PreparedCase, RunSettings

if TYPE_CHECKING:
    from orchestrator.core.realtime import RealTime
    from orchestrator.core.recording import Result


def realtime_of(
    experiment: Experiment, settings: RunSettings, cases: Mapping[str, PreparedCase]
) -> RealTime | None:
    """Return how all cases are kept to real time; ``None``: they are not."""
    table = experiment.realtime
    if table is None and settings.realtime is None:
        return None
    from orchestrator.study.tables import RealTimeTable

    realtime = (table or RealTimeTable()).settings(settings.realtime)
    realtime.expect_cpus()
    for case in cases.values():
        realtime.unit_budgets_ns(case.system.components)
    names = {name for case in cases.values() for name in case.system.components}
    if realtime.clock is not None and realtime.clock not in names:
        raise UnknownNameError(
            f"realtime.clock: no case has a component '{realtime.clock}'"
            f"{choices_for(realtime.clock, sorted(names), 'component')}"
        )
    return realtime


def is_paced(case: PreparedCase, realtime: RealTime) -> bool:
    """Whether a case keeps to real time: where a device is the clock, if it has that device."""
    if realtime.clock is None:
        return True
    return realtime.clock in _with_clocks(case)


def expect_paced(cases: Mapping[str, PreparedCase], realtime: RealTime | None) -> None:
    """Expect that cases with devices keep to real time; devices that a run steps do not need it.

    A device goes on by its own clock: in a run that does not, a second of the run is another time
    of the device, and whatever comes out is that of no rig.
    """
    problems = []
    for name, case in cases.items():
        devices = _with_clocks(case)
        if devices and (realtime is None or not is_paced(case, realtime)):
            listed_devices = ", ".join(
                f"'{device}' ({case.system.components[device].source.short})" for device in devices
            )
            reason = (
                ""
                if realtime is None
                else f": its clock would be '{realtime.clock}', no device here"
            )
            problems.append(
                f"case '{name}': expected a run in real time, since a device runs by its own"
                f" clock: {listed_devices}; found one without real-time pacing{reason}; give"
                f' --realtime, or a table [realtime] with clock = "{devices[0]}"'
            )
    if problems:
        raise DescriptionError(*problems)


def _with_clocks(case: PreparedCase) -> list[str]:
    """Return the components that are devices whose time goes on without the run."""
    return [
        name for name, component in case.system.components.items() if clock_ns(component.source)
    ]


class PacingOfCases(Extension):
    """Keeps cases to real time, and refuses devices in runs that are not."""

    def begin(self, run: Run) -> None:
        """Complete what the experiment and the command say."""
        run.realtime = realtime_of(run.experiment, run.settings, run.cases)
        expect_paced(run.cases, run.realtime)
        if run.realtime is not None and (run.experiment.sweep or run.settings.verify):
            for notes in run.notes.values():
                notes.append("sweeps and finer runs are not paced in real time")

    def after(self, run: Run, case: PreparedCase, result: Result) -> Result:
        """Say how the steps kept to it."""
        if result.timing is not None:
            run.add(case.name, timing_section(case.name, result.timing))
            if result.timing.overruns:
                run.add(case.name, overruns_section(case.name, result.timing))
        return result


COLUMNS = ("duration", "steps", "least", "median", "99 %", "99.9 %", "99.99 %", "longest")
#: Overruns that the report lists, and the terminal; the metadata have more.
_MOST, _PRINTED = 20, 5


def _row(durations: Durations) -> tuple[Cell, ...]:
    """Return the rest of a row of :data:`COLUMNS`, durations in microseconds."""
    if not durations.count:
        return 0, *[None] * (len(COLUMNS) - 2)
    shares = [durations.percentile_ns(percent) for percent in (50.0, 99.0, 99.9, 99.99)]
    figures = [durations.minimum_ns, *shares, durations.maximum_ns]
    return durations.count, *[None if ns is None else ns / 1e3 for ns in figures]


def timing_section(case: str, record: RealTimeRecord) -> Section:
    """Return the report section on the duration of steps and components of a case."""
    granted = ", ".join(record.granted) or "nothing"
    note = (
        f"Microseconds. {record.factor:g} s of simulation in a second; on an overrun:"
        f" {record.policy}. Granted: {granted}. {record.kernel}. {'; '.join(record.notes)}."
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, *_row(durations)) for name, durations in record.rows
    )
    plots = {}
    if record.computing.count:
        plots[f"timing-{case}"] = timing_plot(case, record), f"Timing of {case}."
    return Section(
        "realtime",
        f"Timing of {case} [us]",
        COLUMNS,
        rows,
        note,
        plots=plots,
        formats=("{}", "{}", "{:.4g}"),
        printed=len(rows),
        lines=tuple(f"{case}: {overrun}" for overrun in record.listed[-_PRINTED:]),
        data=record.as_json(),
        value=record,
    )


def overruns_section(case: str, record: RealTimeRecord) -> Section:
    """Return the latest overruns."""
    columns = (
        "step",
        "at [s]",
        "late [us]",
        "woken [us]",
        "computed [us]",
        "longest",
        "of it [us]",
    )
    latest = record.listed[-_MOST:]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            str(o.step),
            o.time_ns / 1e9,
            o.late_ns / 1e3,
            o.woken_ns / 1e3,
            o.computed_ns / 1e3,
            o.unit,
            o.unit_ns / 1e3,
        )
        for o in latest
    )
    note = f"The latest {len(latest)} of {record.overruns}."
    return Section("overruns", f"Overruns of {case}", columns, rows, note)


def timing_plot(case: str, record: RealTimeRecord) -> Plot:
    """Show which share of steps took longer than a time, of each duration that there is."""
    curves = [exceedance(name, durations) for name, durations in record.rows if durations.count]
    panel = Panel("share of steps that took longer", curves)
    return Plot("points", [panel], f"Timing of '{case}'", "time [us]", log="xy")


def exceedance(name: str, durations: Durations) -> Curve:
    """Return the share beyond the end of each bucket but the last: none has no logarithm."""
    times: list[float] = []
    shares: list[float] = []
    reached = 0
    for lowest, end, count in durations.buckets:
        if not times:
            times.append(max(lowest, 1) / 1e3)
            shares.append(1.0)
        reached += count
        if reached < durations.count:
            times.append(end / 1e3)
            shares.append(1.0 - reached / durations.count)
    times.append(durations.maximum_ns / 1e3)
    shares.append(shares[-1])
    return Curve(name, times, shares)
