"""Wire rope in a plane: point masses, springs between them, and springs that bend.

The model of Cai, Chen, Luo, Wang (Aerospace 8, 381, 2021), Eq 12 to 39, in coordinates of the
nodes. Between neighbours acts a spring ``k_tes``, at each node the torsion spring
``M = k_tor (beta - beta0)`` of the angle between the adjacent segments (Eq 39), and at a
clamped end another one between its segment and the direction of the clamp. A segment with unit
vector u, normal n and length e carries the force ``T u + Q n`` with ``T = k_tes (e - s)`` and
``Q = (M_before - M_after)/e``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, pi

import numpy as np
from numpy.typing import NDArray

from orchestrator import DescriptionError

Floats = NDArray[np.float64]
#: Natural curvature, 1/m, of the paper's rope: its "initial total bending angle" of 26 degrees over
#: 29 joints and segments of 10 mm. Negative: its natural shape bows to +y.
NATURAL = -26.0 / 180.0 * pi / 29.0 / 0.01


@dataclass(frozen=True)
class PlanarRope:
    """A rope between two held ends in the x-y plane; the ends lie on the x axis.

    Parameters
    ----------
    segments Number of segments; the nodes are 1 to ``segments + 1``, as the paper counts them.
    length Length without load, m. mass Mass of the whole rope, kg; the end nodes have half a share
    (Eq 13). span Distance of the ends, m. k_tes Stiffness of the spring between two nodes, N/m.
    k_tor Stiffness of the torsion spring at a node, N.m/rad. curvature Natural curvature, 1/m:
    beta0 is this times the length of a segment, positive where the rope turns to the left on the
    way from its first to its last node. k_clamp Stiffness of the torsion springs at the ends,
    N.m/rad; 0 for pinned ends. clamp_a, clamp_b Directions of the clamps from the x axis, rad: of
    the rope as it leaves the first end, and as it arrives at the last one.

    Raises
    ------
    DescriptionError
        A figure is out of its range, or the rope is shorter than its span; the error names all.
    """

    segments: int = 30
    length: float = 0.30
    mass: float = 0.0365 * 0.30
    span: float = 0.26
    k_tes: float = 3e7
    k_tor: float = 2.4
    curvature: float = NATURAL
    k_clamp: float = 0.0
    clamp_a: float = 0.0
    clamp_b: float = 0.0

    def __post_init__(self) -> None:
        problems = [
            f"rope: expected a finite {name} > 0, found {getattr(self, name)}"
            for name in ("length", "mass", "span", "k_tes", "k_tor")
            if not (isfinite(getattr(self, name)) and getattr(self, name) > 0.0)
        ]
        if self.segments < 2:
            problems.append(f"rope: expected at least 2 segments, found {self.segments}")
        if self.k_clamp < 0.0:
            problems.append(f"rope: expected k_clamp >= 0 N.m/rad, found {self.k_clamp}")
        if self.length < self.span:
            problems.append(
                f"rope: it is {self.length:g} m long and its ends are {self.span:g} m apart;"
                " expected a rope that is not shorter than its span"
            )
        if problems:
            raise DescriptionError(*problems)

    @property
    def segment(self) -> float:
        """Length of a segment without load, m."""
        return self.length / self.segments

    @property
    def node_mass(self) -> float:
        """Mass of an inner node, kg."""
        return self.mass / self.segments

    @property
    def longest_step(self) -> float:
        """Longest step, s, at which the classical Runge-Kutta method does not tear the rope.

        Its limit for undamped motion is 2 sqrt(2) over the highest frequency; that is at most
        2 sqrt(k/m) of stretching, or 4/s sqrt(k_tor/m) of bending.
        """
        stretching = 2.0 * (self.k_tes / self.node_mass) ** 0.5
        bending = 4.0 / self.segment * (self.k_tor / self.node_mass) ** 0.5
        return float(2.0 * 2.0**0.5 / max(stretching, bending))

    def ends(self) -> tuple[Floats, Floats]:
        """Return the positions of the first and the last node, m, each of shape (2,)."""
        return np.zeros(2), np.array([self.span, 0.0])

    def arc(self) -> Floats:
        """Return the inner nodes on an arc that bows to +y, m, shape (segments - 1, 2)."""
        low, high = 1e-9, 2.0 * pi - 1e-9
        for _ in range(80):  # half angle: sin(a)/a = span/length
            angle = 0.5 * (low + high)
            wide = np.sin(0.5 * angle) / (0.5 * angle) > self.span / self.length
            low, high = (angle, high) if wide else (low, angle)
        radius = 0.5 * self.span / np.sin(0.5 * angle)
        at = angle * (np.arange(1, self.segments) / self.segments - 0.5)
        x = 0.5 * self.span + radius * np.sin(at)
        return np.column_stack([x, radius * (np.cos(at) - np.cos(0.5 * angle))])

    def stretches(self, inner: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return u and n, shape (segments, 2), lengths, and moments, shape (segments + 1,), N.m."""
        first, last = self.ends()
        difference = np.diff(np.vstack([first, inner, last]), axis=0)
        lengths = np.hypot(difference[:, 0], difference[:, 1])
        u = difference / lengths[:, None]
        n = np.column_stack([-u[:, 1], u[:, 0]])
        moments = np.empty(self.segments + 1)
        beta = np.arctan2((n[:-1] * u[1:]).sum(1), (u[:-1] * u[1:]).sum(1))
        moments[1:-1] = self.k_tor * (beta - self.curvature * self.segment)
        moments[0] = self.k_clamp * _turn(self.clamp_a, u[0])
        moments[-1] = -self.k_clamp * _turn(self.clamp_b, u[-1])
        return u, n, lengths, moments

    def energy(self, inner: Floats) -> float:
        """Return the elastic energy, J."""
        _, _, lengths, moments = self.stretches(inner)
        stretched = 0.5 * self.k_tes * ((lengths - self.segment) ** 2).sum()
        bent = 0.5 * (moments[1:-1] ** 2).sum() / self.k_tor
        clamped = (moments[0] ** 2 + moments[-1] ** 2) / (2.0 * self.k_clamp or 1.0)
        return float(stretched + bent + clamped)

    def forces(self, inner: Floats) -> Floats:
        """Return the elastic forces on the inner nodes, N, shape (segments - 1, 2)."""
        u, n, lengths, moments = self.stretches(inner)
        pull = self.k_tes * (lengths - self.segment)
        shear = (moments[:-1] - moments[1:]) / lengths
        carried = pull[:, None] * u + shear[:, None] * n
        return np.asarray(carried[1:] - carried[:-1])

    def stiffness(self, inner: Floats) -> Floats:
        """Return the Hessian of the energy, N/m, over x and y of one node after the other."""
        u, n, lengths, moments = self.stretches(inner)
        pull = self.k_tes * (lengths - self.segment)
        shear = (moments[:-1] - moments[1:]) / lengths
        count = self.segments
        local = np.zeros((2 * count, 2 * count))
        turns = np.zeros((count + 1, 2 * count))  # of each joint's angle by each difference
        for i in range(count):
            here = slice(2 * i, 2 * i + 2)
            cross = np.outer(n[i], u[i])
            local[here, here] = (
                self.k_tes * np.outer(u[i], u[i])
                + pull[i] / lengths[i] * np.outer(n[i], n[i])
                - shear[i] / lengths[i] * (cross + cross.T)
            )
            turns[i, here] += n[i] / lengths[i]
            turns[i + 1, here] -= n[i] / lengths[i]
        springs = np.full(count + 1, self.k_tor)
        springs[0] = springs[-1] = self.k_clamp
        local += turns.T @ (springs[:, None] * turns)
        between = np.zeros((2 * count, 2 * (count - 1)))
        for i in range(count - 1):
            for j in range(2):
                between[2 * i + j, 2 * i + j] = 1.0
                between[2 * (i + 1) + j, 2 * i + j] = -1.0
        return np.asarray(between.T @ local @ between)


def _turn(angle: float, u: Floats) -> float:
    """Return the angle from a direction to a unit vector, rad."""
    c, s = np.cos(angle), np.sin(angle)
    return float(np.arctan2(c * u[1] - s * u[0], c * u[0] + s * u[1]))
