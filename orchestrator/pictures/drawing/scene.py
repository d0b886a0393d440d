"""Shapes of a drawing, in points (72 to the inch), their looks, widths of texts, and their SVG."""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple

from orchestrator.core.diagnostics import LoadError
from orchestrator.core.structs import Struct, field

Point = tuple[float, float]


class Rectangle(Struct):
    """A rectangle with round corners; an empty colour is none."""

    x: float
    y: float
    width: float
    height: float
    fill: str = ""
    edge: str = ""
    line: float = 1.0
    radius: float = 0.0
    dashed: bool = False


class Stroke(Struct):
    """A line through corners, each rounded by ``bend``."""

    points: tuple[Point, ...]
    colour: str
    width: float = 1.3
    dash: tuple[float, ...] = ()
    bend: float = 5.0


class Polygon(Struct):
    """A filled polygon."""

    points: tuple[Point, ...]
    fill: str


class Disc(Struct):
    """A filled circle, perhaps with an edge."""

    x: float
    y: float
    radius: float
    fill: str
    edge: str = ""


class Text(Struct):
    """One line of text; ``y`` is its middle."""

    x: float
    y: float
    text: str
    size: float
    colour: str
    anchor: Literal["start", "middle", "end"] = "start"
    bold: bool = False


class ShapeGroup(Struct):
    """Shapes that belong together.

    role: What they are: ``part``, ``wire``, ...; the class in SVG.
    shapes: In their order.
    data: Facts for programs, as attributes ``data-*`` in SVG.
    title: Shown by viewers where the mouse rests.
    at: Where the origin of its shapes is.
    """

    role: str
    shapes: Sequence[Shape]
    data: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    at: Point = (0.0, 0.0)


Shape = Rectangle | Stroke | Polygon | Disc | Text | ShapeGroup


INK, QUIET, PALE, PAPER = "#222222", "#444444", "#707070", "#ffffff"
#: Lines with a delay.
LATE = "#C24E00"
NAME_SIZE, SOURCE_SIZE, PORT_SIZE, LABEL_SIZE, TITLE_SIZE = 10.0, 7.5, 8.0, 7.5, 12.0
HEAD = 32.0
ROW = 16.0
#: Fill of the head, and edge, by kind of a part.
KINDS = {
    "fmu": ("#D6E6F4", "#2F5F8A", "FMU"),
    "block": ("#FBE8C8", "#9A6A10", "Python block"),
    "device": ("#F6D9D2", "#9C3D22", "device"),
    "log": ("#E3E7EA", "#5B6770", "recording"),
    "twin": ("#F3E0EE", "#8A4A78", "twin"),
    "system": ("#E6E1F2", "#5D4B94", "system"),
    "bus": ("#D9EFE0", "#2C7A4B", "signal dictionary"),
}
#: Frames in frames change between these.
FRAMES = ("#FBFAFE", "#F2F0F9")
#: Bands along the lines of loops: lighter than the lines, told apart with any colour vision.
LOOPS = ("#8CC4EA", "#F6C177", "#86D3B5", "#E6B3D1", "#E8DC6A", "#F0A58A", "#B9AEE6", "#C4C4C4")
#: Dashes of the band of an algebraic loop.
BROKEN = (7.0, 3.0)
#: Fill and edge of what a comparison found.
MARKS = {
    "added": ("#D4F2DC", "#16803C"),
    "removed": ("#FBD9D9", "#B42318"),
    "changed": ("#FFF0B8", "#946200"),
}


_LONGEST = 44
#: How far the baseline is below the middle of a text, in parts of the size.
BASELINE = 0.36


class _Font(NamedTuple):
    """A font's file, where its table of characters is, and the width of each glyph.

    Characters come in segments: their last and first ones, what is added to a character for its
    glyph, and how far behind its place in the table an array of glyphs is, if that is not zero.
    """

    data: bytes
    ends: tuple[int, ...]
    begins: tuple[int, ...]
    deltas: tuple[int, ...]
    offsets: tuple[int, ...]
    offset: int
    widths: tuple[float, ...]

    def glyph(self, character: str) -> int:
        """Return the number of a glyph; 0 where there is none."""
        code = ord(character)
        i = bisect_left(self.ends, code)
        if i == len(self.ends) or code < self.begins[i]:
            return 0
        if not self.offsets[i]:
            return (code + self.deltas[i]) & 0xFFFF
        offset = self.offset + 2 * i + self.offsets[i] + 2 * (code - self.begins[i])
        (glyph,) = struct.unpack_from(">H", self.data, offset)
        return (glyph + self.deltas[i]) & 0xFFFF if glyph else 0


