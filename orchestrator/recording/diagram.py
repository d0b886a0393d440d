"""A block diagram of a system, drawn with matplotlib; one point of the layout is one of print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from orchestrator.coupling import LoopDelay
from orchestrator.errors import DescriptionError
from orchestrator.recording.boxes import (
    HEAD,
    LABEL_SIZE,
    NAME_SIZE,
    PORT_SIZE,
    ROW,
    SOURCE_SIZE,
    Box,
    Port,
    make_boxes,
    one_line,
)
from orchestrator.recording.figure import PALETTE, literal
from orchestrator.recording.layout import Layout, Point, lay_out
from orchestrator.recording.wording import milliseconds, path_of, sentence
from orchestrator.system import Connection, LinearTransformation, SourceKind, System

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _PALE = "#222222", "#707070"
_DELAYED = PALETTE[1]
_HEADS = {SourceKind.FMU: "#D6E6F4", SourceKind.BLOCK: "#FBE8C8"}
_EDGES = {SourceKind.FMU: "#2F5F8A", SourceKind.BLOCK: "#9A6A10"}
_NAMES = {SourceKind.FMU: "FMU", SourceKind.BLOCK: "Python block"}
_MARGIN = 16.0
_BEND = 5.0
_MOST_LOOPS = 8
_DASH = (0, (3.2, 1.6))


def draw_system(system: System, loops: Sequence[LoopDelay] = ()) -> Figure:
    """Draw a system as a block diagram.

    Every component is a box with its inputs on the left and outputs on the right; every
    connection an arrow, dashed and labelled where it has a delay. What leads back runs above or
    below the boxes.

    Parameters
    ----------
    system
        Its components should be resolved, so that ports without a connection are seen too.
    loops
        Delays of its closed loops, listed below the drawing.

    Returns
    -------
    matplotlib.figure.Figure
        In its natural size, 72 points to the inch. Each arrow's line has the connection's text as
        ``gid``.

    Raises
    ------
    DescriptionError
        If the system has no component, or a connection's component does not exist.
    """
    if not system.components:
        raise DescriptionError(f"system '{system.name}' has no component: nothing to draw")
    for line in system.connections:
        system.component(line.source.component)
        system.component(line.target.component)
    boxes = make_boxes(system, _width)
    labels = [_label(line) for line in system.connections]
    rooms = [_width(text, LABEL_SIZE, "bold") + 8 if text else 0.0 for text in labels]
    layout = lay_out(boxes, system.connections, rooms)
    title = one_line(system.name, 100)
    notes = _notes(loops)
    legend = _legend_entries(system)
    below = 22 + 13 * len(notes)
    width = max(
        layout.right,
        _width(title, 11, "bold"),
        sum(34 + _width(text, LABEL_SIZE) for text, _ in legend),
        *(_width(text, LABEL_SIZE) for text in notes),
    )
    extent = (width + 2 * _MARGIN, layout.bottom - layout.top + below + 2 * _MARGIN + 24)
    figure, axes = _canvas(extent, layout.top - _MARGIN - 24, (width - layout.right) / 2)
    _text(axes, (layout.right / 2, layout.top - 24), title, 11, ha="center", weight="bold")
    _draw_lines(axes, layout, system.connections, labels)
    for name, box in boxes.items():
        _draw_box(axes, box, layout.corners[name])
    left = (layout.right - width) / 2
    _draw_legend(axes, legend, (left, layout.bottom + 24))
    for i, note in enumerate(notes):
        _text(axes, (left, layout.bottom + 42 + 13 * i), note, LABEL_SIZE, color="#444444")
    return figure


def _width(text: str, size: float, weight: str = "normal") -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family="DejaVu Sans", size=size, weight=weight)
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])


def _canvas(extent: Point, top: float, shift: float) -> tuple[Figure, Axes]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(extent[0] / 72, extent[1] / 72), facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(-_MARGIN - shift, extent[0] - _MARGIN - shift)
    axes.set_ylim(top + extent[1], top)
    return figure, axes


def _text(axes: Axes, at: Point, text: str, size: float, **style: Any) -> None:
    look = {"va": "center", "color": _INK, "family": "DejaVu Sans", **style}
    axes.text(*at, literal(text), fontsize=size, **look)


def _label(line: Connection) -> str:
    """What stands on a connection, in short: its delay and its transformation."""
    parts = [milliseconds(line.delay.nominal_ns)] if line.delay else []
    own = line.transformation
    if isinstance(own, LinearTransformation):
        parts += [f"× {own.factor:g}"] if own.factor != 1 else []
        parts += [f"{own.offset:+g}"] if own.offset else []
    elif own is not None:
        parts.append("table")
    return ", ".join(parts)


def _notes(loops: Sequence[LoopDelay]) -> list[str]:
    listed = [f"Loop {path_of(loop)}: {sentence(loop)}" for loop in loops[:_MOST_LOOPS]]
    if len(loops) > _MOST_LOOPS:
        listed.append(f"and {len(loops) - _MOST_LOOPS} more loops")
    return [one_line(text, 160) for text in listed]


def _draw_box(axes: Axes, box: Box, corner: Point) -> None:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    x, y = corner
    shape = f"round,pad=0,rounding_size={_BEND}"
    body = FancyBboxPatch(
        corner, box.width, box.height, boxstyle=shape, fc="white", ec="none", zorder=3
    )
    axes.add_patch(body)
    head = Rectangle(corner, box.width, HEAD, fc=_HEADS[box.kind], ec="none", zorder=3.1)
    axes.add_patch(head)
    frame = FancyBboxPatch(
        corner,
        box.width,
        box.height,
        boxstyle=shape,
        fc="none",
        ec=_EDGES[box.kind],
        lw=1.2,
        zorder=3.3,
    )
    frame.set_gid(f"component: {box.name}")
    axes.add_patch(frame)
    head.set_clip_path(frame)
    middle = x + box.width / 2
    name = one_line(box.name)
    _text(axes, (middle, y + 11), name, NAME_SIZE, ha="center", weight="bold", zorder=4)
    _text(axes, (middle, y + 24), box.source, SOURCE_SIZE, ha="center", color="#444444", zorder=4)
    for ports, edge, inward, align in (
        (box.inputs, x, 1, "left"),
        (box.outputs, x + box.width, -1, "right"),
    ):
        for i, port in enumerate(ports):
            at = (edge, y + HEAD + ROW * (i + 0.5))
            _draw_port(axes, port, at, inward, align, _EDGES[box.kind])


def _draw_port(axes: Axes, port: Port, at: Point, inward: int, align: str, edge: str) -> None:
    from matplotlib.patches import Rectangle

    colour = _INK if port.connected else _PALE
    text = (at[0] + 7 * inward, at[1])
    _text(axes, text, port.text, PORT_SIZE, ha=align, color=colour, zorder=4)
    if port.name:
        fill = edge if port.connected else "white"
        mark = Rectangle((at[0] - 2.5, at[1] - 2.5), 5, 5, fc=fill, ec=edge, lw=0.8, zorder=3.5)
        axes.add_patch(mark)


def _draw_lines(
    axes: Axes, layout: Layout, connections: Sequence[Connection], labels: Sequence[str]
) -> None:
    from matplotlib.patches import Circle

    for trunk in layout.trunks:
        late = all(connections[number].delay for number in trunk.members)
        _stroke(axes, (trunk.start, trunk.dots[-1]), late=late)
        for dot in trunk.dots:
            axes.add_patch(Circle(dot, 2.1, fc=_DELAYED if late else _INK, ec="none", zorder=2.5))
    for line, way, label in zip(connections, layout.lines, labels, strict=True):
        late = line.delay is not None
        _stroke(axes, way.points, late=late, gid=f"connection: {line}")
        if label:
            _text(
                axes,
                way.label,
                label,
                LABEL_SIZE,
                ha="center",
                weight="bold",
                color=_DELAYED if late else _INK,
                zorder=2.8,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.2},
            )


def _stroke(axes: Axes, points: Sequence[Point], *, late: bool, gid: str = "") -> None:
    """Draw a line with round bends, and an arrow head if it is a whole connection."""
    from matplotlib.patches import PathPatch, Polygon

    colour = _DELAYED if late else _INK
    end = points[-1]
    ways = [*points[:-1], (end[0] - 7, end[1])] if gid else list(points)
    line = PathPatch(
        _rounded(ways), fc="none", ec=colour, lw=1.3, ls=_DASH if late else "-", zorder=2
    )
    line.set_capstyle("butt")
    axes.add_patch(line)
    if gid:
        line.set_gid(gid)
        tip = end[0] - 2.5
        head = Polygon(
            [(tip, end[1]), (tip - 7, end[1] - 3.2), (tip - 7, end[1] + 3.2)],
            fc=colour,
            ec="none",
            zorder=3.6,
        )
        axes.add_patch(head)


def _rounded(points: Sequence[Point]) -> Any:
    """Path through corners, each cut by a curve."""
    from matplotlib.path import Path

    corners, codes = [points[0]], [Path.MOVETO]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        lengths = [abs(p[0] - corner[0]) + abs(p[1] - corner[1]) for p in (before, after)]
        if min(lengths) == 0:
            continue
        bend = min(_BEND, lengths[0] / 2, lengths[1] / 2)
        for end, length, curve in ((before, lengths[0], False), (after, lengths[1], True)):
            part = bend / length
            point = (
                corner[0] + (end[0] - corner[0]) * part,
                corner[1] + (end[1] - corner[1]) * part,
            )
            corners += [corner, point] if curve else [point]
            codes += [Path.CURVE3, Path.CURVE3] if curve else [Path.LINETO]
    return Path([*corners, points[-1]], [*codes, Path.LINETO])


def _legend_entries(system: System) -> list[tuple[str, str]]:
    """Text and kind of what occurs in the drawing."""
    kinds = {component.source.kind for component in system.components.values()}
    entries = [(_NAMES[kind], str(kind)) for kind in SourceKind if kind in kinds]
    late = {line.delay is not None for line in system.connections}
    entries += [("connection", "line")] if False in late else []
    entries += [("connection with a transport delay", "late")] if True in late else []
    return entries


def _draw_legend(axes: Axes, entries: Sequence[tuple[str, str]], at: Point) -> None:
    from matplotlib.patches import Rectangle

    x, y = at
    for text, kind in entries:
        if kind in {"line", "late"}:
            _stroke(axes, ((x, y), (x + 18, y)), late=kind == "late")
        else:
            fill, edge = _HEADS[SourceKind(kind)], _EDGES[SourceKind(kind)]
            axes.add_patch(Rectangle((x, y - 4), 18, 8, fc=fill, ec=edge, lw=1.0))
        _text(axes, (x + 23, y), text, LABEL_SIZE, color="#444444")
        x += 34 + _width(text, LABEL_SIZE)
