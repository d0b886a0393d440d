"""What moves in an animation, as rows of numbers: frames, ends of lines and arrows, curves."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from orchestrator.core.diagnostics import nearest_names
from orchestrator.pictures.animation.description import Animation, Frame
from orchestrator.pictures.animation.quaternions import Floats, conjugate, power, product, turned
from orchestrator.pictures.animation.shapes import WORLD, Anchor, Arm, Arrow, Line, Spring, Three
from orchestrator.pictures.animation.signals import Signals, elements


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """A frame in the world.

    Parameters
    ----------
    position
        Of its origin, shape (n, 3), m; n is 1 for a frame that stands still.
    attitude
        Quaternion from its axes to those of the world, scalar first, shape (n, 4).
    """

    position: Floats
    attitude: Floats

    def point(self, at: Three) -> Floats:
        """Return where a point that is fixed in the frame is in the world, shape (n, 3), m."""
        arms = np.broadcast_to(np.array(at, dtype=np.float64), self.position.shape)
        return self.position + turned(self.attitude, arms)

    def of(self, inner: Motion) -> Motion:
        """Return where a frame is that is described in this one."""
        count = max(len(self.position), len(inner.position))
        outer_q, inner_q = (np.broadcast_to(m.attitude, (count, 4)) for m in (self, inner))
        inner_r = np.broadcast_to(inner.position, (count, 3))
        return Motion(self.position + turned(outer_q, inner_r), product(outer_q, inner_q))


def motions(table: Animation, case: str, signals: Mapping[str, Signals]) -> dict[str, Motion]:
    """Return all frames in the world, with the exaggeration that the table asks for.

    The world comes first, then the frames in the order of the table: the page counts them.

    Parameters
    ----------
    table
        Whose frames name each other without a ring.
    case
        The case that is shown.
    signals
        By case.

    Raises
    ------
    DescriptionError
        If a signal cannot be drawn at any time.
    """
    still = np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]])
    found = {WORLD: Motion(*still)}

    def motion(name: str) -> Motion:
        if name not in found:
            frame = table.frame[name]
            own = _own(frame, signals[table.case_of(frame, case)], table.exaggerate)
            found[name] = motion(frame.within).of(own)
        return found[name]

    return {WORLD: found[WORLD]} | {name: motion(name) for name in table.frame}


def _own(frame: Frame, signals: Signals, exaggerate: float) -> Motion:
    """Return a frame in its outer frame."""
    if is_fixed(frame.position):
        position = np.array([frame.position], dtype=np.float64)
    else:
        moved = signals.vector(frame.position)
        rest = moved[0] if frame.rest is None else np.array(frame.rest, dtype=np.float64)
        position = rest + exaggerate * (moved - rest)
    if is_fixed(frame.attitude):
        fixed = np.array([frame.attitude], dtype=np.float64)
        return Motion(position, fixed / np.linalg.norm(fixed))
    attitude = signals.attitude(frame.attitude)
    if exaggerate == 1.0:
        return Motion(position, attitude)
    start = np.broadcast_to(attitude[0], attitude.shape)
    since = power(product(conjugate(start), attitude), exaggerate)
    return Motion(position, product(start, since))


def is_fixed(vector: object) -> bool:
    """Whether a vector of a table has no signal in it."""
    return isinstance(vector, tuple) and not any(isinstance(part, str) for part in vector)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Signals that one key of an animation names.

    Parameters
    ----------
    where
        The key.
    parts
        Elements of a vector: names as in results, and numbers.
    cases
        Whose signals.
    unit
        That they must have, if they have one.
    """

    where: str
    parts: Sequence[float | str]
    cases: Sequence[str]
    unit: str | None = None


def wanted(table: Animation) -> Iterator[Wanted]:
    """List all signals that an animation names, by key."""
    for key, one in table.owners():
        cases = list(dict.fromkeys(table.case_of(one, shown) for shown in table.cases))
        if isinstance(one, Frame):
            if not is_fixed(one.position):
                yield Wanted(f"{key}.position", elements(one.position, 3), cases, "m")
            if not is_fixed(one.attitude):
                yield Wanted(f"{key}.attitude", elements(one.attitude, 4), cases, "1")
        elif isinstance(one, Arrow):
            yield Wanted(f"{key}.vector", elements(one.vector, 3), cases)
        else:
            yield Wanted(f"{key}.signal", [one.signal], cases)


def wrong_signals(
    name: str, table: Animation, recorded: Mapping[str, Mapping[str, str | None]]
) -> Iterator[str]:
    """Say which signals are not recorded, or not in metres where they are positions."""
    for one in wanted(table):
        for case in one.cases:
            if case in recorded:
                text = _missing(one, recorded[case]) or _other_unit(one, recorded[case])
                if text:
                    yield f"animation '{name}', {one.where}: case '{case}' {text}"


def _missing(one: Wanted, recorded: Mapping[str, str | None]) -> str:
    missing = [part for part in one.parts if isinstance(part, str) and part not in recorded]
    if not missing:
        return ""
    of = f" (expected {len(one.parts)} elements)" if len(one.parts) > 1 else ""
    close = nearest_names(missing[0], recorded, cutoff=0.5)
    listed = ", ".join(close or recorded)
    return f"records no '{missing[0]}'{of}; {'close to it' if close else 'recorded'}: {listed}"


def _other_unit(one: Wanted, recorded: Mapping[str, str | None]) -> str:
    for part in one.parts:
        found = recorded[part] if isinstance(part, str) else None
        if one.unit is not None and found is not None and found != one.unit:
            return f"has '{part}' in '{found}'; expected '{one.unit}'"
    return ""


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
    """Evaluate everything that an animation draws of one case."""
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
