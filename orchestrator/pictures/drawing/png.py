"""Shapes as PNG: painted by matplotlib's renderer without its figures, written on by Pillow."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cache
from math import sqrt
from typing import TYPE_CHECKING, Any, cast

from orchestrator.pictures.drawing.layout.shape import BASELINE, Point, font_file, has_glyph
from orchestrator.pictures.drawing.scene import (
    PAPER,
    Disc,
    Polygon,
    Rectangle,
    Shape,
    ShapeGroup,
    Stroke,
    Text,
    corners,
)

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.path import Path
    from numpy.typing import NDArray
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont


#: A larger picture is drawn with fewer dots to the inch.
_MOST_PIXELS = 25e6
_MOST_SIDE = 20_000
_ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


def png_bytes(shapes: Sequence[Shape], width: float, height: float, dpi: float = 150.0) -> bytes:
    """Draw shapes on white.

    shapes: From the origin to ``width`` and ``height``, in points.
    width, height: In points.
    dpi: Dots to the inch; fewer if the picture would have more than 25 million.
    """
    from PIL import Image
    from PIL.ImageDraw import Draw

    area = width * height / 72**2
    dpi = min(dpi, sqrt(_MOST_PIXELS / area), 72 * _MOST_SIDE / max(width, height))
    painter = _Painter(width, height, dpi)
    painter.paint([Rectangle(0.0, 0.0, width, height, PAPER), *shapes], (0.0, 0.0))
    content = io.BytesIO()
    image = Image.fromarray(painter.pixels())
    painter.write(Draw(image))
    image.save(content, "PNG", dpi=(dpi, dpi))
    return content.getvalue()


class _Painter:
    def __init__(self, width: float, height: float, dpi: float) -> None:
        from matplotlib.backends.backend_agg import RendererAgg
        from matplotlib.transforms import Affine2D

        scale = dpi / 72
        self._size = (max(1, round(width * scale)), max(1, round(height * scale)))
        # Matplotlib's renderers have no types.
        self._renderer: Any = cast("Any", RendererAgg)(*self._size, dpi)
        self._scale = scale
        self._texts: list[tuple[Text, Point]] = []
        self._affine = Affine2D
        self._transform = Affine2D()

    def pixels(self) -> NDArray[np.uint8]:
        """Return what was painted: an array of shape (height, width, 3)."""
        import numpy as np

        return np.ascontiguousarray(np.asarray(self._renderer.buffer_rgba())[..., :3])

    def paint(self, shapes: Sequence[Shape], at: Point) -> None:
        """Paint shapes whose origin is at a point."""
        self._transform = (
            self._affine()
            .translate(*at)
            .scale(self._scale, -self._scale)
            .translate(0, self._size[1])
        )
        for shape in shapes:
            match shape:
                case ShapeGroup():
                    mine = self._transform
                    self.paint(shape.shapes, (at[0] + shape.at[0], at[1] + shape.at[1]))
                    self._transform = mine
                case Stroke():
                    self._path(_rounded(shape), "", shape.colour, shape.width, shape.dash)
                case Text():
                    self._texts.append((shape, at))
                case Rectangle():
                    dash = (5.0, 3.0) if shape.dashed else ()
                    self._path(_outline(shape), shape.fill, shape.edge, shape.line, dash)
                case Polygon():
                    self._path(_closed(shape.points), shape.fill, "", 0.0, ())
                case Disc():
                    self._path(_circle(shape), shape.fill, shape.edge, 1.0, ())

    def _path(
        self, path: Path, fill: str, edge: str, width: float, dash: tuple[float, ...]
    ) -> None:
        from matplotlib.colors import to_rgb

        context = self._renderer.new_gc()
        context.set_foreground(edge or fill)
        context.set_linewidth(width if edge else 0.0)
        context.set_capstyle("butt")
        context.set_joinstyle("miter")
        if dash and edge:
            context.set_dashes(0, list(dash))
        self._renderer.draw_path(context, path, self._transform, to_rgb(fill) if fill else None)
        context.restore()

    def write(self, image: ImageDraw) -> None:
        """Write all texts that were met: they lie on top of everything."""
        for text, (x, y) in self._texts:
            shown = "".join(c if has_glyph(c) else "\N{REPLACEMENT CHARACTER}" for c in text.text)
            at = (
                (x + text.x) * self._scale,
                (y + text.y + BASELINE * text.size) * self._scale,
            )
            font = _font(text.size * self._scale, bold=text.bold)
            image.text(at, shown, text.colour, font, _ANCHORS[text.anchor])


@cache
def _font(pixels: float, *, bold: bool) -> FreeTypeFont:
    from PIL import ImageFont

    return ImageFont.truetype(font_file(bold=bold), pixels)


def _rounded(stroke: Stroke) -> Path:
    from matplotlib.path import Path

    points, codes = [stroke.points[0]], [Path.MOVETO]
    for corner, begin, end in corners(stroke.points, stroke.bend):
        points += [begin, corner, end]
        codes += [Path.LINETO, Path.CURVE3, Path.CURVE3]
    return Path([*points, stroke.points[-1]], [*codes, Path.LINETO])


def _closed(points: Sequence[Point]) -> Path:
    from matplotlib.path import Path

    codes = [Path.MOVETO, *[Path.LINETO] * (len(points) - 1), Path.CLOSEPOLY]
    return Path([*points, points[0]], codes)


def _outline(shape: Rectangle) -> Path:
    from matplotlib.path import Path

    x, y, w, h = shape.x, shape.y, shape.width, shape.height
    r = min(shape.radius, w / 2, h / 2)
    if not r:
        return _closed([(x, y), (x + w, y), (x + w, y + h), (x, y + h)])
    points = [(x + r, y)]
    codes = [Path.MOVETO]
    for start, corner, end in (
        ((x + w - r, y), (x + w, y), (x + w, y + r)),
        ((x + w, y + h - r), (x + w, y + h), (x + w - r, y + h)),
        ((x + r, y + h), (x, y + h), (x, y + h - r)),
        ((x, y + r), (x, y), (x + r, y)),
    ):
        points += [start, corner, end]
        codes += [Path.LINETO, Path.CURVE3, Path.CURVE3]
    return Path([*points, points[0]], [*codes, Path.CLOSEPOLY])


def _circle(disc: Disc) -> Path:
    from matplotlib.path import Path

    return Path.circle((disc.x, disc.y), disc.radius)
