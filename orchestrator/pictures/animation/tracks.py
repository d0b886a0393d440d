"""What moves in an animation, as rows of numbers: frames, ends of lines and arrows, curves."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from orchestrator.pictures.animation.description import Animation
from orchestrator.pictures.animation.motion import Motion, motions
from orchestrator.pictures.animation.quaternions import Floats, turned
from orchestrator.pictures.animation.shapes import Anchor, Arm, Arrow, Line, Spring
from orchestrator.pictures.animation.signals import Signals


@dataclass(frozen=True, slots=True, eq=False)
class Tracks:
    """Rows of numbers of one case, one for each picture, or a single one of what stands still.

    Parameters
    ----------
    frames
        By name: position (m) and attitude (scalar first) in the world, shape (n, 7).
    segments
        By part: from where to where, in the world, m, each of shape (n, 6).
    curves
        Of the charts, in their order, each of shape (n, 1).
    troubles
        What could not be drawn as it was recorded, in sentences.
    """

    frames: dict[str, Floats]
    segments: dict[str, list[Floats]]
    curves: list[Floats]
    troubles: tuple[str, ...]

    def all(self) -> list[Floats]:
        """All rows, in the order in which they are written."""
        lines = (one for several in self.segments.values() for one in several)
        return [*self.frames.values(), *lines, *self.curves]

    def packed(self) -> str:
        """All rows as base64 of little-endian float32, one track after the other."""
        content = b"".join(np.asarray(one, dtype="<f4").tobytes() for one in self.all())
        return base64.b64encode(content).decode()


def tracks(table: Animation, case: str, signals: Mapping[str, Signals]) -> Tracks:
    """Evaluate everything that an animation draws of one case.

    Parameters
    ----------
    table, case
        The animation, and which of its cases.
    signals
        By case, of all that the animation needs.

    Raises
    ------
    DescriptionError
        If a signal is no number at any time.
    """
    frames = motions(table, case, signals)
    segments: dict[str, list[Floats]] = {}
    for name, part in table.part.items():
        if isinstance(part, Line | Spring | Arm):
            ends = zip(_points(part.begin, frames), _points(part.end, frames), strict=True)
            segments[name] = [one for begin, end in ends for one in _segments(part, begin, end)]
        elif isinstance(part, Arrow):
            segments[name] = [_arrow(part, frames[part.within], signals[table.case_of(part, case)])]
    curves = [
        curve.factor * signals[table.case_of(curve, case)].scalar(curve.signal)[:, None]
        for chart in table.chart
        for curve in chart.curves
    ]
    troubles = {text: None for one in signals.values() for text in one.troubles}
    whole = {n: np.hstack([m.position, m.attitude]) for n, m in _counted(frames)}
    return Tracks(whole, segments, curves, tuple(troubles))


def _counted(frames: Mapping[str, Motion]) -> Iterator[tuple[str, Motion]]:
    """Frames whose positions and attitudes are equally many."""
    for name, motion in frames.items():
        count = max(len(motion.position), len(motion.attitude))
        position = np.broadcast_to(motion.position, (count, 3))
        yield name, Motion(position, np.broadcast_to(motion.attitude, (count, 4)))


def _points(anchor: Anchor, frames: Mapping[str, Motion]) -> list[Floats]:
    return [frames[anchor.within].point(at) for at in anchor.at]


def _segments(part: Line | Spring | Arm, begin: Floats, end: Floats) -> list[Floats]:
    if isinstance(part, Arm):
        elbow = _elbow(part, begin, end)
        return [_joined(begin, elbow), _joined(elbow, end)]
    first, last = part.span if isinstance(part, Line) else (0.0, 1.0)
    way = end - begin
    return [_joined(begin + first * way, begin + last * way)]


def _joined(begin: Floats, end: Floats) -> Floats:
    count = max(len(begin), len(end))
    return np.hstack([np.broadcast_to(begin, (count, 3)), np.broadcast_to(end, (count, 3))])


def _elbow(arm: Arm, begin: Floats, end: Floats) -> Floats:
    """Where two links meet; on the straight line where the ends are too far or too near."""
    way = end - begin
    distance = np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-9)
    along = way / distance
    first, second = arm.links
    share = (first**2 - second**2 + distance**2) / (2.0 * distance)
    share = np.clip(share, -first, first)
    side = (
        np.array(arm.towards, dtype=np.float64) - along * (along @ np.array(arm.towards))[:, None]
    )
    length = np.linalg.norm(side, axis=1, keepdims=True)
    side = np.divide(side, length, out=np.zeros_like(side), where=length > 0.0)
    return np.asarray(begin + share * along + np.sqrt(first**2 - share**2) * side)


def _arrow(part: Arrow, frame: Motion, signals: Signals) -> Floats:
    vector = part.scale * signals.vector(part.vector)
    attitude = np.broadcast_to(frame.attitude, (len(vector), 4))
    begin = frame.point(part.at)
    return _joined(begin, begin + turned(attitude, vector))
