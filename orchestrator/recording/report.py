"""A report of an experiment as one HTML file that needs nothing else: no network, no scripts."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from orchestrator.coupling import DelayPlan, LoopDelay
from orchestrator.diagnostics import LoadError
from orchestrator.drawing import Drawing
from orchestrator.drawing.wording import path_of
from orchestrator.recording.atomic import whole_file
from orchestrator.recording.figure import picture
from orchestrator.recording.parameters import ParameterRow
from orchestrator.recording.report_content import (
    CaseSection,
    FigureItem,
    FileItem,
    Measure,
    Report,
)

if TYPE_CHECKING:
    import jinja2

_TEMPLATES = Path(__file__).with_name("templates")
_NOTHING = "–"
#: A larger drawing is embedded as PNG.
LARGEST_SVG = 400_000
#: Points; a wider drawing is scrolled, and can be seen in its full size.
_LEGIBLE = 1000.0
_MIME = {".svg": "image/svg+xml", ".png": "image/png"}


def write_report(report: Report, path: str | Path) -> None:
    """Write a report as one self-contained HTML file.

    Raises
    ------
    LoadError
        If a picture that is given by its path cannot be read.
    SoftdockError
        If the file cannot be written; an earlier one is untouched.
    """
    text = render_report(report)
    with whole_file(path) as draft:
        draft.write_text(text, encoding="utf-8")


def render_report(report: Report) -> str:
    """Return the HTML of a report; all text in it is escaped."""
    return _environment().get_template("report.html.j2").render(report=report)


def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "number": _number,
        "ms": _ms,
        "delays": _delays,
        "embedded": _embedded,
        "wide": _wide,
        "by_component": _by_component,
        "paragraphs": lambda text: [part for part in text.split("\n\n") if part.strip()],
        "measures": _measure_columns,
        "measure_groups": _measure_groups,
        "measured": _measured,
        "route": path_of,
        "extrapolation": _extrapolation,
        "link": _link,
    }
    return environment


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


def _delays(case: CaseSection, which: str) -> str:
    """Delays of all loops of a case, in milliseconds, each once."""
    found = sorted({round(getattr(loop, which)) for loop in case.loops})
    return ", ".join(map(_ms, found)) or _NOTHING


def _embedded(item: FigureItem) -> str:
    """Picture as a data URI."""
    if isinstance(item.figure, Path):
        mime = _MIME.get(item.figure.suffix.lower())
        if mime is None:
            raise LoadError(f"{item.figure}: expected a picture that ends in .png or .svg")
        try:
            content = item.figure.read_bytes()
        except OSError as error:
            why = error.strerror or error
            raise LoadError(f"{item.figure}: picture cannot be read: {why}") from error
    elif isinstance(item.figure, Drawing):
        mime, content = _MIME[".svg"], item.figure.svg()
    else:
        mime, content = _MIME[".svg"], picture(item.figure, "svg")
        if len(content) > LARGEST_SVG:
            mime, content = _MIME[".png"], picture(item.figure, "png")
    return f"data:{mime};base64,{base64.b64encode(content).decode()}"


def _wide(item: FigureItem) -> float | None:
    """Width in points of a drawing whose text would be too small to read if it were made to fit."""
    drawing = item.figure
    return drawing.width if isinstance(drawing, Drawing) and drawing.width > _LEGIBLE else None


def _by_component(rows: Iterable[ParameterRow]) -> list[tuple[str, list[ParameterRow]]]:
    groups: dict[str, list[ParameterRow]] = {}
    for row in rows:
        groups.setdefault(row.component, []).append(row)
    return list(groups.items())


def _measure_columns(cases: Iterable[CaseSection]) -> list[tuple[str, str]]:
    """Name and unit of all measures that any case has, in order of their first appearance."""
    return list(dict.fromkeys((m.name, m.unit) for case in cases for m in case.measures))


def _measure_groups(
    cases: Iterable[CaseSection],
) -> list[tuple[list[tuple[str, str]], list[tuple[int, CaseSection]]]]:
    """Cases with the same measures, numbered from 1, by names and units of these."""
    groups: dict[tuple[tuple[str, str], ...], list[tuple[int, CaseSection]]] = {}
    for number, case in enumerate(cases, start=1):
        columns = tuple(_measure_columns([case]))
        if columns:
            groups.setdefault(columns, []).append((number, case))
    return [(list(columns), members) for columns, members in groups.items()]


def _measured(case: CaseSection, column: tuple[str, str]) -> object:
    found: list[Measure] = [m for m in case.measures if (m.name, m.unit) == column]
    return found[0].value if found else None


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
