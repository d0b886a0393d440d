"""Energy that hardware gives to a simulation, beyond what a contact could give back."""

from __future__ import annotations


def surplus(before: float, supplied: float) -> float:
    """Add the work of a step to the surplus.

    What a passive contact gives out from any moment on is at most what it then has stored. With
    ``W`` for the work that the hardware has done on the simulated bodies,
    ``D = W - min(W so far)`` is what it has given since it last had taken most, so ``D`` never
    exceeds the largest energy that the contact stores, ``k x^2/2``. One step of it is
    ``D = max(0, D + dW)``. A loop that is late, or has the wrong sign, gives more than it took in
    every cycle, and ``D`` grows without end.

    ``dW`` is exact where the force was held over the step: force times way. White noise of the
    force, of deviation ``s``, moves ``W`` by ``s sqrt(sum of dx^2)``: at 1 N, 0.03 m/s and 1 ms
    2 mJ in 5 s and 30 mJ in 1000 s, against the 2.5 J of a contact of 5e4 N/m at 10 mm.

    Parameters
    ----------
    before
        ``D`` before the step, J.
    given
        Work of the step, ``dW``, J; what is no number counts as nothing.
    """
    if supplied - supplied != 0.0:
        return before
    return max(0.0, before + supplied)
