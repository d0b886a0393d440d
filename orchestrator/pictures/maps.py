"""Maps: a figure over two quantities as colours, with hatched cells, limits and contours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.structs import Struct
from orchestrator.pictures.plot_drawing import headline, literal, new_figure
from orchestrator.study.content import Floats, MapAxis, MapLook, MapPanel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure


#: Cells without a figure, each kind with a hatch of its own.
_EMPTY = {"facecolor": "#EEEEEE", "edgecolor": "#999999"}
_OVER = {"facecolor": "none", "edgecolor": "#333333"}
_HATCHES = ("////", "\\\\\\\\", "xxxx", "||||", "----", "++++")


class _Pen(Struct):
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
        curves = [("", panel.values, _SOLID), (" (predicted)", panel.predicted, _DASHED)]
        for suffix, values, pen in curves:
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
    inside = [v for v in sorted(levels) if finite.size and finite.min() < v < finite.max()]
    if not inside:
        return None
    if is_log:
        with np.errstate(divide="ignore", invalid="ignore"):
            values, inside = np.log(values), [float(np.log(level)) for level in inside]
    masked = np.ma.masked_invalid(values)
    lines = axes.contour(x.scaled, y.scaled, masked, inside, colors=pen.colour)
    for path in lines.get_paths():  # straight on the scales of the axes, and back
        across, up = np.asarray(path.vertices, dtype=np.float64).T
        ends = np.exp(across) if x.log else across, np.exp(up) if y.log else up
        path.vertices = np.column_stack(ends)
    lines.set(linewidth=pen.width, linestyle=pen.dash, path_effects=pen.edge())
    return lines


#: A panel is so wide and high, in inches.
_WIDTH, _HEIGHT = 3.1, 3.3
#: Panels in a row.
_MOST = 3


def plot_maps(
    panels: Sequence[MapPanel],
    x: MapAxis,
    y: MapAxis,
    look: MapLook,
    title: str = "",
    columns: int = _MOST,
) -> Figure:
    """Draw maps side by side, at most ``columns`` in a row."""
    if not panels:
        raise DescriptionError("a map: expected at least one panel, found none")
    columns = min(len(panels), columns)
    rows = -(-len(panels) // columns)
    figure = new_figure(1.6 + _WIDTH * columns, 0.9 + _HEIGHT * rows)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    norm, extend = _norm(panels, look)
    colours: Any = {"norm": norm, "cmap": "RdBu_r" if look.colours == "diverging" else "viridis"}
    legend: dict[str, Any] = {}
    mesh: Any = None
    for index, axes in enumerate(grid.flat):
        if index >= len(panels):
            axes.set_visible(False)
            continue
        panel = panels[index]
        masked = np.ma.masked_invalid(panel.values)
        mesh = axes.pcolormesh(x.edges, y.edges, masked, rasterized=True, **colours)
        _scale(axes, x, y)
        legend |= hatch_cells(axes, panel, x, y)
        legend |= draw_lines(axes, panel, x, y, look)
        axes.set_title(literal(panel.title), fontsize=9.5)
        axes.tick_params(labelsize=8.5)
    for column in grid.T:
        lowest = next(axes for axes in reversed(column) if axes.get_visible())
        lowest.tick_params(axis="x", labelbottom=True)
        lowest.set_xlabel(literal(x.label))
    for axes in grid[:, 0]:
        axes.set_ylabel(literal(y.label))
    bar = figure.colorbar(mesh, ax=grid.ravel().tolist(), extend=extend, pad=0.02)
    bar.set_label(literal(look.label))
    bar.ax.tick_params(labelsize=8.5)
    if look.limit is not None and norm.vmin <= look.limit <= norm.vmax:
        bar.ax.axhline(look.limit, color="black", linewidth=1.6)
    if legend:
        figure.legend(
            legend.values(),
            legend.keys(),
            loc="outside lower center",
            ncols=min(len(legend), 3),
            frameon=False,
            fontsize=8.5,
        )
    headline(figure, title)
    return figure


def _norm(panels: Sequence[MapPanel], look: MapLook) -> tuple[Any, str]:
    """One scale for all panels, and at which ends values lie beyond it."""
    from matplotlib.colors import LogNorm, Normalize

    finite = np.concatenate([panel.values.ravel() for panel in panels])
    finite = finite[np.isfinite(finite) & ((finite > 0) | (look.colours != "log"))]
    if not finite.size and look.colours == "log":
        raise DescriptionError(f"map '{look.label}': no value above 0 for a logarithmic scale")
    low, high = look.limits or ((finite.min(), finite.max()) if finite.size else (0.0, 1.0))
    if look.limits is None and look.colours == "diverging":
        centre = look.limit or 0.0
        reach = max(abs(high - centre), abs(low - centre)) or 1.0
        low, high = centre - reach, centre + reach
    if low == high:
        high = low + (abs(low) or 1.0)
    below, above = bool((finite < low).any()), bool((finite > high).any())
    extend = {(False, False): "neither", (True, False): "min", (False, True): "max"}
    kind: type[Normalize] = LogNorm if look.colours == "log" else Normalize
    return kind(float(low), float(high)), extend.get((below, above), "both")


def _scale(axes: Axes, x: MapAxis, y: MapAxis) -> None:
    for axis_name, axis in (("x", x), ("y", y)):
        if axis.log:
            getattr(axes, f"set_{axis_name}scale")("log")
        if axis.is_named:
            getattr(axes, f"set_{axis_name}ticks")(axis.centres, list(map(literal, axis.values)))  # type: ignore[arg-type]
        getattr(axes, f"set_{axis_name}lim")(axis.edges[0], axis.edges[-1])
        if axis.log:
            _plain_ticks(getattr(axes, f"{axis_name}axis"), axis)


def _plain_ticks(of: Any, axis: MapAxis) -> None:
    """Numbers as people write them, also where an axis has no whole power of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    first, last = axis.edges[0], axis.edges[-1]
    decades = np.log10(last / first)
    steps = (1.0, 2.0, 5.0) if decades < 3 else (1.0,)
    of.set_major_locator(LogLocator(base=10.0, subs=steps))
    of.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    of.set_minor_formatter(NullFormatter())
    if decades < 3:
        of.set_minor_locator(NullLocator())