#: What is missing where :func:`has_font` says no.
NEED_FONT = (
    "are written in a font of Matplotlib, which is not installed: pip install 'softdock[pictures]'"
)


def has_font() -> bool:
    """Whether texts can be measured."""
    return find_spec("matplotlib") is not None


@cache
def font_file(*, bold: bool) -> str:
    """Path of the font, which matplotlib brings along; that is not imported for it."""
    module_spec = find_spec("matplotlib")
    if module_spec is None or module_spec.origin is None:
        raise LoadError(f"block diagrams {NEED_FONT}")
    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return str(Path(module_spec.origin).parent / "mpl-data" / "fonts" / "ttf" / name)


@cache
def _font(*, bold: bool) -> _Font:
    """Read the tables of a TrueType font that say how wide its characters are.

    References
    ----------
    OpenType specification 1.9: head, hhea, hmtx; cmap, format 4.
    """
    data = Path(font_file(bold=bold)).read_bytes()
    (count,) = struct.unpack_from(">H", data, 4)
    records = struct.iter_unpack(">4s4xI4x", data[12 : 12 + 16 * count])
    at = {tag.decode(): offset for tag, offset in records}
    (per_size,) = struct.unpack_from(">H", data, at["head"] + 18)
    (widths,) = struct.unpack_from(">H", data, at["hhea"] + 34)
    pairs = struct.iter_unpack(">Hh", data[at["hmtx"] : at["hmtx"] + 4 * widths])
    sizes = tuple(advance / per_size for advance, _ in pairs)
    (tables,) = struct.unpack_from(">H", data, at["cmap"] + 2)
    starts = (struct.unpack_from(">4xI", data, at["cmap"] + 4 + 8 * i)[0] for i in range(tables))
    start = next(s for s in (at["cmap"] + o for o in starts) if data[s : s + 2] == b"\0\4")
    (twice,) = struct.unpack_from(">H", data, start + 6)
    ends, begins, deltas, offsets = (
        struct.unpack_from(f">{twice // 2}H", data, start + offset)
        for offset in (14, 16 + twice, 16 + 2 * twice, 16 + 3 * twice)
    )
    return _Font(data, ends, begins, deltas, offsets, start + 16 + 3 * twice, sizes)


@cache
def _advance(character: str, *, bold: bool) -> float:
    """Width of a character in parts of the size; a square where the font does not have it."""
    font = _font(bold=bold)
    glyph = font.glyph(character)
    return font.widths[min(glyph, len(font.widths) - 1)] if glyph else 1.0


def has_glyph(character: str) -> bool:
    """Whether the font has a character."""
    return bool(_font(bold=False).glyph(character))


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """Width of a text in points."""
    return size * sum(_advance(character, bold=bold) for character in text)


