"""Whether a peer computed the same: final outputs against the bare C loop's."""

from __future__ import annotations

from collections.abc import Sequence

#: Of each output, relative to the larger of it and 1e-12 m. Masters may make the time of a step as
#: a product or as a sum, hence differ in the last digits; another order of exchange is 4e-3 m.
TOLERANCE = 1e-9
_SMALL = 1e-12


def deviation(outputs: Sequence[float], expected: Sequence[float]) -> float:
    """Largest relative difference; infinite where something is missing or no number."""
    if len(outputs) != len(expected):
        return float("inf")
    pairs = zip(outputs, expected, strict=True)
    found = [abs(a - b) / max(abs(b), _SMALL) for a, b in pairs]
    return max((d if d == d else float("inf") for d in found), default=float("inf"))


def verdict(
    outputs: Sequence[float], jacobi: Sequence[float], in_sequence: Sequence[float]
) -> tuple[str, float]:
    """Order of exchange whose outputs these are, and the deviation from them.

    Returns
    -------
    order
        ``"Jacobi"``, ``"in sequence"`` (each output is passed on within the step), or ``"wrong"``.
    deviation
        Relative; for ``"wrong"`` from Jacobi's outputs.
    """
    for order, expected in (("Jacobi", jacobi), ("in sequence", in_sequence)):
        found = deviation(outputs, expected)
        if found <= TOLERANCE:
            return order, found
    return "wrong", deviation(outputs, jacobi)
