"""What a run in real time says of its timing: a table for terminal and report, and a picture."""

from __future__ import annotations

from orchestrator.core.realtime import Durations, RealTimeRecord
from orchestrator.study.content import Curve, Panel, Plot
from orchestrator.study.section import Cell, Section

COLUMNS = ("duration", "steps", "least", "median", "99 %", "99.9 %", "99.99 %", "longest")
#: Overruns that the report lists, and the terminal; the metadata have more.
_MOST, _PRINTED = 20, 5


def timing_rows(record: RealTimeRecord) -> list[tuple[Cell, ...]]:
    """Return the rows of :data:`COLUMNS`, durations in microseconds."""
    return [(name, *_row(durations)) for name, durations in record.rows]


def _row(durations: Durations) -> tuple[Cell, ...]:
    if not durations.count:
        return 0, *[None] * (len(COLUMNS) - 2)
    shares = [durations.percentile_ns(percent) for percent in (50.0, 99.0, 99.9, 99.99)]
    found = [durations.minimum_ns, *shares, durations.maximum_ns]
    return durations.count, *[None if ns is None else ns / 1e3 for ns in found]


def timing_section(case: str, record: RealTimeRecord) -> Section:
    """Return what is said of how long steps and components of a case took."""
    granted = ", ".join(record.granted) or "nothing"
    note = (
        f"Microseconds. {record.factor:g} s of simulation in a second; on an overrun:"
        f" {record.policy}. Granted: {granted}. {record.kernel}. {'; '.join(record.notes)}."
    )
    rows = tuple(timing_rows(record))
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
    curves = [exceedance(name, found) for name, found in record.rows if found.count]
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
