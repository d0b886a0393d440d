"""A report of an experiment as one HTML file that needs nothing else: no network."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import ArrayLike

from orchestrator.core.coupling import DelayPlan, LoopDelay
from orchestrator.core.diagnostics import LoadError
from orchestrator.core.recording import ParameterRow, whole_file
from orchestrator.pictures.drawing import Drawing
from orchestrator.pictures.drawing.drawing import ValuedDrawing
from orchestrator.pictures.drawing.page import embedded, environment, joined, policy_of
from orchestrator.pictures.panels import decimate, thin
from orchestrator.study.content import (
    DASHES,
    PALETTE,
    CaseSection,
    Curve,
    Dash,
    FigureItem,
    FileItem,
    Floats,
    Panel,
    Plot,
    Report,
    TableItem,
)

#: Samples of a curve that are kept as they are; of a longer one its peaks, ends and gaps are.
LARGEST_CURVE = 200_000
#: Samples of all curves of a page; if they are more, each is kept to its share of them.
LARGEST_PAGE = 4_000_000
_LEAST = 5_000
_NANOSECONDS = 1e9
#: Of Matplotlib's names of dashes: lengths of strokes and gaps in widths of the line.
_NAMED: dict[str, list[float]] = {
    "-": [],
    "--": [3.7, 1.6],
    ":": [1, 1.65],
    "-.": [6.4, 1.6, 1, 1.6],
}


class PlotData:
    """Collects the plots of a page.

    plots: All that will be added, as they share the room.
    most: Samples of all curves.
    """

    def __init__(self, plots: Sequence[Plot], limit: int = LARGEST_PAGE) -> None:
        curves = sum(len(panel.curves) for plot in plots for panel in plot.panels)
        self._largest = max(_LEAST, min(LARGEST_CURVE, limit // max(curves, 1)))
        self._places: dict[bytes, int] = {}
        self._arrays: list[dict[str, Any]] = []
        self._plots = [self._plot(plot) for plot in plots]

    def as_json(self) -> dict[str, Any]:
        """Return plain data: arrays, and plots whose curves name arrays by their place."""
        return {"arrays": self._arrays, "figures": self._plots}

    def _plot(self, plot: Plot) -> dict[str, Any]:
        return {
            "kind": plot.kind,
            "title": plot.title,
            "xlabel": plot.xlabel,
            "columns": plot.columns,
            "log": plot.log,
            "ticks": plot.ticks and [[*map(float, plot.ticks[0])], [*map(str, plot.ticks[1])]],
            "spans": [[span.label, span.begin, span.end] for span in plot.spans],
            "panels": [self._panel(panel, plot) for panel in plot.panels],
        }

    def _panel(self, panel: Panel, plot: Plot) -> dict[str, Any]:
        expected = [curve for curve in panel.curves if curve.is_expected]
        computed = [curve for curve in panel.curves if not curve.is_expected]
        curves = [self._curve(curve, i, plot.kind) for i, curve in enumerate(expected)]
        return {
            "xlabel": panel.xlabel,
            "ylabel": panel.ylabel,
            "limits": panel.limits,
            "lines": [
                [line.label, line.value, line.axis, _dash(None, i + 1)]
                for i, line in enumerate(panel.lines)
            ],
            "curves": curves
            + [self._curve(curve, i, plot.kind) for i, curve in enumerate(computed)],
        }

    def _curve(self, curve: Curve, index: int, kind: str) -> dict[str, Any]:
        x, y = curve.points()
        count = len(x)
        if count > self._largest:
            is_path = kind == "path"
            x, y = thin(x, y) if is_path else decimate(x, y, self._largest // 5)
        colour = curve.colour or PALETTE[index % len(PALETTE)]
        is_in_palette = colour in PALETTE
        return {
            "label": curve.label,
            "x": self._array(x),
            "y": self._array(y),
            "count": count,
            "colour": PALETTE.index(colour) if is_in_palette else colour,
            "dash": _dash(curve.dash, index),
            "width": 2.2 if index == 0 and not curve.is_expected else 1.5,
            "marked": kind == "points" and not curve.is_expected,
            "band": None if curve.band is None else self._band(curve, x),
        }

    def _band(self, curve: Curve, abscissae: Floats) -> list[int]:
        """Return the band where the curve is kept."""
        x, _ = curve.points()
        sides = (np.asarray(side, dtype=np.float64) for side in curve.band or ())
        at = slice(None) if len(abscissae) == len(x) else np.searchsorted(x, abscissae)
        return [self._array(side[at]) for side in sides]

    def _array(self, values: ArrayLike) -> int:
        """Return the place of an array, which may be there already."""
        array = np.ascontiguousarray(values, dtype="<f8")
        key = array.tobytes()
        if key not in self._places:
            self._places[key] = len(self._arrays)
            self._arrays.append(packed(array))
        return self._places[key]


def packed(values: Floats) -> dict[str, Any]:
    """Pack an array without loss: equal values, steps of whole nanoseconds, or bytes as base64."""
    if values.size > 1 and np.isfinite(values[0]) and (values == values[0]).all():
        return {"count": values.size, "value": float(values[0])}
    if (
        values.size > 2
        and np.isfinite(values).all()
        and np.abs(values).max() < 2**53 / _NANOSECONDS
    ):
        first, second = (round(float(value) * _NANOSECONDS) for value in values[:2])
        step = second - first
        if ((first + step * np.arange(values.size)) / _NANOSECONDS == values).all():
            return {"count": values.size, "first": first, "step": step}
    with np.errstate(over="ignore"):
        short = values.astype("<f4")
    kind = "f4" if np.array_equal(short.astype("<f8"), values, equal_nan=True) else "f8"
    content = short if kind == "f4" else values
    return {kind: base64.b64encode(content.tobytes()).decode()}


def _dash(dash: Dash | None, index: int) -> list[float] | None:
    """Return strokes and gaps in widths of the line, empty for a whole one; ``None``: no line."""
    dash_style = DASHES[index % len(DASHES)] if dash is None else dash
    if isinstance(dash_style, str):
        return _NAMED.get(dash_style)
    return list(dash_style[1])


TEMPLATES = Path(__file__).with_name("templates")
_UPLOT = Path(__file__).with_name("vendor") / "uplot"
#: Characters of samples that stand in the page; more stand next to it, in a file with this ending.
LARGEST_DATA, BESIDE = 8_000_000, ".data.js"
_NOTHING = "–"
#: A larger drawing is embedded as PNG.
LARGEST_SVG = 400_000
#: Points; a wider drawing is scrolled, and can be seen in its full size.
_LEGIBLE = 1000.0
#: Of the style sheet, too: what counts as a narrow screen.
_PHONE = "screen and (max-width: 40rem)"
#: Most panels of a figure that is printed next to another one.
_NARROW = 3
_MIME = {".svg": "image/svg+xml", ".png": "image/png"}


def write_report(report: Report, path: str | Path) -> list[Path]:
    """Write a report as one self-contained HTML file; returns what was written.

    Where the samples of its figures are many they are in a file next to it.
    """
    path = Path(path)
    text, samples = _rendered(report, path.with_name(f"{path.stem}{BESIDE}"), LARGEST_DATA)
    for file, content in (*samples.items(), (path, text)):
        with whole_file(file) as draft:
            draft.write_text(content, encoding="utf-8", newline="\n")
    return [path, *samples]


def render_report(report: Report) -> str:
    """Return the HTML of a report with all its samples; all text in it is escaped."""
    return _rendered(report)[0]


def _rendered(
    report: Report, data_folder: Path | None = None, largest: float = math.inf
) -> tuple[str, dict[Path, str]]:
    """Return the page, and the content of a file next to it if it would be too large."""
    items = [*report.figures, *(item for case in report.cases for item in case.figures)]
    plots = {item: item.figure for item in items if isinstance(item.figure, Plot)}
    data = embedded(PlotData(list(plots.values())).as_json()) if plots else ""
    moved = data_folder if len(data) > largest else None
    drawings = {item: item.figure for item in report.diagrams if plots}
    values = {
        item: embedded(drawing.values)
        for item, drawing in drawings.items()
        if isinstance(drawing, ValuedDrawing)
    }
    scripts = _scripts("drawn_diagrams.js") if plots else ()
    text = (
        environment(TEMPLATES, _FILTERS)
        .get_template("report.html.j2")
        .render(
            report=report,
            plots={item: number for number, item in enumerate(plots)},
            data=data,
            values=values,
            beside=moved and quote(moved.name),
            scripts=scripts,
            style=figure_style(),
            policy=" ".join(filter(None, (policy_of(*scripts), "'self' file:" if moved else ""))),
        )
    )
    return text, {moved: f"window.softdockFigures = {data};\n"} if moved else {}


def chart_page(plot: Plot, limit: int) -> str:
    """Return a page that shows one plot, with a limited number of samples."""
    scripts = _scripts()
    return (
        environment(TEMPLATES)
        .get_template("chart.html.j2")
        .render(
            title=plot.title,
            data=embedded(PlotData([plot], limit).as_json()),
            scripts=scripts,
            style=figure_style(),
            policy=policy_of(*scripts),
        )
    )


def _scripts(*more: str) -> tuple[str, ...]:
    """Return uPlot, and what draws with it."""
    return uplot(), script_of("figure_data.js", "figures.js", *more, "drawn_figures.js")


def uplot() -> str:
    """Return uPlot."""
    return joined(_UPLOT, ("uPlot.iife.min.js",))


def script_of(*names: str) -> str:
    """Return templates as one script."""
    return '"use strict";\n' + joined(TEMPLATES, names)


def figure_style() -> str:
    """Return how figures look."""
    return joined(TEMPLATES.parent, ("vendor/uplot/uPlot.min.css", "templates/figures.css"))


def _number(value: object, digits: int = 6) -> str:
    """Write a value for people: numbers with some digits, a dash for what there is not."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return _NOTHING
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        short = f"{value:.{digits}g}"
        # 1120 reads better than 1.12e+03.
        return f"{float(short):.15g}" if 1e-4 <= abs(value) < 1e9 else short
    if isinstance(value, tuple):
        return ", ".join(_number(element, digits) for element in value)
    return str(value)


