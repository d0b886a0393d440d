"""The figures of an experiment file, drawn from its outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from orchestrator.analysis import plot_stability_plane
from orchestrator.diagnostics import DescriptionError
from orchestrator.experiment.file.figure_tables import Curve as Drawn
from orchestrator.experiment.file.figure_tables import (
    Figure,
    LinesFigure,
    MapFigure,
    PhaseFigure,
    PlaneFigure,
    SweepFigure,
    TimeFigure,
)
from orchestrator.experiment.measure.outcome import ExperimentOutcome, SweepOutcome
from orchestrator.experiment.measure.signals import values_of
from orchestrator.experiment.output.sweep_lines import SweepLine, SweepLook, draw_lines
from orchestrator.recording import Curve, Panel, Reference, Result, Span, plot_phase, plot_signals
from orchestrator.system import nanoseconds, seconds

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


def cases_of(figure: Figure) -> set[str]:
    """Names of the cases that a figure needs."""
    if isinstance(figure, TimeFigure):
        return {name for panel in figure.panels for curve in panel.curves for name in curve.cases}
    return {curve.case for curve in figure.curves} if isinstance(figure, PhaseFigure) else set()


def sweeps_of(figure: Figure) -> set[str]:
    """Names of the sweeps that a figure needs."""
    if isinstance(figure, SweepFigure):
        return {curve.sweep for curve in figure.curves}
    return {figure.sweep} if isinstance(figure, MapFigure | LinesFigure) else set()


def draw(figure: Figure, outcome: ExperimentOutcome) -> Drawing:
    """Draw one figure.

    Raises
    ------
    DescriptionError
        If a signal does not exist.
    """
    if isinstance(figure, TimeFigure):
        return _over_time(figure, outcome)
    if isinstance(figure, PhaseFigure):
        return _phase(figure, outcome)
    if isinstance(figure, SweepFigure):
        return _over_sweep(figure, outcome)
    if isinstance(figure, PlaneFigure):
        return _plane(figure)
    raise DescriptionError(f"figure '{figure.title}' is drawn by `softdock sweep`")


def _over_time(figure: TimeFigure, outcome: ExperimentOutcome) -> Drawing:
    panels = []
    for panel in figure.panels:
        curves = []
        for curve in panel.curves:
            result = outcome.cases[curve.case].result
            shown = _shown(figure, result)
            values = curve.factor * _values(curve, outcome)
            curves.append(Curve(curve.label, result.time[shown], values[shown]))
        lines = [Reference(line.value, line.label) for line in panel.lines]
        panels.append(Panel(panel.ylabel, curves, lines, panel.ylim))
    spans = _spans(figure, outcome)
    return plot_signals(panels, figure.title, spans, columns=figure.columns)


def _values(curve: Drawn, outcome: ExperimentOutcome) -> NDArray[np.float64]:
    """Values of a curve over the whole run, shape (n,)."""
    result = outcome.cases[curve.case].result
    values = values_of(result, curve.signal, curve.angle)
    if curve.minus is None:
        return values
    other = outcome.cases[curve.minus.case].result
    if not np.array_equal(other.time_ns, result.time_ns):
        raise DescriptionError(
            f"curve '{curve.label}': case '{result.name}' and case '{other.name}' have different"
            " sample times; 'minus' needs the same step, every and stop"
        )
    return values - values_of(other, curve.minus.signal, curve.angle)


def _phase(figure: PhaseFigure, outcome: ExperimentOutcome) -> Drawing:
    curves = []
    for curve in figure.curves:
        result = outcome.cases[curve.case].result
        shown = _shown(figure, result)
        x, y = (values_of(result, name, None)[shown] for name in (curve.x, curve.y))
        curves.append(Curve(curve.label, curve.x_factor * x, curve.y_factor * y))
    return plot_phase(curves, xlabel=figure.xlabel, ylabel=figure.ylabel, title=figure.title)


def _shown(figure: TimeFigure | PhaseFigure, result: Result) -> slice:
    """Rows of a result between the times that a figure shows."""
    first, last = 0, result.time_ns.size
    if figure.begin is not None:
        first = int(np.searchsorted(result.time_ns, nanoseconds(figure.begin, "from")))
    if figure.until is not None:
        until = nanoseconds(figure.until, "until")
        last = int(np.searchsorted(result.time_ns, until, side="right"))
    return slice(first, last)


def _spans(figure: TimeFigure, outcome: ExperimentOutcome) -> list[Span]:
    """Times of faults and safe states that are drawn; those of one case among several name it."""
    cases = sorted(cases_of(figure))
    found: dict[tuple[str, float, float | None], set[str]] = {}
    for name in cases:
        for fault in outcome.cases[name].result.faults:
            until = None if fault.until_ns is None else seconds(fault.until_ns)
            found.setdefault((fault.name, seconds(fault.begin_ns), until), set()).add(name)
        if safe := outcome.cases[name].result.safe_states:
            found.setdefault(("safe state", seconds(safe[0].time_ns), None), set()).add(name)
    return [
        Span(
            label if len(having) == len(cases) else f"{label} ({', '.join(sorted(having))})",
            begin,
            end,
        )
        for (label, begin, end), having in found.items()
    ]


def _over_sweep(figure: SweepFigure, outcome: ExperimentOutcome) -> Drawing:
    predicted = {(c.sweep, c.measure) for c in figure.curves if c.what == "predicted"}
    lines = []
    for curve in figure.curves:
        sweep = outcome.sweeps[curve.sweep]
        is_prediction = curve.what == "predicted"
        found = [
            m.details["predicted"] if is_prediction else m.value
            for m in sweep.measured[curve.measure]
        ]
        is_predicted = not is_prediction and (curve.sweep, curve.measure) in predicted
        line = SweepLine(
            curve.label, _abscissa(sweep), np.array(found), is_prediction, is_predicted
        )
        lines.append(line)
    zero = (Reference(0.0, figure.zero_line),) if figure.zero_line else ()
    return draw_lines(lines, SweepLook(figure.title, figure.xlabel, figure.ylabel, zero))


def _abscissa(sweep: SweepOutcome) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    scale = 1e3 if sweep.over == "step" else 1.0  # steps are drawn in milliseconds
    return np.array(sweep.values) * scale


def _plane(figure: PlaneFigure) -> Drawing:
    first, last = (seconds(nanoseconds(t, "delay")) for t in figure.delay)
    drawing = plot_stability_plane(
        figure.mass, np.linspace(*figure.damping, 77), np.linspace(first, last, 65)
    )
    drawing.suptitle(f"{figure.title}, mass {figure.mass:g} kg")
    return drawing
