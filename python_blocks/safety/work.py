"""Energy that hardware gives to a simulation, beyond that of a passive contact."""

from __future__ import annotations


def surplus(before: float, supplied: float) -> float:
    """Add the work of a step to the surplus.

    From any moment on, a passive contact gives at most the energy that it then stores. With the
    work ``W`` that the hardware has done on the simulated bodies, ``D = W - min(W so far)`` is the
    energy given since it last had taken most. ``D`` therefore never exceeds the largest energy
    that the contact stores, ``k x^2/2``. One step is ``D = max(0, D + dW)``. A loop that is late,
    or has the wrong sign, gives more than it took in every cycle, and ``D`` grows without limit.

    ``dW`` is exact if the force was held over the step: force times displacement. White noise of
    the force, of deviation ``s``, moves ``W`` by ``s sqrt(sum of dx^2)``: at 1 N, 0.03 m/s and 1 ms
    2 mJ in 5 s and 30 mJ in 1000 s, against the 2.5 J of a contact of 5e4 N/m at 10 mm.

    Parameters
    ----------
    before
        ``D`` before the step, J.
    given
        Work of the step, ``dW``, J; a value that is not finite counts as 0.
    """
    if supplied - supplied != 0.0:
        return before
    return max(0.0, before + supplied)
