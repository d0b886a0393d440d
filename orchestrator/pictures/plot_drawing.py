"""Plots drawn by Matplotlib, for papers, documents and prompts; as files not again if unchanged."""

from __future__ import annotations

import hashlib
import io
import multiprocessing
import pickle
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from orchestrator.core import operating_system
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.recording import link, whole_file
from orchestrator.pictures.drawing import Drawing
from orchestrator.pictures.panels import decimate, thin
from orchestrator.study.content import DASHES, PALETTE, Curve, Panel, Plot, Reference, Span

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MARKERS = "osD^vP*"
WIDTH = 7.5


def literal(text: str) -> str:
    """Text that matplotlib shows as it is: one line, and no formulae between dollars."""
    return " ".join(text.split()).replace("$", r"\$")


def new_figure(width: float, height: float) -> Figure:
    """Make an empty figure, inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    vars(figure)["_repr_png_"] = partial(picture, figure, "png")  # a notebook shows it
    return figure


def headline(figure: Figure, title: str) -> None:
    """Put a title above all panels; none if it is empty."""
    if title:
        figure.suptitle(literal(title), fontsize=11, fontweight="bold")


def look_of(curve: Curve, index: int) -> dict[str, Any]:
    """Say how the curve at a place among others is drawn."""
    return {
        "color": curve.colour or PALETTE[index % len(PALETTE)],
        "linestyle": curve.dash or DASHES[index % len(DASHES)],
        "linewidth": 2.2 if index == 0 else 1.5,
        "dash_capstyle": "butt",
        "label": literal(curve.label),
    }


def dress(axes: Axes) -> None:
    """Give axes a grid, and no frame."""
    axes.grid(visible=True, color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8.5, color="#888888")


def legend(axes: Axes, labels: Sequence[str]) -> None:
    """List the labels right of the axes, if there are several."""
    listed = [
        (line, literal(label)) for line, label in zip(axes.lines, labels, strict=True) if label
    ]
    if len(listed) > 1:
        axes.legend(
            [line for line, _ in listed],
            [label for _, label in listed],
            loc="upper left",
            bbox_to_anchor=(1.01, 1.0),
            borderaxespad=0.0,
            frameon=False,
            fontsize=8.5,
            handlelength=3.2,
        )


def straight(axes: Axes, line: Reference, index: int, *, above: bool = False) -> None:
    """Draw a horizontal or vertical line, the nth of its axes, below or above the curves."""
    draw = axes.axhline if line.axis == "y" else axes.axvline
    look = look_of(Curve(line.label, (), (), colour="#222222" if above else "#888888"), index + 1)
    draw(line.value, **{**look, "linewidth": 1.2, "zorder": 2.5 if above else 1.5})


#: Width of a letter of a label above a panel, as a share of the panel's.
_LETTER = 0.011


def draw_plot(plot: Plot) -> Figure:
    """Draw a plot.

    Signals over time stand one panel below the other with a shared axis; where they stand in
    several columns, one legend below stands for all of them.
    """
    if not plot.panels:
        raise DescriptionError(f"plot '{plot.title}': expected at least one panel, found none")
    rows = -(-len(plot.panels) // plot.columns)
    is_time = plot.kind == "time"
    height = 1.0 + 2.1 * rows**0.9 if is_time else 4.0 * rows
    figure = new_figure(WIDTH if plot.columns == 1 else 4.6 * plot.columns, height)
    grid = figure.subplots(rows, plot.columns, sharex=is_time, squeeze=False)
    used_axes = list(grid.flat)[: len(plot.panels)]
    explained: list[str] = []
    for axes, panel in zip(used_axes, plot.panels, strict=True):
        labels = _DRAW[plot.kind](axes, panel)
        _scale(axes, panel, plot)
        if plot.columns == 1 and labels != explained:  # one that repeats the one above says nothing
            legend(axes, labels)
        explained = labels
    for axes in list(grid.flat)[len(plot.panels) :]:
        axes.remove()
    _shade(used_axes, plot.spans)
    figure.align_ylabels(used_axes)
    lowest = used_axes[-plot.columns :] if is_time else used_axes  # of axes that share an abscissa
    for axes, panel in zip(used_axes, plot.panels, strict=True):
        if axes in lowest:
            axes.set_xlabel(literal(panel.xlabel or plot.xlabel))
            axes.tick_params(labelbottom=True)
    headline(figure, plot.title)
    if plot.columns > 1:
        _common_legend(figure, used_axes)
        figure.set_layout_engine("constrained", wspace=0.06)
    return figure


def _draw_signals(axes: Axes, panel: Panel) -> list[str]:
    """Draw samples over time; returns what the legend says of each line."""
    for i, curve in enumerate(panel.curves):
        axes.plot(*decimate(*curve.points()), **look_of(curve, i))
        _shade_band(axes, curve)
    for i, line in enumerate(panel.lines):
        straight(axes, line, i, above=True)
    axes.margins(x=0)
    return [curve.label for curve in panel.curves] + [line.label for line in panel.lines]


def _draw_paths(axes: Axes, panel: Panel) -> list[str]:
    """Draw paths in a plane, which may come back."""
    for i, curve in enumerate(panel.curves):
        axes.plot(*thin(*curve.points()), **look_of(curve, i))
    return [curve.label for curve in panel.curves]


def _draw_points(axes: Axes, panel: Panel) -> list[str]:
    """Draw what was expected as lines, and on them what was found as marks that are joined."""
    expected = [curve for curve in panel.curves if curve.is_expected]
    computed = [curve for curve in panel.curves if not curve.is_expected]
    for i, curve in enumerate(expected):
        axes.plot(*curve.points(), **{**look_of(curve, i + 1), "color": curve.colour or "#555555"})
    for i, curve in enumerate(computed):
        marker: dict[str, Any] = {"marker": MARKERS[i % len(MARKERS)], "markersize": 5}
        axes.plot(*curve.points(), **look_of(curve, i), **marker)
        _shade_band(axes, curve)
    for i, line in enumerate(panel.lines):
        straight(axes, line, i)
    labels = [curve.label for curve in (*expected, *computed)]
    return labels + [line.label for line in panel.lines]


_DRAW = {"time": _draw_signals, "path": _draw_paths, "points": _draw_points}


def _shade_band(axes: Axes, curve: Curve) -> None:
    """Shade the band of the curve that was drawn last."""
    if curve.band is not None:
        look: dict[str, Any] = {"alpha": 0.2, "linewidth": 0.0}
        axes.fill_between(curve.x, *curve.band, color=axes.lines[-1].get_color(), **look)


def _scale(axes: Axes, panel: Panel, plot: Plot) -> None:
    if "x" in plot.log:
        axes.set_xscale("log")
    if "y" in plot.log:
        axes.set_yscale("log")
    axes.set_ylabel(literal(panel.ylabel))
    if plot.ticks is not None:
        axes.set_xticks(plot.ticks[0], list(map(literal, plot.ticks[1])))
    if panel.limits is not None:
        axes.set_ylim(panel.limits)
    dress(axes)


def _shade(grid: Sequence[Axes], spans: Sequence[Span]) -> None:
    """Shade times; a line at the begin keeps short ones visible. All of the time is only named."""
    first, last = grid[0].get_xlim()
    free: list[float] = []  # up to where each row of labels is taken
    for span in sorted(spans, key=lambda span: span.begin):
        if not first <= span.begin <= last:
            continue
        end = last if span.end is None else min(span.end, last)
        for axes in grid if (span.begin, end) != (first, last) else ():
            axes.axvspan(span.begin, end, color="#888888", alpha=0.2, linewidth=0, zorder=0.5)
            axes.axvline(span.begin, color="#888888", linewidth=0.8, zorder=0.6)
        row = next((i for i, taken in enumerate(free) if taken <= span.begin), len(free))
        free[row : row + 1] = [span.begin + (last - first) * (_LETTER * len(span.label) + 0.02)]
        grid[0].annotate(
            literal(span.label),
            (span.begin, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0.0, 3.0 + 9.0 * row),
            textcoords="offset points",
            fontsize=7.5,
            color="#555555",
            annotation_clip=False,
        )
        for axes in grid:
            axes.set_xlim(first, last)


def _common_legend(figure: Figure, grid: Sequence[Axes]) -> None:
    """Put one legend below all panels; a label that several have is listed once."""
    lines = [(str(line.get_label()), line) for axes in grid for line in axes.lines]
    listed = {label: line for label, line in lines if label and not label.startswith("_")}
    if len(listed) > 1:
        figure.legend(
            list(listed.values()),
            list(listed),
            loc="outside lower center",
            ncols=min(len(listed), 4),
            frameon=False,
            fontsize=8.5,
            handlelength=3.2,
        )


#: What can be drawn: a plot, a diagram, or what makes a figure of Matplotlib and can be pickled.
Picture: TypeAlias = "Plot | Drawing | Callable[[], Figure]"
_SUFFIXES = (".png", ".svg")
#: A process takes as long to start as some pictures to be drawn.
_FEW = 2


def draw_pictures(
    pictures: Mapping[str, Picture],
    folder: Path,
    earlier: Path,
    tell: Callable[[float], None] = lambda _share: None,
) -> list[Path]:
    """Write figures as ``NAME.png`` and ``NAME.svg``; returns these paths."""
    folder.mkdir(parents=True, exist_ok=True)
    jobs = []
    for name, drawable in pictures.items():
        sign = _sign(drawable)
        old, new = ([_file(stem / name, s) for s in _SUFFIXES] for stem in (earlier, folder))
        if all(path.is_file() for path in old) and old[1].read_bytes().endswith(sign):
            for before, path in zip(old, new, strict=True):
                link(before, path)
        else:
            jobs.append((drawable, folder / name, sign))
    if len(jobs) <= _FEW or not operating_system.has_process_pools():
        for number, job in enumerate(jobs, 1):
            _draw(*job)
            tell(number / len(jobs))
    else:
        workers = min(len(operating_system.processors()), len(jobs))
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(workers, mp_context=spawn) as pool:
            for number, _ in enumerate(pool.map(_draw, *zip(*jobs, strict=True)), 1):
                tell(number / len(jobs))
    return [_file(folder / name, suffix) for name in pictures for suffix in _SUFFIXES]


def _draw(drawable: Picture, stem: Path, sign: bytes) -> None:
    """Write a picture in both formats; the SVG ends with the sign of what it shows."""
    png, svg = _contents(drawable)
    for suffix, content in zip(_SUFFIXES, (png, svg + sign), strict=True):
        with whole_file(_file(stem, suffix)) as draft:
            draft.write_bytes(content)


def _contents(drawable: Picture) -> tuple[bytes, bytes]:
    if isinstance(drawable, Drawing):
        return drawable.png(), drawable.svg()

    figure = draw_plot(drawable) if isinstance(drawable, Plot) else drawable()
    png = picture(figure, "png")
    figure.set_layout_engine("none")  # the second format takes the layout of the first
    return png, picture(figure, "svg")


def _sign(drawable: Picture) -> bytes:
    """Return a comment that stands for what is shown, and for how it is drawn."""
    content = hashlib.sha256(pickle.dumps(drawable, protocol=5) + _look()).hexdigest()
    return f"<!-- softdock {content} -->\n".encode()


@cache
def _look() -> bytes:
    """Return what else determines a picture: who draws it."""
    versions = f"{version('matplotlib')} {version('softdock')}".encode()
    return versions + Path(__file__).read_bytes()


def _file(stem: Path, suffix: str) -> Path:
    return stem.with_name(stem.name + suffix)


def picture(figure: Figure, kind: Literal["png", "svg"]) -> bytes:
    """Draw a figure as PNG (150 dpi) or SVG.

    The same figure gives the same bytes: no date, no random identifiers.
    """
    import matplotlib as mpl

    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    content = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "softdock"}):
        figure.savefig(content, format=kind, dpi=150, facecolor="white", metadata=metadata)
    return content.getvalue()


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure as PNG or SVG, by the file's suffix; see :func:`picture`."""
    suffix = Path(path).suffix.lower()
    if suffix not in {".png", ".svg"}:
        raise DescriptionError.in_file(path, "expected a picture's name to end in .png or .svg")
    content = picture(figure, "svg" if suffix == ".svg" else "png")
    with whole_file(path) as draft:
        draft.write_bytes(content)
