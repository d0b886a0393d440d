"""The block diagram of a system with its legend, as SVG and PNG."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from math import sqrt
from typing import TYPE_CHECKING, Any, cast

from orchestrator.core.structs import Struct
from orchestrator.core.system import System
from orchestrator.pictures.drawing.facts import Facts, colour_of, is_algebraic, sentence
from orchestrator.pictures.drawing.parts import Level, level_of
from orchestrator.pictures.drawing.picture import Placed, place_level
from orchestrator.pictures.drawing.scene import (
    BASELINE,
    BROKEN,
    INK,
    KINDS,
    LABEL_SIZE,
    LATE,
    MARKS,
    PALE,
    PAPER,
    QUIET,
    TITLE_SIZE,
    Disc,
    Point,
    Polygon,
    Rectangle,
    Shape,
    ShapeGroup,
    Stroke,
    Text,
    corners,
    font_file,
    has_glyph,
    one_line,
    svg_document,
    svg_element,
    width_of,
)

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.path import Path
    from matplotlib.transforms import Affine2D
    from numpy.typing import NDArray
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont


#: Loops are listed up to this number: as many as there are colours.
MOST_LOOPS = 8
_ROW = 14.0
_SWATCH = 18.0


def legend(level: Level, facts: Facts, columns: int | None = None) -> Placed:
    """Explain what occurs in a drawing, and list its loops."""
    rows: list[Shape] = []
    x, y, width = 0.0, 0.0, 0.0
    for number, (text, swatch) in enumerate(_entries(level, facts)):
        if columns and number and number % columns == 0:
            x, y = 0.0, y + _ROW + 5
        shapes = [*swatch(x), _text(x + _SWATCH + 5, _ROW / 2, text)]
        rows.append(ShapeGroup("sign", shapes, at=(0.0, y)))
        x += _SWATCH + 16 + width_of(text, LABEL_SIZE)
        width = max(width, x - 11)
    y += _ROW + 5 if rows else 0.0
    for number, loop in enumerate(facts.loops[:MOST_LOOPS]):
        kind = "Algebraic loop" if any(map(is_algebraic, loop.loops)) else "Loop"
        text = one_line(f"{kind} {loop.path}: {sentence(loop)}", 170)
        dash = BROKEN if number in facts.algebraic else ()
        ends = ((0, y + _ROW / 2), (_SWATCH, y + _ROW / 2))
        band = Stroke(ends, colour_of(number), 5.0, dash)
        line = _text(_SWATCH + 5, y + _ROW / 2, text)
        rows.append(ShapeGroup("loop", [band, line], {"loop": str(number)}))
        width = max(width, _SWATCH + 5 + width_of(text, LABEL_SIZE))
        y += _ROW
    if len(facts.loops) > MOST_LOOPS:
        more = f"and {len(facts.loops) - MOST_LOOPS} more loops, in the same colours again"
        rows.append(_text(_SWATCH + 5, y + _ROW / 2, more))
        y += _ROW
    return Placed(rows, width, y)


def _text(x: float, y: float, text: str) -> Text:
    return Text(x, y, text, LABEL_SIZE, QUIET)


Swatch = Callable[[float], list[Shape]]


def _entries(level: Level, facts: Facts) -> Iterator[tuple[str, Swatch]]:
    levels = list(_levels(level))
    parts = [part for level in levels for part in level.parts.values()]
    lines = [line for level in levels for line in level.lines]
    kinds = {part.kind for part in parts if not part.mark}
    for kind, (fill, edge, name) in KINDS.items():
        if kind in kinds:
            yield name, _tile(fill, edge)
    marks = {part.mark for part in parts} | {line.mark for line in lines}
    for mark, (fill, edge) in MARKS.items():
        if mark in marks:
            yield mark, _tile(fill, edge)
    lateness = {line.is_late for line in lines}
    if False in lateness:
        yield "connection", _stroke(INK, ())
    if True in lateness:
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


def _levels(level: Level) -> Iterator[Level]:
    """Give a level, and all that are drawn in it."""
    yield level
    for part in level.parts.values():
        if part.level is not None:
            yield from _levels(part.level)


_MARGIN = 16.0
_TITLE = 28.0


class Drawing(Struct):
    """Shapes with their extent, in points.

    title: What it shows.
    shapes: Painted in their order.
    width, height: Extent, from the origin.
    """

    title: str
    shapes: Sequence[Shape]
    width: float
    height: float

    def svg(self) -> bytes:
        """Write as SVG; the same drawing gives the same bytes."""
        return svg_document(self.shapes, self.width, self.height, self.title).encode()

    def _repr_svg_(self) -> str:
        return self.svg().decode()

    def inline(self, label: str) -> str:
        """Write as an element of a page; ``label`` is for those who do not see it."""
        return svg_element(self.shapes, self.width, self.height, label)

    def png(self) -> bytes:
        """Paint as PNG with 150 dots to the inch, fewer if it is very large."""
        from PIL import Image
        from PIL.ImageDraw import Draw

        width, height = self.width, self.height
        area = width * height / 72**2
        dpi = min(150.0, sqrt(_MOST_PIXELS / area), 72 * _MOST_SIDE / max(width, height))
        painter = _Painter(width, height, dpi)
        painter.paint([Rectangle(0.0, 0.0, width, height, PAPER), *self.shapes], (0.0, 0.0))
        content = io.BytesIO()
        image = Image.fromarray(painter.pixels())
        painter.write(Draw(image))
        image.save(content, "PNG", dpi=(dpi, dpi))
        return content.getvalue()


class ValuedDrawing(Drawing):
    """A drawing whose lines say the last values of a run.

    ``values`` are for the page's script, and ``bare`` draws the same without values.
    """

    values: Mapping[str, Any]
    bare: Callable[[], Drawing]


def draw_system(
    system: System, facts: Facts | None = None, depth: int | None = None, title: str = ""
) -> Drawing:
    """Draw a system as a block diagram.

    Every component is a box with its inputs on the left and outputs on the right; every
    connection an arrow, dashed and labelled where it has a delay. Nested systems are frames with
    their own connectors on the border.

    Parameters
    ----------
    system
        Its components should be resolved, so that ports without a connection are seen too.
    facts
        Loops and order of the steps, which are marked and listed below the drawing.
    depth
        Systems nested deeper than this are drawn as closed boxes; ``None``: none are.
    title
        Stands above it; the system's name if empty.

    Raises
    ------
    UnknownNameError
        If an end of a connection does not exist.
    """
    facts = facts or Facts()
    level = level_of(system, facts, depth)
    placed = framed(level)
    listed = legend(level, facts)
    title = one_line(title or system.name or "system", 100)
    inner = max(placed.width, listed.width, width_of(title, TITLE_SIZE, bold=True))
    shift = (inner - placed.width) / 2
    shapes: list[Shape] = [
        Text(_MARGIN + inner / 2, _MARGIN + 8, title, TITLE_SIZE, INK, "middle", bold=True),
        ShapeGroup("diagram", placed.shapes, at=(_MARGIN + shift, _MARGIN + _TITLE)),
    ]
    bottom = _MARGIN + _TITLE + placed.height
    if listed.shapes:
        bottom += 14
        shapes.append(ShapeGroup("legend", listed.shapes, at=(_MARGIN, bottom)))
        bottom += listed.height
    return Drawing(title, shapes, inner + 2 * _MARGIN, bottom + _MARGIN)


def framed(level: Level) -> Placed:
    """Place the top of a system, in a frame if it has connectors of its own."""
    if not level.parts and not level.inputs and not level.outputs:
        text = "this system is empty"
        shapes = [Text(0.0, 12.0, text, 10.0, PALE)]
        return Placed(shapes, width_of(text, 10.0), 24.0)
    if not level.inputs and not level.outputs:
        return place_level(level)
    edge = KINDS["system"][1]
    placed = place_level(level, edge=edge)
    pad = 12.0
    frame = Rectangle(0, 0, placed.width, placed.height + 2 * pad, "", edge, 1.2, 5.0)
    content = ShapeGroup("content", placed.shapes, at=(0.0, pad))
    return Placed([frame, content], placed.width, placed.height + 2 * pad)


#: A larger picture is drawn with fewer dots to the inch.
_MOST_PIXELS = 25e6
_MOST_SIDE = 20_000
_ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


class _Painter:
    def __init__(self, width: float, height: float, dpi: float) -> None:
        from matplotlib.backends.backend_agg import RendererAgg
        from matplotlib.transforms import Affine2D

        scale = dpi / 72
        self._size = (max(1, round(width * scale)), max(1, round(height * scale)))
        # Matplotlib's renderers have no types.
        self._renderer: Any = cast("Any", RendererAgg)(*self._size, dpi)
        self._scale = scale
        self._affine = Affine2D
        self._texts: list[tuple[Text, Point]] = []

    def pixels(self) -> NDArray[np.uint8]:
        """Return what was painted: an array of shape (height, width, 3)."""
        import numpy as np

        return np.ascontiguousarray(np.asarray(self._renderer.buffer_rgba())[..., :3])

    def paint(self, shapes: Sequence[Shape], at: Point) -> None:
        """Paint shapes whose origin is at a point."""
        moved = self._affine().translate(*at).scale(self._scale, -self._scale)
        moved.translate(0, self._size[1])
        for shape in shapes:
            match shape:
                case ShapeGroup():
                    self.paint(shape.shapes, (at[0] + shape.at[0], at[1] + shape.at[1]))
                case Stroke():
                    self._path(shape, moved, "", shape.colour, shape.width, shape.dash)
                case Text():
                    self._texts.append((shape, at))
                case Rectangle():
                    dash = (5.0, 3.0) if shape.dashed else ()
                    self._path(shape, moved, shape.fill, shape.edge, shape.line, dash)
                case Polygon():
                    self._path(shape, moved, shape.fill)
                case Disc():
                    self._path(shape, moved, shape.fill, shape.edge)

    def _path(
        self,
        shape: Outlined,
        moved: Affine2D,
        fill: str,
        edge: str = "",
        width: float = 1.0,
        dash: tuple[float, ...] = (),
    ) -> None:
        from matplotlib.colors import to_rgb

        context = self._renderer.new_gc()
        context.set_foreground(edge or fill)
        context.set_linewidth(width if edge else 0.0)
        context.set_capstyle("butt")
        context.set_joinstyle("miter")
        if dash and edge:
            context.set_dashes(0, list(dash))
        self._renderer.draw_path(context, _path_of(shape), moved, to_rgb(fill) if fill else None)
        context.restore()

    def write(self, image: ImageDraw) -> None:
        """Write all texts that were met: they lie on top of everything."""
        for text, (x, y) in self._texts:
            printable = "".join(
                c if has_glyph(c) else "\N{REPLACEMENT CHARACTER}" for c in text.text
            )
            at = (
                (x + text.x) * self._scale,
                (y + text.y + BASELINE * text.size) * self._scale,
            )
            font = _font(text.size * self._scale, bold=text.bold)
            image.text(at, printable, text.colour, font, _ANCHORS[text.anchor])


@cache
def _font(pixels: float, *, bold: bool) -> FreeTypeFont:
    from PIL import ImageFont

    return ImageFont.truetype(font_file(bold=bold), pixels)


Outlined = Stroke | Rectangle | Polygon | Disc


def _path_of(shape: Outlined) -> Path:
    from matplotlib.path import Path

    if isinstance(shape, Disc):
        return Path.circle((shape.x, shape.y), shape.radius)
    turn = [Path.LINETO, Path.CURVE3, Path.CURVE3]
    if isinstance(shape, Stroke):
        points, codes = [shape.points[0]], [Path.MOVETO]
        for corner, begin, end in corners(shape.points, shape.bend):
            points += [begin, corner, end]
            codes += turn
        return Path([*points, shape.points[-1]], [*codes, Path.LINETO])
    if isinstance(shape, Polygon):
        points, codes = list(shape.points), [Path.MOVETO, *[Path.LINETO] * (len(shape.points) - 1)]
    else:
        left, top, right, low = shape.x, shape.y, shape.x + shape.width, shape.y + shape.height
        r = min(shape.radius, shape.width / 2, shape.height / 2)
        points = [(left, top), (right, top), (right, low), (left, low)]
        codes = [Path.MOVETO, *[Path.LINETO] * 3]
        if r:
            points = [(left + r, top)]
            points += [(right - r, top), (right, top), (right, top + r)]
            points += [(right, low - r), (right, low), (right - r, low)]
            points += [(left + r, low), (left, low), (left, low - r)]
            points += [(left, top + r), (left, top), (left + r, top)]
            codes = [Path.MOVETO, *turn * 4]
    return Path([*points, points[0]], [*codes, Path.CLOSEPOLY])
