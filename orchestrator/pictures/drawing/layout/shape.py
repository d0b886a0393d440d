"""What a layout places: boxes with ports, wires between them, and widths of texts (points)."""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple

from orchestrator.core.diagnostics import LoadError

Point = tuple[float, float]
#: All heights lie on this grid, so that facing ports can be joined by straight lines.
GRID = 8.0
#: Height of the place where a line passes a column.
PASS_HEIGHT = 16.0


@dataclass(frozen=True, slots=True)
class LayoutBox:
    """Something to place.

    name: Unique within the layout.
    width, height: In points; the height on the grid.
    inputs, outputs: Distance of every port from the top, on the grid; inputs are on the left edge.
    pin: ``"left"`` and ``"right"``: stands on that border of the drawing.
    """

    name: str
    width: float
    height: float
    inputs: Mapping[str, float]
    outputs: Mapping[str, float]
    pin: Literal["", "left", "right"] = ""


@dataclass(frozen=True, slots=True)
class Wire:
    """A connection to route.

    source, target: Box and port.
    room: Width that its label needs in front of the arrow head; 0 without one.
    """

    source: tuple[str, str]
    target: tuple[str, str]
    room: float = 0.0


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
    place: int
    widths: tuple[float, ...]

    def glyph(self, character: str) -> int:
        """Return the number of a glyph; 0 where there is none."""
        code = ord(character)
        i = bisect_left(self.ends, code)
        if i == len(self.ends) or code < self.begins[i]:
            return 0
        if not self.offsets[i]:
            return (code + self.deltas[i]) & 0xFFFF
        place = self.place + 2 * i + self.offsets[i] + 2 * (code - self.begins[i])
        (glyph,) = struct.unpack_from(">H", self.data, place)
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
    found = find_spec("matplotlib")
    if found is None or found.origin is None:
        raise LoadError(f"block diagrams {NEED_FONT}")
    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return str(Path(found.origin).parent / "mpl-data" / "fonts" / "ttf" / name)


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
        struct.unpack_from(f">{twice // 2}H", data, start + place)
        for place in (14, 16 + twice, 16 + 2 * twice, 16 + 3 * twice)
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