def _ms(ns: float) -> str:
    """Nanoseconds as a number of milliseconds."""
    return f"{round(ns / 1e6, 6) + 0.0:.10g}"


def _delays(case: CaseSection, attribute: str) -> str:
    """Delays of all loops of a case, in milliseconds, each once."""
    delays = sorted({round(getattr(loop, attribute)) for loop in case.loops})
    return ", ".join(map(_ms, delays)) or _NOTHING


def _inline(item: FigureItem) -> str:
    """Write a picture as an element: drawings as SVG, others as an image with its data."""
    if isinstance(item.figure, Drawing):
        return item.figure.inline(item.alt or item.caption)
    from markupsafe import escape

    image = f'<img src="{escape(_uri(item.figure))}" alt="{escape(item.alt or item.caption)}">'
    if item.narrow is None:
        return image
    source = ""
    if item.narrow is not item.figure:
        source = f'<source media="{_PHONE}" srcset="{escape(_uri(item.narrow))}">'
    return f"<picture>{source}{image}</picture>"


def _uri(figure: Any) -> str:
    """Picture as a data URI."""
    if isinstance(figure, Path):
        mime = _MIME.get(figure.suffix.lower())
        if mime is None:
            raise LoadError(f"{figure}: expected a picture that ends in .png or .svg")
        try:
            content = figure.read_bytes()
        except OSError as error:
            reason = error.strerror or error
            raise LoadError(f"{figure}: picture cannot be read: {reason}") from error
    else:
        from orchestrator.pictures.plot_drawing import picture

        mime, content = _MIME[".svg"], picture(figure, "svg")
        if len(content) > LARGEST_SVG:
            mime, content = _MIME[".png"], picture(figure, "png")
    return f"data:{mime};base64,{base64.b64encode(content).decode()}"


