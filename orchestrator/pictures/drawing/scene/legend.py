"""What the colours, lines and numbers of a drawing mean, and its loops with their delays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from orchestrator.core.coupling import LoopDelay
from orchestrator.pictures.drawing.facts import Facts, colour_of
from orchestrator.pictures.drawing.layout.measure import one_line, width_of
from orchestrator.pictures.drawing.scene.palette import (
    BROKEN,
    INK,
    KINDS,
    LABEL_SIZE,
    LATE,
    MARKS,
    PAPER,
    QUIET,
)
from orchestrator.pictures.drawing.scene.parts import Level, Line, Part
from orchestrator.pictures.drawing.scene.scene import Group, Rectangle, Shape, Stroke, Text
from orchestrator.pictures.drawing.wording import is_algebraic, sentence

#: Loops are listed up to this number: as many as there are colours.
MOST_LOOPS = 8
_ROW = 14.0
_SWATCH = 18.0


@dataclass(frozen=True, slots=True)
class Legend:
    """Shapes with their extent, from the origin."""

    shapes: Sequence[Shape]
    width: float
    height: float


def legend(level: Level, facts: Facts, columns: int | None = None) -> Legend:
    """Explain what occurs in a drawing, and list its loops."""
    rows: list[Shape] = []
    x, y, width = 0.0, 0.0, 0.0
    for number, (text, swatch) in enumerate(_entries(level, facts)):
        if columns and number and number % columns == 0:
            x, y = 0.0, y + _ROW + 5
        shapes = [*swatch(x), _text(x + _SWATCH + 5, _ROW / 2, text)]
        rows.append(Group("sign", shapes, at=(0.0, y)))
        x += _SWATCH + 16 + width_of(text, LABEL_SIZE)
        width = max(width, x - 11)
    y += _ROW + 5 if rows else 0.0
    for number, loop in enumerate(facts.loops[:MOST_LOOPS]):
        text = loop_text(loop)
        dash = BROKEN if number in facts.algebraic else ()
        ends = ((0, y + _ROW / 2), (_SWATCH, y + _ROW / 2))
        band = Stroke(ends, colour_of(number), 5.0, dash)
        line = _text(_SWATCH + 5, y + _ROW / 2, text)
        rows.append(Group("loop", [band, line], {"loop": str(number)}))
        width = max(width, _SWATCH + 5 + width_of(text, LABEL_SIZE))
        y += _ROW
    if len(facts.loops) > MOST_LOOPS:
        more = f"and {len(facts.loops) - MOST_LOOPS} more loops, in the same colours again"
        rows.append(_text(_SWATCH + 5, y + _ROW / 2, more))
        y += _ROW
    return Legend(rows, width, y)


def loop_text(loop: LoopDelay) -> str:
    """One line on a loop: its path, whether it is algebraic, its delay."""
    kind = "Algebraic loop" if any(map(is_algebraic, loop.loops)) else "Loop"
    return one_line(f"{kind} {loop.path}: {sentence(loop)}", 170)


def _text(x: float, y: float, text: str) -> Text:
    return Text(x, y, text, LABEL_SIZE, QUIET)


Swatch = Callable[[float], list[Shape]]


def _entries(level: Level, facts: Facts) -> Iterator[tuple[str, Swatch]]:
    parts, lines = [*_parts(level)], [*_lines(level)]
    kinds = {part.kind for part in parts if not part.mark}
    for kind, (fill, edge, name) in KINDS.items():
        if kind in kinds:
            yield name, _tile(fill, edge)
    found = {part.mark for part in parts} | {line.mark for line in lines}
    for mark, (fill, edge) in MARKS.items():
        if mark in found:
            yield mark, _tile(fill, edge)
    late = {line.late for line in lines}
    if False in late:
        yield "connection", _stroke(INK, ())
    if True in late:
        yield "connection with a delay", _stroke(LATE, (4.2, 2.1))
    if facts.steps:
        by = f" by {facts.algorithm}" if facts.algorithm else ""
        again = "; ↻ iterated" if facts.iterated else ""
        yield f"order of the steps{by}, equal numbers step together{again}", _number


def _tile(fill: str, edge: str) -> Swatch:
    return lambda x: [Rectangle(x, 3, _SWATCH, 8, fill, edge, 1.0)]


def _stroke(colour: str, dash: tuple[float, ...]) -> Swatch:
    return lambda x: [Stroke(((x, _ROW / 2), (x + _SWATCH, _ROW / 2)), colour, 1.3, dash)]


def _number(x: float) -> list[Shape]:
    return [
        Rectangle(x + 2, 0, 14, 14, PAPER, QUIET, 0.9, 7.0),
        Text(x + 9, _ROW / 2, "1", LABEL_SIZE, QUIET, "middle", bold=True),
    ]


def _parts(level: Level) -> Iterator[Part]:
    for part in level.parts.values():
        yield part
        if part.level is not None:
            yield from _parts(part.level)


def _lines(level: Level) -> Iterator[Line]:
    yield from level.lines
    for part in level.parts.values():
        if part.level is not None:
            yield from _lines(part.level)
