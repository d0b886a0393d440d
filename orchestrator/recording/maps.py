"""Maps: a figure over two quantities as colours, panels side by side with one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from orchestrator.errors import DescriptionError
from orchestrator.recording.plot_parts import headline, literal, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
#: Cells without a figure, each kind with a hatch of its own.
_HATCHES = ("////", "xxxx", "....", "\\\\\\\\", "++++", "oooo")
#: A panel is so wide and high, in inches.
_WIDTH, _HEIGHT = 3.1, 3.3
#: Panels in a row.
_MOST = 3


@dataclass(frozen=True, slots=True)
class MapAxis:
    """An axis of all panels.

    Parameters
    ----------
    label
        With the unit.
    values
        Numbers in increasing order, or names.
    log
        Whether it is logarithmic.
    """

    label: str
    values: tuple[float, ...] | tuple[str, ...]
    log: bool = False

    @property
    def is_named(self) -> bool:
        """Whether the values are names."""
        return any(isinstance(value, str) for value in self.values)

    @property
    def centres(self) -> Floats:
        """Where the cells' centres are; those of names are counted."""
        if self.is_named:
            return np.arange(len(self.values), dtype=np.float64)
        return np.array(self.values, dtype=np.float64)

    @property
    def edges(self) -> Floats:
        """Borders of the cells: half-way between the values, on the scale of the axis."""
        at = np.log(self.centres) if self.log else self.centres
        if len(at) == 1:
            found = np.array([at[0] - 0.5, at[0] + 0.5])
        else:
            middle = (at[:-1] + at[1:]) / 2
            found = np.concatenate(([2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]))
        return np.exp(found) if self.log else found


@dataclass(frozen=True, slots=True, eq=False)
class MapPanel:
    """One map.

    Parameters
    ----------
    title
        Above it.
    values
        Array of shape (rows, columns), with NaN where there is none.
    missing
        Why there is none: masks of the same shape, by what the legend says.
    predicted, contour
        Of the same shape; the first has the predicted limit, the second the contour lines.
    """

    title: str
    values: Floats
    missing: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    predicted: Floats | None = None
    contour: Floats | None = None


@dataclass(frozen=True, slots=True)
class MapLook:
    """How maps look.

    Parameters
    ----------
    label
        Of the scale, with the unit.
    colours
        ``"log"``: logarithmic; ``"diverging"``: two hues that meet at the limit, or at zero.
    limit
        Whose line is drawn; ``None``: none.
    limits
        Ends of the scale; ``None``: those of the values.
    contour_label, levels
        Of the contour lines.
    """

    label: str
    colours: Literal["linear", "log", "diverging"] = "linear"
    limit: float | None = None
    limits: tuple[float, float] | None = None
    contour_label: str = ""
    levels: tuple[float, ...] = ()

    @property
    def limit_label(self) -> str:
        """The limit with the unit of the label."""
        unit = self.label.rpartition(" [")[2].removesuffix("]") if self.label.endswith("]") else ""
        return f"limit {self.limit:g} {unit}".rstrip()


def plot_maps(
    panels: Sequence[MapPanel], x: MapAxis, y: MapAxis, look: MapLook, title: str = ""
) -> Figure:
    """Draw maps side by side.

    Raises
    ------
    DescriptionError
        If there is no panel, or a logarithmic scale has nothing above zero.
    """
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
        legend |= _hatch(axes, panel, x, y)
        legend |= _lines(axes, panel, x, y, look)
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


def _hatch(axes: Axes, panel: MapPanel, x: MapAxis, y: MapAxis) -> dict[str, Any]:
    """Hatch the cells that have no figure; returns what the legend shows."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Patch, Rectangle

    legend = {}
    across, up = x.edges, y.edges
    for label, mask in panel.missing.items():
        hatch = _HATCHES[sum(map(ord, label)) % len(_HATCHES)]  # the same in all panels
        cells = [
            Rectangle((across[j], up[i]), across[j + 1] - across[j], up[i + 1] - up[i])
            for i, j in np.argwhere(mask)
        ]
        if cells:
            look: dict[str, Any] = {"hatch": hatch, "facecolor": "#EEEEEE", "edgecolor": "#999999"}
            axes.add_collection(PatchCollection(cells, linewidth=0.0, **look))
            legend[literal(label)] = Patch(linewidth=0.0, **look)
    return legend


def _lines(axes: Axes, panel: MapPanel, x: MapAxis, y: MapAxis, look: MapLook) -> dict[str, Any]:
    """Draw the limit, the predicted limit and contours; returns what the legend shows."""
    from matplotlib.lines import Line2D

    legend: dict[str, Any] = {}
    if min(len(x.values), len(y.values)) < 2:
        return legend
    is_log = look.colours == "log"
    dashed = (0.0, (4.0, 2.5))
    if look.limit is not None:
        drawn: list[tuple[str, Floats | None, Any]] = [
            ("", panel.values, "-"),
            (" (predicted)", panel.predicted, dashed),
        ]
        for suffix, values, dash in drawn:
            if values is not None and _contour(
                axes, x, y, values, (look.limit,), is_log=is_log, linestyles=[dash]
            ):
                legend[f"{look.limit_label}{suffix}"] = Line2D(
                    [], [], color="black", linestyle=dash, linewidth=1.6
                )
    if panel.contour is not None and look.levels:
        lines = _contour(axes, x, y, panel.contour, look.levels, linestyles=["-"], colour="white")
        if lines is not None:
            axes.clabel(lines, fontsize=7.5, fmt=lambda value: f"{value:g}")
            grey = Line2D([], [], color="#BBBBBB", linewidth=1.2)
            legend[literal(look.contour_label)] = grey
    return legend


def _contour(
    axes: Axes,
    x: MapAxis,
    y: MapAxis,
    values: Floats,
    levels: Sequence[float],
    *,
    linestyles: Any,
    colour: str = "black",
    is_log: bool = False,
) -> Any:
    """Draw lines of equal value, if there are any."""
    from matplotlib.patheffects import withStroke

    finite = values[np.isfinite(values)]
    inside = [level for level in sorted(levels) if finite.size and _within(level, finite)]
    if not inside:
        return None
    if is_log:
        with np.errstate(divide="ignore", invalid="ignore"):
            values, inside = np.log(values), [float(np.log(level)) for level in inside]
    width = 1.6 if colour == "black" else 1.1
    shown = np.ma.masked_invalid(values)
    lines = axes.contour(
        x.centres, y.centres, shown, inside, colors=colour, linewidths=width, linestyles=linestyles
    )
    if colour == "black":  # is seen on dark cells too
        lines.set_path_effects([withStroke(linewidth=3.0, foreground="white")])
    return lines


def _within(level: float, values: Floats) -> bool:
    return bool(values.min() < level < values.max())
