"""The weight with which a command is blended in."""

from __future__ import annotations


def blending_weight(share: float) -> float:
    """Return 0 to 1 for a share of the time, with no velocity and no acceleration at both ends.

    The quintic ``10 s^3 - 15 s^4 + 6 s^5``.

    Parameters
    ----------
    share
        Of the time of blending that is over; below 0 counts as 0, above 1 as 1.
    """
    s = min(max(share, 0.0), 1.0)
    return s * s * s * (10.0 + s * (6.0 * s - 15.0))
