"""The virtual spring that replaces a rope: force over depth and distance of the ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from orchestrator import DescriptionError, Input, Output, Parameter
from python_blocks.contact.partial_contact import PartialContact
from python_blocks.ropes.planar_rope import Floats, PlanarRope
from python_blocks.ropes.rope_statics import force_curve

#: Powers of the depth, from 1, and of the change of the span, from 0.
POWERS = (4, 3)


@dataclass(frozen=True, eq=False)
class VirtualSpring:
    """Polynomial ``F = sum c[i, j] depth^(i + 1) (span - span0)^j``, and its error.

    Parameters
    ----------
    coefficients
        c, N/m^(i + j + 1), shape (4, 3).
    span0
        Distance of the ends at the centre of the expansion, m.
    deepest
        Largest depth of the fit, m.
    error
        Largest difference from the exact statics, N, over all points of the fit.
    largest
        Largest force of the fit, N.
    """

    coefficients: Floats
    span0: float
    deepest: float
    error: float
    largest: float

    @property
    def table(self) -> tuple[float, ...]:
        """The coefficients for the parameter ``c`` of the block, row by row."""
        return tuple(self.coefficients.ravel().tolist())


def fit_virtual_spring(
    rope: PlanarRope,
    node: int,
    deepest: float,
    *,
    direction: float = 1.0,
    spans: Sequence[float] = (),
) -> VirtualSpring:
    """Fit the virtual spring of a node to the exact statics, by least squares.

    Cai, Chen, Luo, Wang, Eq 40 to 42, with one difference: every term has a power of the depth, so
    there is no force without depth, unlike the paper's g(d_se).

    Parameters
    ----------
    rope
        The rope; its span is the centre of the expansion.
    node
        Pressed node, counted from 1.
    deepest
        Largest depth of the fit, m.
    direction
        1: pressed along +y, -1: along -y.
    spans
        Distances of the ends, m; default only that of the rope.

    Raises
    ------
    DescriptionError
        The node is not an inner one, or there are two spans (give one, or at least three).
    ConvergenceError
        The statics cannot be followed that deep.
    """
    every = tuple(spans) or (rope.span,)
    if 1 < len(every) < POWERS[1]:
        raise DescriptionError(
            f"virtual spring: expected one span, or at least {POWERS[1]}, found {len(every)}"
        )
    columns = POWERS[1] if len(every) > 1 else 1
    points = []
    for span in every:
        curve = force_curve(replace(rope, span=span), node, direction, deepest, deepest / 40.0)
        within = curve.depth <= deepest
        change = np.full(within.sum(), span - rope.span)
        points.append(np.column_stack([curve.depth[within], change, curve.force[within]]))
    depth, change, force = np.vstack(points).T
    scales = (deepest, max(np.abs(change).max(), 1e-12))
    terms = [
        (depth / scales[0]) ** (i + 1) * (change / scales[1]) ** j
        for i in range(POWERS[0])
        for j in range(columns)
    ]
    matrix = np.column_stack(terms)
    solution = np.linalg.lstsq(matrix, force, rcond=None)[0]
    coefficients = np.zeros(POWERS)
    coefficients[:, :columns] = solution.reshape(POWERS[0], columns)
    for i in range(POWERS[0]):
        for j in range(columns):
            coefficients[i, j] /= scales[0] ** (i + 1) * scales[1] ** j
    error = float(np.abs(matrix @ solution - force).max())
    return VirtualSpring(coefficients, rope.span, deepest, error, float(force.max()))


class VirtualSpringContact(PartialContact):
    """Contact with a rope that is replaced by its virtual spring, Eq 43.

    ``F = f(delta, span) + d delta'`` with the fitted polynomial f. It has no inertia, so the
    rope does not vibrate. Side b is the position of the node without a force.

    ====================== ========= ===== ==============================================
    connector              causality unit  meaning
    ====================== ========= ===== ==============================================
    position_a, position_b input     m     positions of the sides
    velocity_a, velocity_b input     m/s   velocities of the sides
    span                   input     m     distance of the rope's ends
    force_a, force_b       output    N     forces on the sides, ``force_a = -force_b``
    compression            output    m     ``position_a - position_b``
    energy                 output    J     energy of the rope
    dissipation            output    W     power that the damper takes
    impulse                output    N.s   impulse on side b so far
    c                      parameter 1     shape (4, 3): force in N by depth^(i+1) (span-span0)^j
    span0                  parameter m     span at the centre of the expansion
    d                      parameter N.s/m damping c_v
    ====================== ========= ===== ==============================================

    References
    ----------
    Cai, Chen, Luo, Wang: Aerospace 8, 381 (2021), Eq 40 to 43. Eq 46, its polynomial for node 16,
    is c[0, 0] = 2089, c[1, 0] = 4.13e4.
    """

    span: float = Input(unit="m", start=0.26, description="Distance of the rope's ends")
    energy: float = Output(
        unit="J", description="Energy of the rope", depends_on=("position_a", "position_b", "span")
    )
    c: Floats = Parameter(
        unit="1",
        shape=POWERS,
        start=((2089.0, 0.0, 0.0), (4.13e4, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        description="Coefficients, SI units",
    )
    span0: float = Parameter(
        unit="m", start=0.26, above=0.0, description="Span about which it is expanded"
    )
    d: float = Parameter(unit="N.s/m", start=0.0, minimum=0.0, description="Damping")

    def elastic(self, depth: float) -> tuple[float, float]:
        """Return the polynomial and its integral over the depth."""
        change = self.span - self.span0
        force, energy, power = 0.0, 0.0, 1.0
        for i in range(POWERS[0]):
            power = power * depth
            factor = self.c[i, 0] + change * (self.c[i, 1] + change * self.c[i, 2])
            force = force + factor * power
            energy = energy + factor * power * depth / (i + 2)
        return force, energy

    def damped(self, spring: float, rate: float) -> float:
        """Return the force including that of the damper."""
        return spring + self.d * rate
