"""What is wrong with the figures that are drawn from campaigns, before anything is run."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from orchestrator.campaign.axes import AxisPoint, point_at, points_of
from orchestrator.campaign.campaign_table import (
    Campaign,
    LinesFigure,
    MapFigure,
    MapPanel,
)
from orchestrator.campaign.experiment import Experiment
from orchestrator.errors import DescriptionError

Named = Iterator[tuple[str, str, Collection[str]]]


def panels_of(figure: MapFigure | LinesFigure) -> tuple[MapPanel, ...]:
    """Return the panels of a map, or the curves of a figure with lines."""
    return figure.panels if isinstance(figure, MapFigure) else figure.curves


def named_by_maps(experiment: Experiment) -> Named:
    """Where such a figure names another thing, what it names, and what there is."""
    for name, figure in _maps(experiment):
        where = f"figure.{name}"
        yield f"{where}.campaign", figure.campaign, experiment.campaign
        campaign = experiment.campaign.get(figure.campaign)
        if campaign is None:
            continue
        yield f"{where}.measure", figure.measure, campaign.measures
        for axis in _drawn(figure):
            yield f"{where}.x, y", axis, campaign.over
        if isinstance(figure, MapFigure) and figure.contour is not None:
            yield f"{where}.contour", figure.contour, campaign.measures
        for panel in panels_of(figure):
            yield f"{where}.case", panel.case, campaign.cases
            yield from ((f"{where}.at", axis, campaign.over) for axis in panel.at)


def wrong_maps(experiment: Experiment) -> Iterator[str]:
    """Say what keeps such figures from being drawn; all names are known to exist."""
    for name, figure in _maps(experiment):
        where = f"figure '{name}'"
        campaign = experiment.campaign[figure.campaign]
        if campaign.design != "grid":
            yield (
                f"{where}: campaign '{figure.campaign}' has no grid but a design of kind"
                f" '{campaign.design}': use its table"
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
            yield from (
                f"{where}, case '{panel.case}': {t}" for t in _panel(figure, panel, campaign)
            )


def _panel(figure: MapFigure | LinesFigure, panel: MapPanel, campaign: Campaign) -> Iterator[str]:
    """Say which axes have no value, or one that they do not have."""
    for name, axis in campaign.over.items():
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
            continue  # reported with the campaign


def _listed(points: Collection[AxisPoint]) -> str:
    return ", ".join(str(point.shown) for point in points)


def _drawn(figure: MapFigure | LinesFigure) -> tuple[str, ...]:
    return (figure.x, figure.y) if isinstance(figure, MapFigure) else (figure.x,)


def _maps(experiment: Experiment) -> Iterator[tuple[str, MapFigure | LinesFigure]]:
    for name, figure in experiment.figure.items():
        if isinstance(figure, MapFigure | LinesFigure):
            yield name, figure