def _wide(item: FigureItem) -> float | None:
    """Width in points of a drawing whose text would be too small to read if it were made to fit."""
    width = item.figure.width if isinstance(item.figure, Drawing) else 0.0
    return width if width > _LEGIBLE else None


def _narrow(item: FigureItem) -> bool:
    """Whether two figures of this kind fit next to each other on a printed page."""
    plot = item.figure
    return isinstance(plot, Plot) and plot.columns == 1 and len(plot.panels) <= _NARROW


def _by_component(rows: Iterable[ParameterRow]) -> list[tuple[str, list[ParameterRow]]]:
    groups: dict[str, list[ParameterRow]] = {}
    for row in rows:
        groups.setdefault(row.component, []).append(row)
    return list(groups.items())


def _text_columns(item: TableItem) -> set[int]:
    """Return the columns that hold words, the first one always."""
    words = {i for row in item.rows for i, value in enumerate(row) if isinstance(value, str)}
    return {0} | words


def _measure_columns(cases: Iterable[CaseSection]) -> list[tuple[str, str]]:
    """Name and unit of all measures that any case has, in order of their first appearance."""
    return list(dict.fromkeys((m.name, m.unit) for case in cases for m in case.measures))


def _measured(case: CaseSection, column: tuple[str, str]) -> object:
    return next((m.value for m in case.measures if (m.name, m.unit) == column), None)


def _extrapolation(loop: LoopDelay, plans: Iterable[DelayPlan]) -> str:
    """Which connections of a loop are read beyond their newest sample, and how far."""
    lines = set(loop.lines)
    ahead = [
        f"{plan.connection.source} by {_ms(plan.extrapolation_ns)} ms"
        for plan in plans
        if plan.extrapolation_ns > 0 and plan.connection in lines
    ]
    return "; ".join(ahead) or "none"


def _link(item: FileItem) -> str | None:
    """Reference to a file below the report's folder, else none."""
    if item.path.is_absolute() or ".." in item.path.parts:
        return None
    return f"./{quote(item.path.as_posix())}"


_FILTERS: dict[str, Callable[..., Any]] = {
    "number": _number,
    "ms": _ms,
    "delays": _delays,
    "inline": _inline,
    "wide": _wide,
    "narrow": _narrow,
    "text_columns": _text_columns,
    "by_component": _by_component,
    "paragraphs": lambda text: [part for part in text.split("\n\n") if part.strip()],
    "measures": _measure_columns,
    "measured": _measured,
    "extrapolation": _extrapolation,
    "link": _link,
}
