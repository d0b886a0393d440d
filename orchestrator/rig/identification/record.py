"""How a command is moved, a record of a device (one command, one response), when it took samples.

References
----------
Ljung: System Identification, 2nd ed., 1999, section 13.3: pseudo-random binary sequences and
chirps. Godfrey (ed.): Perturbation Signals for System Identification, 1993: registers of maximal
length.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from orchestrator.core.diagnostics import DescriptionError, counted
from orchestrator.core.structs import Struct, replace
from orchestrator.rig.hardware.twin_file import Estimate

Floats = npt.NDArray[np.float64]


class Record(Struct, eq=False):
    """A command that is constant between its changes, and samples of a response.

    times: s, shape (n,), increasing: when the device took its samples.
    response: Shape (n,).
    changes: s, shape (m,), increasing: when the device took another command.
    command: Shape (m,): the command from then on; before the first it was 0.
    used: Shape (n,): samples that count. The others only are there, as what came before.
    Raises DescriptionError: if the arrays do not belong together, times do not increase, or fewer
        than 16 samples count.
    """

    times: Floats
    response: Floats
    changes: Floats
    command: Floats
    used: npt.NDArray[np.bool_]

    def __post_init__(self) -> None:
        same = self.times.shape == self.response.shape == self.used.shape
        if not same or self.changes.shape != self.command.shape or self.times.ndim != 1:
            raise DescriptionError("a record: expected a response and a mark for each time")
        if (np.diff(self.times) <= 0.0).any() or (np.diff(self.changes) < 0.0).any():
            raise DescriptionError("a record: expected times that increase")
        if self.count < 16:
            raise DescriptionError(
                f"a record of {counted(self.count, 'sample')} is too short; expected at least 16"
            )

    @property
    def count(self) -> int:
        """How many samples count."""
        return int(self.used.sum())

    @property
    def period(self) -> float:
        """Median time between two samples, s."""
        return float(np.median(np.diff(self.times)))

    @property
    def values(self) -> Floats:
        """The response where it counts, shape (count,)."""
        return self.response[self.used]

    def without(self, marked: npt.NDArray[np.bool_]) -> Record:
        """Return the record in which some of the samples that count do not, shape (count,)."""
        used = self.used.copy()
        used[np.flatnonzero(self.used)[marked]] = False
        return replace(self, used=used)

    def steps(self) -> tuple[Floats, Floats]:
        """Return when the command changed, and by how much."""
        moved = np.diff(self.command, prepend=0.0)
        real = moved != 0.0
        return self.changes[real], moved[real]

    def held(self, at: Floats) -> Floats:
        """Return the command that is in force at times in s."""
        row = np.searchsorted(self.changes, at, side="right") - 1
        return np.where(row >= 0, self.command[np.maximum(row, 0)], 0.0)


Kind = Literal["step", "chirp", "prbs"]
KINDS: tuple[Kind, ...] = ("step", "chirp", "prbs")
#: Feedback of a register of nine bits whose sequence has the length 511: bits 9 and 5.
_REGISTER, _TAPS = 9, (8, 4)
#: Of a smooth stair from 0 to 1 within 1 s: greatest speed and acceleration.
_STAIR_SPEED, _STAIR_ACCELERATION = 1.875, 10.0 / math.sqrt(3.0)


class ExcitationLimits(Struct):
    """What a command may do, in its unit and per second.

    amplitude: From its rest, either way.
    speed, acceleration: Of its change.
    Raises DescriptionError: if one is not > 0, or the amplitude is not finite.
    """

    amplitude: float
    speed: float = math.inf
    acceleration: float = math.inf

    def __post_init__(self) -> None:
        limits = (self.amplitude, self.speed, self.acceleration)
        if not all(limit > 0.0 for limit in limits) or not math.isfinite(self.amplitude):
            raise DescriptionError(
                "expected a finite amplitude > 0, and limits > 0, found amplitude"
                f" {self.amplitude:g}, speed {self.speed:g}, acceleration {self.acceleration:g}"
            )


def excitation(
    kind: Kind, duration: float, step: float, limits: ExcitationLimits, hold: float
) -> Floats:
    """Return a command that begins and ends at 0, one value for each step."""
    count = round(duration / step)
    if count < 16 or duration < 8.0 * hold:
        raise DescriptionError(
            f"an excitation of {duration:g} s is too short; expected at least 16 steps of"
            f" {step:g} s, and {8.0 * hold:g} s"
        )
    if kind == "chirp":
        return _chirp(count, step, limits, hold)
    if kind == "step":
        quarter = count // 4
        targets = np.repeat([0.0, 1.0, -1.0, 0.0], quarter)
    else:
        targets = _random(count - 1, max(1, round(hold / step)))
    stairs = _stairs(limits.amplitude * targets, count, step, limits)
    if not stairs.any():
        raise DescriptionError(
            f"an amplitude of {limits.amplitude:g} is not reached within {duration:g} s at a speed"
            f" of {limits.speed:g} and an acceleration of {limits.acceleration:g}; give a smaller"
            " one"
        )
    return stairs


def _random(count: int, hold: int) -> Floats:
    """Return a pseudo-random sequence of -1 and 1, each held for ``hold`` steps."""
    bits = [1] * _REGISTER
    levels = []
    for _ in range(-(-count // hold)):
        levels.append(2.0 * bits[-1] - 1.0)
        bits = [bits[_TAPS[0]] ^ bits[_TAPS[1]], *bits[:-1]]
    path: Floats = np.repeat(np.array(levels), hold)[:count]
    return path


def _stairs(targets: Floats, count: int, step: float, limits: ExcitationLimits) -> Floats:
    """Go to each target as fast as the limits allow, at rest in between, and to 0 at the end.

    A stair that the limits do not let end before the next one begins makes that one wait.
    """
    path: list[float] = []
    now = 0.0
    while len(path) < count:
        index = len(path)
        target = float(targets[index]) if index < len(targets) else 0.0
        stair = _stair(target - now, step, limits)
        home = _parts(target, step, limits)
        if target != 0.0 and index + len(stair) + home > count:
            stair = _stair(-now, step, limits)  # time to go back
            target = 0.0
        path += [now + part for part in stair]
        now = target
    return np.array(path[:count])


def _stair(height: float, step: float, limits: ExcitationLimits) -> list[float]:
    """Return a smooth stair (a polynomial of order five), its last value exactly ``height``."""
    parts = _parts(height, step, limits)
    at = np.arange(1, parts + 1) / parts
    return [height * float(x**3 * (10.0 - 15.0 * x + 6.0 * x * x)) for x in at]


def _parts(height: float, step: float, limits: ExcitationLimits) -> int:
    """Return how many steps a stair takes, at least one."""
    shortest = max(
        _STAIR_SPEED * abs(height) / limits.speed,
        math.sqrt(_STAIR_ACCELERATION * abs(height) / limits.acceleration),
    )
    return max(1, math.ceil(shortest / step))


def _chirp(count: int, step: float, limits: ExcitationLimits, hold: float) -> Floats:
    times = np.arange(1, count + 1) * step
    duration = count * step
    low, high = 2.0 / duration, 0.25 / hold
    frequency = low + (high - low) * times / duration
    turn = 2.0 * math.pi * (low + 0.5 * (high - low) * times / duration) * times
    w = 2.0 * math.pi * frequency
    # half of each limit is room for how the height itself changes
    heights = np.minimum(0.5 * limits.speed / w, 0.5 * limits.acceleration / w**2)
    fade = np.minimum(1.0, np.minimum(times, duration - times) * low)
    heights = np.minimum(heights, limits.amplitude) * fade**2 * (3.0 - 2.0 * fade)
    path: Floats = heights * np.sin(turn)
    return path


def normal_interval(value: float, deviation: float, freedom: int, confidence: float) -> Estimate:
    """Return ``value`` with the interval of Student's t distribution."""
    half = float(stats.t.ppf(0.5 + confidence / 2.0, freedom)) * deviation
    return Estimate(value=value, low=value - half, high=value + half)


