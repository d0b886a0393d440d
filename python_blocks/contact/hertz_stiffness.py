"""Hertz's stiffness of two rounded bodies from their radii and materials."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, pi, sqrt

from orchestrator import DescriptionError


@dataclass(frozen=True)
class RoundedBody:
    """Curvature and material of a body at the point of contact.

    Parameters
    ----------
    radius
        Radius of curvature, m; infinite for a plane.
    modulus
        Young's modulus, Pa.
    poisson
        Poisson's ratio, 0 <= poisson <= 0.5.

    Raises
    ------
    DescriptionError
        A figure is out of its range; the error names all of them.
    """

    radius: float
    modulus: float
    poisson: float

    def __post_init__(self) -> None:
        problems = [
            f"rounded body: {text}"
            for right, text in (
                (self.radius > 0.0, f"expected radius > 0 m, found {self.radius}"),
                (
                    isfinite(self.modulus) and self.modulus > 0.0,
                    f"expected modulus > 0 Pa, found {self.modulus}",
                ),
                (0.0 <= self.poisson <= 0.5, f"expected 0 <= poisson <= 0.5, found {self.poisson}"),
            )
            if not right
        ]
        if problems:
            raise DescriptionError(*problems)

    @property
    def compliance(self) -> float:
        """Compliance h = (1 - poisson^2)/(pi modulus), 1/Pa."""
        return (1.0 - self.poisson**2) / (pi * self.modulus)


def hertz_stiffness(a: RoundedBody, b: RoundedBody) -> float:
    """Return k of ``F = k delta^1.5`` for two rounded bodies, N/m^1.5.

    ``k = 4/(3 pi (h1 + h2)) sqrt(R1 R2/(R1 + R2))``: Cai, Chen, Luo, Wang: Aerospace 8, 381 (2021),
    Eq 3; its running text lacks the square of Poisson's ratio.

    Raises
    ------
    DescriptionError
        Both radii are infinite: planes do not touch at a point.
    """
    if a.radius == b.radius == inf:
        raise DescriptionError(
            "Hertz stiffness: expected a finite radius of one body at least, found two planes"
        )
    curvature = 1.0 / a.radius + 1.0 / b.radius
    return 4.0 / (3.0 * pi * (a.compliance + b.compliance)) / sqrt(curvature)
