"""Body chain: free masses in a row, with springs and dampers between them and one contact.

The last two masses meet at the contact, whose force comes from outside. Only distances between
neighbours are states: a chain that floats freely as a whole has no root of its own there.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.structs import Struct

Floats = NDArray[np.float64]


class BodyChain(Struct):
    """Masses on one axis: links between all neighbours but the last two, which have the contact.

    Parameters
    ----------
    masses
        In their order, at least two, kg.
    stiffness, damping
        Of the links, N/m and N s/m; two entries fewer than there are ``masses``.

    Raises
    ------
    DescriptionError
        The numbers do not fit each other, a mass or stiffness is not positive, or a damping
        negative.
    """

    masses: tuple[float, ...]
    stiffness: tuple[float, ...] = ()
    damping: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        links = len(self.masses) - 2
        problems = [
            f"body chain: {name}: expected finite values {'>' if positive else '>='} 0, found {row}"
            for name, row, positive in (
                ("masses", self.masses, True),
                ("stiffness", self.stiffness, True),
                ("damping", self.damping, False),
            )
            if not all(math.isfinite(x) and (x > 0.0 or (x == 0.0 and not positive)) for x in row)
        ]
        if links < 0 or len(self.stiffness) != links or len(self.damping) != links:
            problems.append(
                f"body chain: expected at least two masses, and a stiffness and a damping for each"
                f" of the links between all but the last two; found {len(self.masses)} masses,"
                f" {len(self.stiffness)} and {len(self.damping)}"
            )
        if problems:
            raise DescriptionError(*problems)

    @property
    def joints(self) -> int:
        """Number of distances: the links, and last the gap of the contact."""
        return len(self.masses) - 1

    @property
    def _compliance(self) -> Floats:
        """Accelerations of the distances, 1/kg, for pulls in the joints; shape (joints, joints)."""
        gaps = np.diff(np.eye(len(self.masses)), axis=0)
        return np.asarray(-(gaps / np.asarray(self.masses)) @ gaps.T)

    @property
    def matrix(self) -> Floats:
        """Derivatives without a contact, shape (2 joints,) * 2.

        States are all distances, m, then their rates, m/s.
        """
        number = self.joints
        pulls = np.zeros((number, 2 * number))
        for i, (k, c) in enumerate(zip(self.stiffness, self.damping, strict=True)):
            pulls[i, i], pulls[i, number + i] = k, c
        rates = np.hstack([np.zeros((number, number)), np.eye(number)])
        return np.vstack([rates, self._compliance @ pulls])

    @property
    def push(self) -> Floats:
        """Derivatives for 1 N that the contact pulls with, shape (2 joints,)."""
        return np.concatenate([np.zeros(self.joints), self._compliance[:, -1]])

    def modes(self, stiffness: float) -> tuple[Floats, Floats, Floats]:
        """Give the vibrations with a contact of that stiffness, all dampers taken away.

        Parameters
        ----------
        stiffness
            Of the contact, N/m.

        Returns
        -------
        frequencies
            Angular, rising, rad/s, shape (joints,).
        contact
            Of each mode 1/(2 m), 1/kg, by which a damper of 1 N s/m in the contact slows its
            growth, in 1/s.
        damping
            Decay of each mode by the dampers of the links, 1/s.
        """
        root = np.diag(np.sqrt([*self.stiffness, stiffness]))
        # Symmetric in sqrt(k) times distance: the eigenvectors are orthonormal.
        squares, shapes = np.linalg.eigh(-root @ self._compliance @ root)
        frequencies = np.sqrt(np.maximum(squares, 0.0))
        share = 0.5 * shapes**2 * squares  # of mode j in joint i: c_i share / k_i is its decay
        links = np.divide(self.damping, self.stiffness) if self.stiffness else np.zeros(0)
        return frequencies, share[-1] / stiffness, links @ share[:-1]