def positive_interval(value: float, relative: float, freedom: int, confidence: float) -> Estimate:
    """Return ``value`` > 0 whose logarithm has the standard deviation ``relative``."""
    half = float(stats.t.ppf(0.5 + confidence / 2.0, freedom)) * relative
    half = min(half, 100.0)  # beyond that nothing is known, and exp() has no number
    return Estimate(value=value, low=value * math.exp(-half), high=value * math.exp(half))


def deviation_interval(residuals: Floats, lost: int, confidence: float) -> Estimate:
    """Return the standard deviation of residuals of any distribution.

    ``var(s**2) = (m4 - s**4 (n - 3) / (n - 1)) / n`` (Cramer 1946, 27.4), taken to the logarithm
    of s: of normal residuals it is the interval of chi squared, of others it is honest still.
    """
    n = len(residuals)
    freedom = max(1, n - lost)
    square = float(np.sum(residuals**2)) / freedom
    if square == 0.0:
        return Estimate(value=0.0, low=0.0, high=0.0)
    fourth = float(np.mean(residuals**4)) / square**2
    relative = 0.5 * math.sqrt(max(fourth - (n - 3.0) / (n - 1.0), 1.0 / n) / n)
    return positive_interval(math.sqrt(square), relative, freedom, confidence)


#: Arrivals beyond this many usual deviations say nothing of the device's clock.
_FAR = 6.0


