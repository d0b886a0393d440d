"""Widths of texts, in points, as DejaVu Sans has them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.ft2font import FT2Font

_SIZE = 100
_LONGEST = 44
#: How far the baseline is below the middle of a text, in parts of the size.
BASELINE = 0.36


@cache
def _font(*, bold: bool) -> FT2Font:
    from matplotlib.ft2font import FT2Font

    font = FT2Font(font_file(bold=bold))
    font.set_size(_SIZE, 72)
    return font


@cache
def font_file(*, bold: bool) -> str:
    """Path of the font, which matplotlib brings along."""
    from matplotlib.font_manager import FontProperties, findfont

    return findfont(FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal"))


@cache
def _advance(character: str, *, bold: bool) -> float:
    """Width of a character in parts of the size; a square where the font does not have it."""
    if not has_glyph(character):
        return 1.0
    return float(_font(bold=bold).load_char(ord(character)).linearHoriAdvance / 65536 / _SIZE)


@cache
def has_glyph(character: str) -> bool:
    """Whether the font has a character."""
    return bool(_font(bold=False).get_char_index(ord(character)))


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