def one_line(text: str, longest: int = _LONGEST) -> str:
    """Text on one line, shortened in the middle where it is too long."""
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if len(text) <= longest:
        return text
    half = (longest - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


_SIGNS = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_IN_QUOTES = str.maketrans({'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
#: All of about the width that texts were measured with.
FONTS = "DejaVu Sans, Verdana, Bitstream Vera Sans, Geneva, sans-serif"


def svg_document(shapes: Sequence[Shape], width: float, height: float, title: str) -> str:
    """Write shapes as a whole document.

    shapes: From the origin to ``width`` and ``height``.
    width, height: In points.
    title: What it shows.
    """
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg"{_extent(width, height)}>\n'
        f"<title>{_text(title)}</title>\n"
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n{svg_shapes(shapes)}</svg>\n'
    )


def svg_element(shapes: Sequence[Shape], width: float, height: float, label: str) -> str:
    """Write shapes as a picture inside a page, which paints the background; see above."""
    return (
        f'<svg role="img" aria-label={_quoted(label)}{_extent(width, height)}>\n'
        f"{svg_shapes(shapes)}</svg>"
    )


def _extent(width: float, height: float) -> str:
    return (
        f' width="{_number(width)}pt" height="{_number(height)}pt"'
        f' viewBox="0 0 {_number(width)} {_number(height)}" font-family="{FONTS}"'
    )


def svg_shapes(shapes: Sequence[Shape]) -> str:
    """Write shapes as elements, one on a line."""
    return "".join(f"{line}\n" for shape in shapes for line in _elements(shape))


def _elements(shape: Shape) -> Iterator[str]:
    match shape:
        case ShapeGroup():
            yield from _group(shape)
        case Rectangle():
            yield (
                f'<rect x="{_number(shape.x)}" y="{_number(shape.y)}"'
                f' width="{_number(shape.width)}" height="{_number(shape.height)}"'
                + (f' rx="{_number(shape.radius)}"' if shape.radius else "")
                + f' fill="{shape.fill or "none"}"'
                + _edge(shape.edge, shape.line, (5.0, 3.0) if shape.dashed else ())
                + "/>"
            )
        case Stroke():
            yield (
                f'<path d="{rounded(shape.points, shape.bend)}" fill="none"'
                f"{_edge(shape.colour, shape.width, shape.dash)}/>"
            )
        case Polygon():
            points = " ".join(f"{_number(x)},{_number(y)}" for x, y in shape.points)
            yield f'<polygon points="{points}" fill="{shape.fill}"/>'
        case Disc():
            yield (
                f'<circle cx="{_number(shape.x)}" cy="{_number(shape.y)}"'
                f' r="{_number(shape.radius)}" fill="{shape.fill}"{_edge(shape.edge, 1.0, ())}/>'
            )
        case Text():
            yield (
                f'<text x="{_number(shape.x)}" y="{_number(shape.y + BASELINE * shape.size)}"'
                f' font-size="{_number(shape.size)}"'
                + (f' text-anchor="{shape.anchor}"' if shape.anchor != "start" else "")
                + (' font-weight="bold"' if shape.bold else "")
                + f' fill="{shape.colour}">{_text(shape.text)}</text>'
            )


def _group(group: ShapeGroup) -> Iterator[str]:
    data = "".join(f" data-{name}={_quoted(value)}" for name, value in group.data.items())
    moved = f' transform="translate({_number(group.at[0])} {_number(group.at[1])})"'
    yield f'<g class="{group.role}"{data}{moved if any(group.at) else ""}>'
    if group.title:
        yield f"<title>{_text(group.title)}</title>"
    for shape in group.shapes:
        yield from _elements(shape)
    yield "</g>"


def _edge(colour: str, width: float, dash: tuple[float, ...]) -> str:
    if not colour:
        return ""
    dashes = f' stroke-dasharray="{" ".join(map(_number, dash))}"' if dash else ""
    return f' stroke="{colour}" stroke-width="{_number(width)}"{dashes}'


def rounded(points: Sequence[Point], bend: float) -> str:
    """Path through corners, each cut by a quadratic curve."""
    parts = [f"M{_pair(points[0])}"]
    for corner, begin, end in corners(points, bend):
        parts.append(f"L{_pair(begin)}Q{_pair(corner)} {_pair(end)}")
    return "".join([*parts, f"L{_pair(points[-1])}"])


def corners(points: Sequence[Point], bend: float) -> Iterator[tuple[Point, Point, Point]]:
    """Every corner of a line, with where its curve begins and ends."""
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        lengths = [abs(p[0] - corner[0]) + abs(p[1] - corner[1]) for p in (before, after)]
        if min(lengths) == 0:
            continue
        cut = min(bend, lengths[0] / 2, lengths[1] / 2)
        begin, end = (
            (
                corner[0] + (neighbour[0] - corner[0]) * cut / length,
                corner[1] + (neighbour[1] - corner[1]) * cut / length,
            )
            for neighbour, length in zip((before, after), lengths, strict=True)
        )
        yield corner, begin, end


def _pair(point: Point) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _number(value: float) -> str:
    """Write a number of points with a hundredth at most."""
    return f"{round(value, 2) + 0.0:.10g}"


def _text(text: str) -> str:
    """Text without what XML does not allow."""
    legal = (c if c.isprintable() or c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in text)
    return "".join(legal).translate(_SIGNS)


def _quoted(text: str) -> str:
    return f'"{_text(text).translate(_IN_QUOTES)}"'
