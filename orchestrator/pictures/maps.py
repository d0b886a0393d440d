"""Maps: a figure over two quantities as colours, panels side by side with one scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.pictures.map_marks import draw_lines, hatch_cells
from orchestrator.pictures.plot_parts import headline, literal, new_figure
from orchestrator.study.content import MapAxis, MapLook, MapPanel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

#: A panel is so wide and high, in inches.
_WIDTH, _HEIGHT = 3.1, 3.3
#: Panels in a row.
_MOST = 3


def plot_maps(
    panels: Sequence[MapPanel], x: MapAxis, y: MapAxis, look: MapLook, title: str = ""
) -> Figure:
    """Draw maps side by side."""
    if not panels:
        raise DescriptionError("a map: expected at least one panel, found none")
    columns = min(len(panels), _MOST)
    rows = -(-len(panels) // columns)
    figure = new_figure(1.6 + _WIDTH * columns, 0.9 + _HEIGHT * rows)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    norm, extend = _norm(panels, look)
    colours: Any = {"norm": norm, "cmap": "RdBu_r" if look.colours == "diverging" else "viridis"}
    legend: dict[str, Any] = {}
    mesh: Any = None
    for place, axes in enumerate(grid.flat):
        if place >= len(panels):
            axes.set_visible(False)
            continue
        panel = panels[place]
        shown = np.ma.masked_invalid(panel.values)
        mesh = axes.pcolormesh(x.edges, y.edges, shown, rasterized=True, **colours)
        _scale(axes, x, y)
        legend |= hatch_cells(axes, panel, x, y)
        legend |= draw_lines(axes, panel, x, y, look)
        axes.set_title(literal(panel.title), fontsize=9.5)
        axes.tick_params(labelsize=8.5)
    for axes in grid[-1, :]:
        axes.set_xlabel(literal(x.label))
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

    found = np.concatenate([panel.values.ravel() for panel in panels])
    found = found[np.isfinite(found) & ((found > 0) | (look.colours != "log"))]
    if not found.size and look.colours == "log":
        raise DescriptionError(f"map '{look.label}': no value above 0 for a logarithmic scale")
    low, high = look.limits or ((found.min(), found.max()) if found.size else (0.0, 1.0))
    if look.limits is None and look.colours == "diverging":
        centre = look.limit or 0.0
        reach = max(abs(high - centre), abs(low - centre)) or 1.0
        low, high = centre - reach, centre + reach
    if low == high:
        high = low + (abs(low) or 1.0)
    below, above = bool((found < low).any()), bool((found > high).any())
    extend = {(False, False): "neither", (True, False): "min", (False, True): "max"}
    kind: type[Normalize] = LogNorm if look.colours == "log" else Normalize
    return kind(float(low), float(high)), extend.get((below, above), "both")


def _scale(axes: Axes, x: MapAxis, y: MapAxis) -> None:
    for which, axis in (("x", x), ("y", y)):
        if axis.log:
            getattr(axes, f"set_{which}scale")("log")
        if axis.is_named:
            getattr(axes, f"set_{which}ticks")(axis.centres, list(map(literal, axis.values)))  # type: ignore[arg-type]
        getattr(axes, f"set_{which}lim")(axis.edges[0], axis.edges[-1])
        if axis.log:
            _plain_ticks(getattr(axes, f"{which}axis"), axis)


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
