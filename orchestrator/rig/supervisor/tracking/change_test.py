"""Page's test for a change of one parameter, to both sides."""

from __future__ import annotations


class ChangeTest:
    """Sums the logarithm of the likelihood of a change over that of none, from its last minimum.

    An innovation ``e`` of variance ``s**2`` that a change ``d`` of the parameter moves by
    ``d * slope`` adds ``d slope (e - d slope / 2) / s**2`` to the sum for ``+d``, and with ``-d``
    to the other one. A sum does not fall below 0, and a change is found where it is above the
    threshold. One sample adds at most so much that a single wild one finds nothing.

    Parameters
    ----------
    change
        Of the parameter, which shall be found.
    threshold
        Of the sums.
    most
        What one sample may add or take.

    References
    ----------
    Page: Continuous inspection schemes, Biometrika 41, 1954. Basseville, Nikiforov: Detection of
    Abrupt Changes, 1993, sections 2.2 and 2.4: the sum for a change of known size, to both sides.
    What one sample may add is bounded here, since cycles that are missed are no Gaussian noise.
    """

    def __init__(self, change: float, threshold: float, most: float) -> None:
        self._change, self._threshold, self._most = change, threshold, most
        self._sums = [0.0, 0.0]

    @property
    def score(self) -> float:
        """The larger sum, as a share of the threshold."""
        return max(self._sums) / self._threshold

    def reset(self) -> None:
        """Begin anew."""
        self._sums = [0.0, 0.0]

    def take(self, innovation: float, slope: float, variance: float) -> bool:
        """Take an innovation; return whether a change is found."""
        for side, sign in enumerate((1.0, -1.0)):
            moved = sign * self._change * slope
            gained = moved * (innovation - 0.5 * moved) / variance
            gained = min(max(gained, -self._most), self._most)
            self._sums[side] = max(0.0, self._sums[side] + gained)
        return max(self._sums) > self._threshold
