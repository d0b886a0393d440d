"""Which communication steps are looked at: those that divide the time of a run."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import product

#: Of a system without a stop time: an hour, which all steps of few digits divide.
ANY_NS = 3_600_000_000_000
#: Of steps, if there are such.
_DIGITS = 3


def candidate_steps(length_ns: int, kept: Iterable[int], multiple_ns: int = 1) -> list[int]:
    """Return the steps of few digits that divide a time in whole nanoseconds, in rising order."""
    whole = math.gcd(length_ns, *kept)
    steps = sorted(step for step in _divisors(whole) if step % multiple_ns == 0)
    return [step for step in steps if len(str(step).rstrip("0")) <= _DIGITS] or steps


def ladder(steps: list[int]) -> list[int]:
    """Return the steps of 1, 2 and 5 times a power of ten, or the next smaller ones there are."""
    if not steps:
        return []
    rungs = set()
    for power in range(len(str(steps[-1])) + 1):
        for digit in (1, 2, 5):
            wanted = digit * 10**power
            below = [step for step in steps if wanted / 2 < step <= wanted]
            rungs.update(below[-1:])
    return sorted(rungs)


def _divisors(number: int) -> list[int]:
    primes: dict[int, int] = {}
    rest, factor = number, 2
    while factor * factor <= rest:
        while rest % factor == 0:
            primes[factor] = primes.get(factor, 0) + 1
            rest //= factor
        factor += 1
    if rest > 1:
        primes[rest] = primes.get(rest, 0) + 1
    powers = [[prime**k for k in range(count + 1)] for prime, count in primes.items()]
    return [math.prod(some) for some in product(*powers)]
