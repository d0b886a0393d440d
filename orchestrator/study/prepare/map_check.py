"""What is wrong with the figures that are drawn from sweeps, before anything is run."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.study.file.experiment import Experiment
from orchestrator.study.file.figure_tables import LinesFigure, MapFigure, MapPanel
from orchestrator.study.file.sweep_table import Sweep
from orchestrator.study.prepare.axes import AxisPoint, point_at, points_of

Named = Iterator[tuple[str, str, Collection[str]]]


def panels_of(figure: MapFigure | LinesFigure) -> tuple[MapPanel, ...]:
    """Return the panels of a map, or the curves of a figure with lines."""
    return figure.panels if isinstance(figure, MapFigure) else figure.curves


def named_by_maps(experiment: Experiment) -> Named:
    """Where such a figure names another thing, what it names, and what there is."""
    sweeps = experiment.sweeps
    for name, figure in _maps(experiment):
        where = f"figure.{name}"
        yield f"{where}.sweep", figure.sweep, sweeps
        sweep = sweeps.get(figure.sweep)
        if sweep is None:
            continue
        yield f"{where}.measure", figure.measure, sweep.measures
        for axis in _drawn(figure):
            yield f"{where}.x, y", axis, sweep.over
        if isinstance(figure, MapFigure) and figure.contour is not None:
            yield f"{where}.contour", figure.contour, sweep.measures
        for panel in panels_of(figure):
            yield f"{where}.case", panel.case, sweep.cases
            yield from ((f"{where}.at", axis, sweep.over) for axis in panel.at)


def wrong_maps(experiment: Experiment) -> Iterator[str]:
    """Say what keeps such figures from being drawn; all names are known to exist."""
    sweeps = experiment.sweeps
    for name, figure in _maps(experiment):
        where = f"figure '{name}'"
        sweep = sweeps[figure.sweep]
        if sweep.design != "grid":
            yield (
                f"{where}: sweep '{figure.sweep}' has no grid but a design of kind"
                f" '{sweep.design}': use its table"
            )
            continue
        if figure.reduce == "share above limit" and figure.limit is None:
            yield f"{where}: reduce 'share above limit' needs a limit"
        if isinstance(figure, MapFigure):
            if figure.x == figure.y:
                yield f"{where}: x and y are the same axis '{figure.x}'"
            if bool(figure.contour) != bool(figure.levels):
                yield f"{where}: contour (a measure) and levels (its values) go together"
        for panel in panels_of(figure):
            yield from (f"{where}, case '{panel.case}': {t}" for t in _panel(figure, panel, sweep))


def _panel(figure: MapFigure | LinesFigure, panel: MapPanel, sweep: Sweep) -> Iterator[str]:
    """Say which axes have no value, or one that they do not have."""
    for name, axis in sweep.over.items():
        try:
            listed = points_of(axis)
            if name in _drawn(figure):
                if name in panel.at:
                    yield f"at.{name}: this axis is drawn"
            elif name not in panel.at:
                if len(listed) > 1:
                    yield f"axis '{name}' is not drawn: say with at = {{ {name} = .. }} which value"
            elif point_at(axis, panel.at[name]).value not in [point.value for point in listed]:
                yield f"at.{name}: no value {panel.at[name]!r}; it has: {_listed(listed)}"
        except DescriptionError:
            continue  # reported with the sweep


def _listed(points: Collection[AxisPoint]) -> str:
    return ", ".join(str(point.shown) for point in points)


def _drawn(figure: MapFigure | LinesFigure) -> tuple[str, ...]:
    return (figure.x, figure.y) if isinstance(figure, MapFigure) else (figure.x,)


def _maps(experiment: Experiment) -> Iterator[tuple[str, MapFigure | LinesFigure]]:
    for name, figure in experiment.figure.items():
        if isinstance(figure, MapFigure | LinesFigure):
            yield name, figure
