"""Base of the blocks of a Stewart platform."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from orchestrator import Block, Parameter, StepError
from python_blocks.kinematics.rotation import Floats
from python_blocks.kinematics.stewart import StewartGeometry

_geometry = lru_cache(maxsize=64)(StewartGeometry)


class PartialStewart(Block):
    """Geometry of the robot, limits of its legs, and the reaction beyond them.

    References
    ----------
    Yu et al., IEEE Access (2018), section III B; it gives no geometry, all defaults are assumed.
    """

    base_radius: float = Parameter(
        start=1.5, unit="m", above=0.0, description="Circle of the lower joints"
    )
    platform_radius: float = Parameter(
        start=1.0, unit="m", above=0.0, description="Circle of the upper joints"
    )
    base_half: float = Parameter(
        start=np.radians(15.0), unit="rad", description="Half the angle between lower joints"
    )
    platform_half: float = Parameter(
        start=np.radians(45.0), unit="rad", description="Half the angle between upper joints"
    )
    shortest: float = Parameter(
        start=1.2, unit="m", above=0.0, description="Shortest length of a leg"
    )
    longest: float = Parameter(
        start=2.8, unit="m", above=0.0, description="Longest length of a leg"
    )
    condition_limit: float = Parameter(
        start=100.0,
        unit="1",
        minimum=1.0,
        description="Condition number beyond which a pose is singular",
    )
    stop: bool = Parameter(
        start=False, description="End the run with an error when the pose is not healthy"
    )

    @property
    def geometry(self) -> StewartGeometry:
        """Geometry from the parameters."""
        return _geometry(self.base_radius, self.platform_radius, self.base_half, self.platform_half)

    def margin_of(self, lengths: Floats) -> float:
        """Return the smallest distance of a leg from its limits, m; negative beyond."""
        every: list[float] = lengths.tolist()
        return min(min(every) - self.shortest, self.longest - max(every))

    def refuse(self, t: float, problem: str) -> None:
        """Raise an error if the parameter ``stop`` is set.

        Raises
        ------
        StepError
            With the time and the problem.
        """
        if self.stop:
            raise StepError(f"t = {t:.9g} s: {problem}")

    def limits_text(self, lengths: Iterable[float]) -> str:
        """Name the legs that are beyond their limits."""
        beyond = [
            f"leg {number} is {length:.6g} m"
            for number, length in enumerate(lengths, start=1)
            if not self.shortest <= length <= self.longest
        ]
        return (
            f"{', '.join(beyond)}; expected {self.shortest:g} to {self.longest:g} m:"
            " keep the motion inside the workspace, or correct 'shortest' and 'longest'"
        )
