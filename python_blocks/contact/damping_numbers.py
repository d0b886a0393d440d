"""Damping numbers of the laws for a coefficient of restitution.

All laws with a force ``g(delta) (1 + D delta'/v0)``, whatever the elastic force ``g``, differ in
one number, ``D = lambda v0 / k`` in the symbols of Hunt and Crossley: v0 is the speed at first
touch. The actual restitution depends on D alone (:func:`restitution_of`), so each law is one
function of the requested coefficient of restitution c.

References
----------
Hunt, Crossley: J. Appl. Mech. 42, 440 (1975). Lankarani, Nikravesh: J. Mech. Des. 112, 369 (1990).
Gonthier, McPhee, Lange, Piedboeuf: Multibody Syst. Dyn. 11, 209 (2004). Flores, Machado, Silva,
Martins: Multibody Syst. Dyn. 25, 357 (2011). Qin, Lu: J. Dyn. Control 4, 294 (2006), as given by
Cai, Chen, Luo, Wang: Aerospace 8, 381 (2021), Eq 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import e, inf, log1p
from types import MappingProxyType

from orchestrator import DescriptionError

#: Share of the printed damping that reproduces Table 1 of Cai et al.: D = 0.75 at c = 0.55. Fitted.
TABLE_SHARE: float = 0.75 / (0.75 * (1.0 - 0.55**2) * e**0.9)


def hertz(c: float) -> float:
    """Return 0: no energy is lost, whatever restitution is requested."""
    return 0.0 * c


def hunt_crossley(c: float) -> float:
    """Return 3 (1 - c) / 2: right to first order in 1 - c."""
    return 1.5 * (1.0 - c)


def lankarani_nikravesh(c: float) -> float:
    """Return 3 (1 - c^2) / 4: the loss of an impact that follows the elastic one."""
    return 0.75 * (1.0 - c * c)


def flores(c: float) -> float:
    """Return 8 (1 - c) / (5 c): also for soft contacts; infinite at c = 0."""
    return 1.6 * (1.0 - c) / c


def gonthier(c: float) -> float:
    """Return (1 - c^2) / c: near to the exact number for all c; infinite at c = 0."""
    return (1.0 - c * c) / c


def zhiying_qishao(c: float) -> float:
    """Return 3 (1 - c^2) e^(2 (1 - c)) / 4, as Cai et al. print it (Eq 2)."""
    growth: float = e ** (2.0 * (1.0 - c))
    return 0.75 * (1.0 - c * c) * growth


def zhiying_qishao_table(c: float) -> float:
    """Return 0.5829 of the printed number, fitted to Table 1 of Cai et al."""
    return TABLE_SHARE * zhiying_qishao(c)


#: The laws by name.
DAMPING_NUMBERS: Mapping[str, Callable[[float], float]] = MappingProxyType(
    {
        law.__name__: law
        for law in (
            hertz,
            hunt_crossley,
            lankarani_nikravesh,
            flores,
            gonthier,
            zhiying_qishao,
            zhiying_qishao_table,
        )
    }
)


def loss(number: float, u: float) -> float:
    """Return D (1 - u) - ln((1 + D)/(1 + D u)), zero at the approach u = 1.

    It is D^2 / (m v0^2) of the elastic energy at the relative speed ``u v0``; zero again where the
    contact ends.
    """
    return number * (1.0 - u) - log1p(number * (1.0 - u) / (1.0 + number * u))


def restitution_of(number: float) -> float:
    """Return the restitution of a damping number: leaving speed over approach speed.

    Solves D (u - 1) = ln((1 + D u)/(1 + D)) for u = -c, by bisection to the last bits: Cai et al.,
    Eq 7 with delta = 0 at both ends.

    Raises
    ------
    DescriptionError
        The number is negative or not finite.
    """
    if not 0.0 <= number < inf:
        raise DescriptionError(f"damping number: expected a finite number >= 0, found {number}")
    if number < 1e-4:  # to D^3; the closed form has lost half of its digits
        return 1.0 - 2.0 * number / 3.0 + 4.0 * number**2 / 9.0
    low, high = 0.0, min(1.0, 1.0 / number)
    for _ in range(60):
        middle = 0.5 * (low + high)
        if 1.0 - number * middle > 0.0 and loss(number, -middle) > 0.0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def exact(c: float) -> float:
    """Return the damping number whose restitution is c: the inverse of :func:`restitution_of`.

    Raises
    ------
    DescriptionError
        c is not in 0 < c <= 1: no damping number gives c = 0.
    """
    if not 0.0 < c <= 1.0:
        raise DescriptionError(f"restitution: expected 0 < c <= 1, found {c}")
    if c == 1.0:
        return 0.0
    low, high = 0.0, 1.0 / c
    for _ in range(80):
        middle = 0.5 * (low + high)
        if restitution_of(middle) > c:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)
