"""What moves in an animation, as rows of numbers at the times of the pictures."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import DescriptionError, nearest_names
from orchestrator.core.recording import Result
from orchestrator.core.structs import Struct
from orchestrator.pictures.animation.description import (
    WORLD,
    Anchor,
    Animation,
    Arm,
    Arrow,
    ChartCurve,
    Frame,
    Line,
    Spring,
    Three,
)

Floats = NDArray[np.float64]


def product(p: Floats, q: Floats) -> Floats:
    """Give the attitudes that turn by ``q`` first and by ``p`` then; shapes (n, 4)."""
    a, b, c, d = p.T
    w, x, y, z = q.T
    return np.column_stack(
        [
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        ]
    )


def conjugate(q: Floats) -> Floats:
    """Give the attitudes that turn back; shape (n, 4)."""
    return np.asarray(q * np.array([1.0, -1.0, -1.0, -1.0]), dtype=np.float64)


def turned(q: Floats, vectors: Floats) -> Floats:
    """Turn vectors of the inner frame into the outer frame; shapes (n, 4) and (n, 3)."""
    axis = q[:, 1:]
    twice = 2.0 * np.cross(axis, vectors)
    return np.asarray(vectors + q[:, :1] * twice + np.cross(axis, twice), dtype=np.float64)


def power(q: Floats, exponent: float) -> Floats:
    """Turn by a multiple of the angle about the same axis, the short way; shape (n, 4)."""
    q = np.where(q[:, :1] < 0.0, -q, q)
    size = np.linalg.norm(q[:, 1:], axis=1, keepdims=True)
    half = exponent * np.arctan2(size, q[:, :1])
    axis = np.divide(q[:, 1:], size, out=np.zeros_like(q[:, 1:]), where=size > 0.0)
    return np.hstack([np.cos(half), np.sin(half) * axis])


def interpolated(at: Floats, times: Floats, q: Floats) -> Floats:
    """Interpolate attitudes along great circles.

    at: Requested times, shape (m,), within ``times``.
    times, q: Times, not decreasing, shape (n,), and attitudes of norm 1, shape (n, 4).
    Returns: Shape (m, 4).
    """
    after = np.clip(np.searchsorted(times, at, side="right"), 1, max(len(times) - 1, 1))
    before = after - 1
    after = np.minimum(after, len(times) - 1)
    span = times[after] - times[before]
    share = np.divide(at - times[before], span, out=np.zeros_like(at), where=span > 0.0)
    step = product(conjugate(q[before]), q[after])
    step = np.where(step[:, :1] < 0.0, -step, step)
    size = np.linalg.norm(step[:, 1:], axis=1)
    half = share * np.arctan2(size, step[:, 0])
    # sin(half)/size, whose limit for no turn at all is the share
    scale = np.divide(np.sin(half), size, out=share.copy(), where=size > 1e-12)
    return product(q[before], np.column_stack([np.cos(half), scale[:, None] * step[:, 1:]]))


#: Farther away nothing is drawn, m.
FARTHEST = 1e6


def elements(signal: str | Sequence[float | str], size: int) -> list[float | str]:
    """Name the elements of a vector, as results do; numbers stay numbers."""
    if isinstance(signal, str):
        return [f"{signal}[{i}]" for i in range(size)]
    return list(signal)


class CaseSignals:
    """What one case recorded, at the times of the pictures.

    result: Of the case.
    times_ns: Of the pictures, increasing, int64 array of shape (n,). After the end of the run its
        last values hold.
    Raises DescriptionError: if the result has no rows.
    """

    def __init__(self, result: Result, times_ns: NDArray[np.int64]) -> None:
        if not len(result.time_ns):
            raise DescriptionError(f"case '{result.name}' recorded nothing that could be drawn")
        self.result = result
        first, last = result.time_ns[0], result.time_ns[-1]
        self.asked = times_ns.astype(np.float64)
        self.times = np.clip(self.asked, first, last)
        self.troubles: dict[str, None] = {}

    def vector(self, signal: str | Sequence[float | str]) -> Floats:
        """Return a vector at the times of the pictures, shape (n, 3), linear between samples."""
        rows, times = self._rows(elements(signal, 3))
        columns = [np.interp(self.times, times, column) for column in rows.T]
        return np.column_stack(columns)

    def attitude(self, signal: str | Sequence[float | str]) -> Floats:
        """Return an attitude at the times of the pictures, shape (n, 4), of norm 1."""
        rows, times = self._rows(elements(signal, 4))
        norm = np.linalg.norm(rows, axis=1, keepdims=True)
        if not norm.all():
            raise DescriptionError(
                f"case '{self.result.name}': '{signal}' has zeros only, which is no attitude"
            )
        return interpolated(self.times, times, rows / norm)

    def scalar(self, signal: str) -> Floats:
        """Return one signal at the times of the pictures, shape (n,), NaN outside of the run."""
        times = self.result.time_ns.astype(np.float64)
        return np.interp(self.asked, times, self.result[signal], left=np.nan, right=np.nan)

    def _rows(self, parts: Sequence[float | str]) -> tuple[Floats, Floats]:
        """Return what was recorded, and when; what cannot be drawn is left out, and said."""
        time_ns = self.result.time_ns
        columns = [
            self.result[part] if isinstance(part, str) else np.full(len(time_ns), float(part))
            for part in parts
        ]
        rows = np.column_stack(columns)
        good = (np.abs(rows) < FARTHEST).all(axis=1)  # what is no number is not below it either
        if not good.all():
            names = ", ".join(part for part in parts if isinstance(part, str))
            since = time_ns[np.argmin(good)] / 1e9
            text = f"{names} is no number, or beyond {FARTHEST:g}, first at {since:.6g} s"
            self.troubles[f"{text}; it is drawn where it last was"] = None
        if not good.any():
            raise DescriptionError(f"case '{self.result.name}': {next(reversed(self.troubles))}")
        return rows[good], time_ns[good].astype(np.float64)


class FrameMotion(Struct, eq=False):
    """A frame in the world.

    position: Of its origin, shape (n, 3), m; n is 1 for a frame that stands still.
    attitude: Quaternion from its axes to those of the world, scalar first, shape (n, 4).
    """

    position: Floats
    attitude: Floats

    def point(self, at: Three) -> Floats:
        """Return where a point that is fixed in the frame is in the world, shape (n, 3), m."""
        arms = np.broadcast_to(np.array(at, dtype=np.float64), self.position.shape)
        return self.position + turned(self.attitude, arms)

    def of(self, inner: FrameMotion) -> FrameMotion:
        """Return where a frame is that is described in this one."""
        count = max(len(self.position), len(inner.position))
        outer_q, inner_q = (np.broadcast_to(m.attitude, (count, 4)) for m in (self, inner))
        inner_r = np.broadcast_to(inner.position, (count, 3))
        return FrameMotion(self.position + turned(outer_q, inner_r), product(outer_q, inner_q))


def motions(
    table: Animation, case: str, signals: Mapping[str, CaseSignals]
) -> dict[str, FrameMotion]:
    """Return all frames in the world, with the exaggeration that the table asks for.

    The world comes first, then the frames in the order of the table: the page counts them.

    table: Whose frames name each other without a ring.
    case: The case that is shown.
    signals: By case.
    Raises DescriptionError: if a signal cannot be drawn at any time.
    """
    still = np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]])
    known_motions = {WORLD: FrameMotion(*still)}

    def motion(name: str) -> FrameMotion:
        if name not in known_motions:
            frame = table.frame[name]
            local = _frame_motion(frame, signals[table.case_of(frame, case)], table.exaggerate)
            known_motions[name] = motion(frame.within).of(local)
        return known_motions[name]

    return {WORLD: known_motions[WORLD]} | {name: motion(name) for name in table.frame}


def _frame_motion(frame: Frame, signals: CaseSignals, exaggerate: float) -> FrameMotion:
    """Return a frame in its outer frame."""
    if is_fixed(frame.position):
        position = np.array([frame.position], dtype=np.float64)
    else:
        moved = signals.vector(frame.position)
        first_position = moved[0] if frame.rest is None else np.array(frame.rest, dtype=np.float64)
        position = first_position + exaggerate * (moved - first_position)
    if is_fixed(frame.attitude):
        fixed = np.array([frame.attitude], dtype=np.float64)
        return FrameMotion(position, fixed / np.linalg.norm(fixed))
    attitude = signals.attitude(frame.attitude)
    if exaggerate == 1.0:
        return FrameMotion(position, attitude)
    start = np.broadcast_to(attitude[0], attitude.shape)
    since = power(product(conjugate(start), attitude), exaggerate)
    return FrameMotion(position, product(start, since))


def is_fixed(vector: object) -> bool:
    """Whether a vector of a table has no signal in it."""
    return isinstance(vector, tuple) and not any(isinstance(part, str) for part in vector)


def _signal_parts(
    item: Frame | Arrow | ChartCurve,
) -> Iterator[tuple[str, list[float | str], str | None]]:
    """List the vectors of signals that something names: key, elements, and the unit they need."""
    if isinstance(item, Frame):
        if not is_fixed(item.position):
            yield "position", elements(item.position, 3), "m"
        if not is_fixed(item.attitude):
            yield "attitude", elements(item.attitude, 4), "1"
    elif isinstance(item, Arrow):
        yield "vector", elements(item.vector, 3), None
    else:
        yield "signal", [item.signal], None


def wrong_signals(
    name: str, table: Animation, recorded: Mapping[str, Mapping[str, str | None]]
) -> Iterator[str]:
    """Say which signals are not recorded, or not in metres where they are positions."""
    for owner, item in table.owners():
        cases = list(dict.fromkeys(table.case_of(item, case) for case in table.cases))
        for key, parts, unit in _signal_parts(item):
            for case in cases:
                if case in recorded and (text := _mismatch(parts, unit, recorded[case])):
                    yield f"animation '{name}', {owner}.{key}: case '{case}' {text}"


def _mismatch(
    parts: Sequence[float | str], unit: str | None, recorded: Mapping[str, str | None]
) -> str:
    names = [part for part in parts if isinstance(part, str)]
    if missing := [name for name in names if name not in recorded]:
        of = f" (expected {len(parts)} elements)" if len(parts) > 1 else ""
        close = nearest_names(missing[0], recorded, cutoff=0.5)
        listed = ", ".join(close or recorded)
        return f"records no '{missing[0]}'{of}; {'close to it' if close else 'recorded'}: {listed}"
    for name in names if unit is not None else ():
        if recorded[name] not in {unit, None}:
            return f"has '{name}' in '{recorded[name]}'; expected '{unit}'"
    return ""


class Tracks(Struct, eq=False):
    """Rows of numbers of one case, one for each picture, or a single one of what stands still.

    frames: By name: position (m) and attitude (scalar first) in the world, shape (n, 7).
    segments: By part: from where to where, in the world, m, each of shape (n, 6).
    curves: Of the charts, in their order, each of shape (n, 1).
    troubles: What could not be drawn as it was recorded, in sentences.
    """

    frames: dict[str, Floats]
    segments: dict[str, list[Floats]]
    curves: list[Floats]
    troubles: tuple[str, ...]

    def all(self) -> list[Floats]:
        """All rows, in the order in which they are written."""
        lines = (line for several in self.segments.values() for line in several)
        return [*self.frames.values(), *lines, *self.curves]

    def packed(self) -> str:
        """All rows as base64 of little-endian float32, one track after the other."""
        content = b"".join(np.asarray(values, dtype="<f4").tobytes() for values in self.all())
        return base64.b64encode(content).decode()


def tracks(table: Animation, case: str, signals: Mapping[str, CaseSignals]) -> Tracks:
    """Evaluate everything that an animation draws of one case."""
    frames = motions(table, case, signals)
    segments: dict[str, list[Floats]] = {}
    for name, part in table.part.items():
        if isinstance(part, Line | Spring | Arm):
            ends = zip(_points(part.begin, frames), _points(part.end, frames), strict=True)
            segments[name] = [
                segment for begin, end in ends for segment in _segments(part, begin, end)
            ]
        elif isinstance(part, Arrow):
            segments[name] = [_arrow(part, frames[part.within], signals[table.case_of(part, case)])]
    curves = [
        curve.factor * signals[table.case_of(curve, case)].scalar(curve.signal)[:, None]
        for chart in table.chart
        for curve in chart.curves
    ]
    troubles = {text: None for signal in signals.values() for text in signal.troubles}
    positions = {
        name: _joined(frame_track.position, frame_track.attitude)
        for name, frame_track in frames.items()
    }
    return Tracks(positions, segments, curves, tuple(troubles))


def _points(anchor: Anchor, frames: Mapping[str, FrameMotion]) -> list[Floats]:
    return [frames[anchor.within].point(at) for at in anchor.at]


def _segments(part: Line | Spring | Arm, begin: Floats, end: Floats) -> list[Floats]:
    if isinstance(part, Arm):
        elbow = _elbow(part, begin, end)
        return [_joined(begin, elbow), _joined(elbow, end)]
    first, last = part.span if isinstance(part, Line) else (0.0, 1.0)
    distance = end - begin
    return [_joined(begin + first * distance, begin + last * distance)]


def _joined(begin: Floats, end: Floats) -> Floats:
    """Rows of both, of which one may have a single row."""
    count = max(len(begin), len(end))
    return np.hstack(
        [np.broadcast_to(end_rows, (count, end_rows.shape[1])) for end_rows in (begin, end)]
    )


def _elbow(arm: Arm, begin: Floats, end: Floats) -> Floats:
    """Where two links meet; on the straight line where the ends are too far or too near."""
    reach = end - begin
    distance = np.maximum(np.linalg.norm(reach, axis=1, keepdims=True), 1e-9)
    along = reach / distance
    first, second = arm.links
    share = (first**2 - second**2 + distance**2) / (2.0 * distance)
    share = np.clip(share, -first, first)
    side = (
        np.array(arm.towards, dtype=np.float64) - along * (along @ np.array(arm.towards))[:, None]
    )
    length = np.linalg.norm(side, axis=1, keepdims=True)
    side = np.divide(side, length, out=np.zeros_like(side), where=length > 0.0)
    return np.asarray(begin + share * along + np.sqrt(first**2 - share**2) * side)


def _arrow(part: Arrow, frame: FrameMotion, signals: CaseSignals) -> Floats:
    vector = part.scale * signals.vector(part.vector)
    attitude = np.broadcast_to(frame.attitude, (len(vector), 4))
    begin = frame.point(part.at)
    return _joined(begin, begin + turned(attitude, vector))