class SampleTimes(Struct, eq=False):
    """The clock of a device, as its samples show it.

    times: s, shape (n,): arrivals, moved to the even spacing that they scatter about.
    numbers: Shape (n,), whole: of each sample, from 0.
    period: s, mean.
    begin: s, of sample 0.
    rate: Hz.
    jitter: s, standard deviation of arrivals about the even spacing.
    """

    times: Floats
    numbers: npt.NDArray[np.int64]
    period: float
    begin: float
    rate: Estimate
    jitter: Estimate


def sample_times(
    arrivals: Floats, numbers: npt.NDArray[np.int64], confidence: float
) -> SampleTimes:
    """Find the even spacing of samples.

    arrivals: s, shape (n,), increasing.
    numbers: Shape (n,), increasing: the device's count of each.
    confidence: Level of the intervals.
    Raises DescriptionError: if there are fewer than 16, or their numbers do not increase.
    """
    if len(arrivals) < 16 or (np.diff(numbers) <= 0).any():
        raise DescriptionError(
            f"expected at least 16 samples whose count increases, found {len(arrivals)}"
        )
    numbers = numbers - numbers[0]
    spacing, begin = _line(numbers.astype(np.float64), arrivals)
    even: Floats = begin + spacing * numbers.astype(np.float64)
    spread = numbers - numbers.mean()
    jitter = deviation_interval(arrivals - even, 2, confidence)
    error = jitter.value / float(np.sqrt(np.sum(spread**2)))
    spaced = normal_interval(spacing, error, len(arrivals) - 2, confidence)
    rate = Estimate(value=1.0 / spaced.value, low=1.0 / spaced.high, high=1.0 / spaced.low)
    return SampleTimes(even, numbers, spacing, begin, rate, jitter)


def _line(numbers: Floats, arrivals: Floats) -> tuple[float, float]:
    """Fit a line, once more without what lies far off it."""
    is_near = np.ones(len(numbers), dtype=np.bool_)
    slope, offset = np.polyfit(numbers, arrivals, 1)
    for _ in range(2):
        off = np.abs(arrivals - offset - slope * numbers)
        is_near = off <= _FAR * 1.4826 * float(np.median(off[is_near])) + 1e-12
        slope, offset = np.polyfit(numbers[is_near], arrivals[is_near], 1)
    return float(slope), float(offset)
