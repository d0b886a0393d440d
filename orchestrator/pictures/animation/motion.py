"""Where the frames of an animation are at the time of each picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from orchestrator.pictures.animation.description import Animation, Frame
from orchestrator.pictures.animation.quaternions import Floats, conjugate, power, product, turned
from orchestrator.pictures.animation.signals import Signals
from orchestrator.pictures.animation.values import WORLD, Three


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
