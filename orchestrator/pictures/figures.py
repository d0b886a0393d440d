"""The figures of an experiment file, made from its outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.optional_packages import optional_imports
from orchestrator.core.recording import Result
from orchestrator.core.system import nanoseconds, seconds
from orchestrator.pictures.panels import spans_of
from orchestrator.study import ExperimentOutcome
from orchestrator.study.content import Curve, Panel, Plot, Reference
from orchestrator.study.figure_tables import (
    CurveTable,
    Figure,
    LinesFigure,
    MapFigure,
    PhaseFigure,
    PlaneFigure,
    SweepFigure,
    TimeFigure,
)
from orchestrator.study.measure.measures import values_of

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


def plot_of(figure: Figure, outcome: ExperimentOutcome) -> Plot:
    """Return what a figure shows."""
    if isinstance(figure, TimeFigure):
        return _over_time(figure, outcome)
    if isinstance(figure, PhaseFigure):
        return _phase(figure, outcome)
    if isinstance(figure, SweepFigure):
        return _over_sweep(figure, outcome)
    if isinstance(figure, PlaneFigure):
        return _plane(figure)
    raise DescriptionError(f"figure '{figure.title}' is drawn by `softdock sweep`")


def _over_time(figure: TimeFigure, outcome: ExperimentOutcome) -> Plot:
    panels = []
    for panel in figure.panels:
        curves = []
        for curve in panel.curves:
            result = outcome.cases[curve.case].result
            rows = _rows_of_figure(figure, result)
            values = curve.factor * _values(curve, outcome)
            curves.append(Curve(curve.label, result.time[rows], values[rows]))
        lines = [Reference(line.value, line.label) for line in panel.lines]
        panels.append(Panel(panel.ylabel, curves, lines, panel.ylim))
    spans = spans_of([outcome.cases[name].result for name in sorted(cases_of(figure))])
    return Plot("time", panels, figure.title, spans=spans, columns=figure.columns)


def _values(curve: CurveTable, outcome: ExperimentOutcome) -> NDArray[np.float64]:
    """Values of a curve over the whole run, shape (n,)."""
    result = outcome.cases[curve.case].result
    values = values_of(result, curve.signal, curve.angle)
    if curve.minus is None:
        return values
    reference = outcome.cases[curve.minus.case].result
    if not np.array_equal(reference.time_ns, result.time_ns):
        raise DescriptionError(
            f"curve '{curve.label}': case '{result.name}' and case '{reference.name}' have"
            " different"
            " sample times; 'minus' needs the same step, every and stop"
        )
    return values - values_of(reference, curve.minus.signal, curve.angle)


def _phase(figure: PhaseFigure, outcome: ExperimentOutcome) -> Plot:
    curves = []
    for curve in figure.curves:
        result = outcome.cases[curve.case].result
        rows = _rows_of_figure(figure, result)
        x, y = (values_of(result, name, None)[rows] for name in (curve.x, curve.y))
        curves.append(Curve(curve.label, curve.x_factor * x, curve.y_factor * y))
    return Plot("path", [Panel(figure.ylabel, curves)], figure.title, figure.xlabel)


def _rows_of_figure(figure: TimeFigure | PhaseFigure, result: Result) -> slice:
    """Rows of a result between the times that a figure shows."""
    first, last = 0, result.time_ns.size
    if figure.begin is not None:
        first = int(np.searchsorted(result.time_ns, nanoseconds(figure.begin, "from")))
    if figure.until is not None:
        until = nanoseconds(figure.until, "until")
        last = int(np.searchsorted(result.time_ns, until, side="right"))
    return slice(first, last)


def _over_sweep(figure: SweepFigure, outcome: ExperimentOutcome) -> Plot:
    predicted = {(c.sweep, c.measure) for c in figure.curves if c.what == "predicted"}
    curves = []
    for curve in figure.curves:
        sweep = outcome.sweeps[curve.sweep]
        is_expected = curve.what == "predicted"
        values = [
            m.details["predicted"] if is_expected else m.value
            for m in sweep.measured[curve.measure]
        ]
        has_line = is_expected or (curve.sweep, curve.measure) not in predicted
        dash = None if has_line else "none"  # marks only, so that both are seen
        scale = 1e3 if sweep.over == "step" else 1.0  # steps are drawn in milliseconds
        x = np.array(sweep.values) * scale
        curves.append(Curve(curve.label, x, values, dash, is_expected=is_expected))
    zero = (Reference(0.0, figure.zero_line),) if figure.zero_line else ()
    return Plot("points", [Panel(figure.ylabel, curves, zero)], figure.title, figure.xlabel)


#: Curves of a plane that can still be told from each other.
_SHOWN = 5


def _plane(figure: PlaneFigure) -> Plot:
    """Show the plane as curves over damping and over delay; a picture of it has the surface too."""
    with optional_imports():
        from orchestrator.loops.contact import stability_plane
    damping, delay = plane_axes(figure)
    panels = []
    for label, x, unit, parameters, scale in (
        ("damping b [N s/m]", damping, "h = {:g} ms", _few(delay), 1e3),
        ("loop delay h [ms]", delay, "b = {:g} N s/m", _few(damping), 1.0),
    ):
        over_damping = x is damping
        pair = (x, parameters) if over_damping else (parameters, x)
        limits = stability_plane(figure.mass, *pair) / 1e3
        columns = limits.T if over_damping else limits
        abscissa = x if over_damping else 1e3 * x
        curves = [
            Curve(unit.format(round(float(scale * value), 3)), abscissa, column, is_expected=True)
            for value, column in zip(parameters, columns, strict=True)
        ]
        panels.append(Panel("stiffness limit K [kN/m]", curves, xlabel=label))
    return Plot("points", panels, f"{figure.title}, mass {figure.mass:g} kg", columns=2)


def _few(values: NDArray[np.float64]) -> NDArray[np.float64]:
    indices = np.linspace(0, values.size - 1, _SHOWN).round().astype(int)
    selected: NDArray[np.float64] = values[np.unique(indices)]
    return selected


def plane_axes(figure: PlaneFigure) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Dampings in N s/m and delays in s of a stability plane."""
    first, last = (seconds(nanoseconds(t, "delay")) for t in figure.delay)
    return np.linspace(*figure.damping, 77), np.linspace(first, last, 65)


def draw_plane(figure: PlaneFigure) -> Drawing:
    """Draw the plane by Matplotlib: surface, map, and curves."""
    with optional_imports():
        from orchestrator.loops.contact import plot_stability_plane
    drawing = plot_stability_plane(figure.mass, *plane_axes(figure))
    drawing.suptitle(f"{figure.title}, mass {figure.mass:g} kg")
    return drawing
