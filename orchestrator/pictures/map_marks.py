"""What is drawn over the colours of a map: hatched cells, limits, contours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.pictures.plot_parts import literal
from orchestrator.study.content import MapAxis, MapLook, MapPanel
from orchestrator.study.content.map_content import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Cells without a figure, each kind with a hatch of its own.
_EMPTY = {"facecolor": "#EEEEEE", "edgecolor": "#999999"}
_OVER = {"facecolor": "none", "edgecolor": "#333333"}
_HATCHES = ("////", "\\\\\\\\", "xxxx", "||||", "----", "++++")


@dataclass(frozen=True, slots=True)
class _Pen:
    """How a line on a map is drawn: with an edge, so that it is seen on any colour."""

    colour: str
    edge_colour: str
    width: float
    dash: Any

    def edge(self) -> list[Any]:
        """Return the effect that draws the edge."""
        from matplotlib.patheffects import withStroke

        return [withStroke(linewidth=self.width + 1.4, foreground=self.edge_colour)]

    def line(self) -> Any:
        """Return such a line for the legend."""
        from matplotlib.lines import Line2D

        look: dict[str, Any] = {"linewidth": self.width, "linestyle": self.dash}
        return Line2D([], [], color=self.colour, path_effects=self.edge(), **look)


_SOLID = _Pen("black", "white", 1.8, "-")
#: White on the black of the other where both agree.
_DASHED = _Pen("white", "black", 1.2, (0.0, (3.0, 3.0)))
_THIN = _Pen("#555555", "white", 1.0, "-")


def hatch_cells(axes: Axes, panel: MapPanel, x: MapAxis, y: MapAxis) -> dict[str, Any]:
    """Hatch cells without a value, or with a reservation; returns what the legend shows."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Patch, Rectangle

    legend = {}
    across, up = x.edges, y.edges
    kinds = [(label, mask, _EMPTY) for label, mask in panel.missing.items()]
    kinds += [(label, mask, _OVER) for label, mask in panel.marked.items()]
    for label, mask, fill in kinds:
        hatch = _HATCHES[sum(map(ord, label)) % len(_HATCHES)]  # the same in all panels
        hatch = hatch if fill is _EMPTY else hatch[:2]
        cells = [
            Rectangle((across[j], up[i]), across[j + 1] - across[j], up[i + 1] - up[i])
            for i, j in np.argwhere(mask)
        ]
        if cells:
            look: dict[str, Any] = {"hatch": hatch, "linewidth": 0.0, **fill}
            axes.add_collection(PatchCollection(cells, **look))
            legend[literal(label)] = Patch(**look)
    return legend


def draw_lines(
    axes: Axes, panel: MapPanel, x: MapAxis, y: MapAxis, look: MapLook
) -> dict[str, Any]:
    """Draw the limit, the predicted limit and contours; returns what the legend shows."""
    legend: dict[str, Any] = {}
    if min(len(x.values), len(y.values)) < 2:
        return legend
    if look.limit is not None:
        drawn = [("", panel.values, _SOLID), (" (predicted)", panel.predicted, _DASHED)]
        for suffix, values, pen in drawn:
            is_log = look.colours == "log"
            if values is not None and _contour(
                axes, x, y, values, (look.limit,), pen, is_log=is_log
            ):
                legend[f"{look.limit_label}{suffix}"] = pen.line()
    if panel.contour is not None and look.levels:
        lines = _contour(axes, x, y, panel.contour, look.levels, _THIN)
        if lines is not None:
            for text in axes.clabel(lines, fontsize=7.5, fmt=lambda value: f"{value:g}"):
                text.set_path_effects(_THIN.edge())
            legend[literal(look.contour_label)] = _THIN.line()
    return legend


def _contour(
    axes: Axes,
    x: MapAxis,
    y: MapAxis,
    values: Floats,
    levels: Sequence[float],
    pen: _Pen,
    *,
    is_log: bool = False,
) -> Any:
    """Draw lines of equal value, if there are any."""
    finite = values[np.isfinite(values)]
    inside = [level for level in sorted(levels) if finite.size and _within(level, finite)]
    if not inside:
        return None
    if is_log:
        with np.errstate(divide="ignore", invalid="ignore"):
            values, inside = np.log(values), [float(np.log(level)) for level in inside]
    shown = np.ma.masked_invalid(values)
    lines = axes.contour(x.scaled, y.scaled, shown, inside, colors=pen.colour)
    for path in lines.get_paths():  # straight on the scales of the axes, and back
        across, up = np.asarray(path.vertices, dtype=np.float64).T
        ends = np.exp(across) if x.log else across, np.exp(up) if y.log else up
        path.vertices = np.column_stack(ends)
    lines.set(linewidth=pen.width, linestyle=pen.dash, path_effects=pen.edge())
    return lines


def _within(level: float, values: Floats) -> bool:
    return bool(values.min() < level < values.max())
