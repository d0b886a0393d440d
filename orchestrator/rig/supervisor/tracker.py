"""Delay and gain of one device while it runs: what is known, and whether it changed."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from orchestrator.core.structs import Struct

Floats = npt.NDArray[np.float64]
#: Fewer effective samples say nothing of what is left over.
_FEWEST = 16.0


class BankEstimate(Struct, eq=False):
    """What a bank knows.

    tap: The first of the two taps between which the delay lies.
    factors, centre: Shape (2,): of both taps, and the means of both.
    mean: Of the response.
    covariance: Shape (2, 2), of the factors.
    unsure: Variance of the mean.
    count: Effective number of samples: the sum of what is left of their weights.
    """

    tap: int
    factors: Floats
    centre: Floats
    mean: float
    covariance: Floats
    unsure: float
    count: float

    @property
    def gain(self) -> float:
        """Response per command."""
        return float(self.factors.sum())

    @property
    def delay(self) -> float:
        """In samples."""
        return self.tap + float(self.factors[1]) / self.gain

    @property
    def gain_deviation(self) -> float:
        """Standard deviation of the gain."""
        return math.sqrt(float(self.covariance.sum()))

    @property
    def delay_deviation(self) -> float:
        """Standard deviation of the delay, in samples."""
        a, b = self.factors
        slope = np.array([-b, a]) / self.gain**2
        return math.sqrt(float(slope @ self.covariance @ slope))

    def predict(self, taps: Floats) -> tuple[float, float]:
        """Return the expected response and its variance."""
        away = taps[self.tap : self.tap + 2] - self.centre
        variance = self.unsure + float(away @ self.covariance @ away)
        return self.mean + float(self.factors @ away), variance


class DelayBank:
    """Least squares of ``y = a u[n - j] + b u[n - j - 1] + c`` for every j, with forgetting.

    Between two samples the command is linear, so ``gain = a + b`` and ``delay = j + b / gain``.
    The pair with the least sum of squares among those whose delay lies between its two samples is
    the estimate.

    longest: Delay that is looked for, in samples.
    forgetting: Factor by which what is known fades with each sample that is taken, < 1.
    alike: Number of samples, one after the other, that are off together: deviations are those of so
        many times fewer samples.

    References
    ----------
    Ljung: System Identification, 2nd ed., 1999, section 11.2: recursive least squares with
    exponential forgetting; here in the form of sums, for all delays at once. The deviation is the
    asymptotic one, with ``sum w**2 / sum w = 1 / (1 + forgetting)``.
    """

    def __init__(self, longest: int, forgetting: float, alike: float = 1.0) -> None:
        self._forgetting, self._alike = forgetting, alike
        taps = longest + 2
        # rows: w u, w u y, w u u, w u u(next); one column for each tap
        self._sums: Floats = np.zeros((4, taps))
        self._scalars: Floats = np.zeros(4)  # w, w y, w y y, w w
        self._new: Floats = np.zeros((4, taps))

    def reset(self) -> None:
        """Forget everything."""
        self._sums[:] = 0.0
        self._scalars[:] = 0.0

    def take(self, taps: Floats, response: float, weight: float) -> None:
        """Take a sample."""
        new, scaled = self._new, weight * taps
        new[0] = scaled
        np.multiply(scaled, response, out=new[1])
        np.multiply(scaled, taps, out=new[2])
        np.multiply(scaled[:-1], taps[1:], out=new[3, :-1])
        self._sums *= self._forgetting
        self._sums += new
        self._scalars *= self._forgetting
        self._scalars += (weight, weight * response, weight * response * response, 1.0)

    @property
    def count(self) -> float:
        """Effective number of samples."""
        return float(self._scalars[3])

    def estimate(self) -> BankEstimate | None:
        """Return what is known; ``None``: too little."""
        weight, first, second, count = self._scalars
        if count < _FEWEST:
            return None
        mean = first / weight
        power = second - first * mean
        u, uy, uu, next_ = self._sums
        centre = u / weight
        y = uy - u * mean
        autocorrelation = uu - u * centre
        cross = next_[:-1] - u[:-1] * centre[1:]
        pairs = _fits(autocorrelation[:-1], autocorrelation[1:], cross, y[:-1], y[1:])
        a, b, explained, determinant, is_valid = pairs
        remaining = np.where(is_valid, power - explained, np.inf)
        j = int(np.argmin(remaining))
        if not math.isfinite(remaining[j]):
            return None
        # what is left, against what the weights say of it: 1 if they are right
        excess = max(1.0, float(remaining[j]) / max(count - 3.0, 1.0))
        excess *= self._alike / (1.0 + self._forgetting)
        inverse = (
            np.array([[autocorrelation[j + 1], -cross[j]], [-cross[j], autocorrelation[j]]])
            / determinant[j]
        )
        return BankEstimate(
            j,
            np.array([a[j], b[j]]),
            centre[j : j + 2].copy(),
            float(mean),
            excess * inverse,
            excess / float(weight),
            float(count),
        )


#: Two taps whose determinant is a smaller share of the product of their powers are one signal.
_ALIKE = 1e-12
#: A delay may lie so much outside its two taps: noise puts one between two others there.
_OUTSIDE = 0.25


def _fits(
    left_sum: Floats, right: Floats, cross: Floats, y_left: Floats, y_right: Floats
) -> tuple[Floats, Floats, Floats, Floats, npt.NDArray[np.bool_]]:
    """Solve all normal equations: both factors, what they explain, determinants, what is valid."""
    determinant = left_sum * right - cross * cross
    is_distinct = determinant > _ALIKE * left_sum * right
    safe = np.where(is_distinct, determinant, 1.0)
    a = (right * y_left - cross * y_right) / safe
    b = (left_sum * y_right - cross * y_left) / safe
    gain = a + b
    share = np.divide(b, gain, out=np.full_like(b, np.nan), where=gain != 0.0)
    inside = (share >= -_OUTSIDE) & (share <= 1.0 + _OUTSIDE)
    return a, b, a * y_left + b * y_right, safe, is_distinct & inside


class ChangeTest:
    """Sums the logarithm of the likelihood of a change over that of none, from its last minimum.

    An innovation ``e`` of variance ``s**2`` that a change ``d`` of the parameter moves by
    ``d * slope`` adds ``d slope (e - d slope / 2) / s**2`` to the sum for ``+d``, and with ``-d``
    to the other one. A sum does not fall below 0, and a change is found where it is above the
    threshold. One sample adds at most so much that a single wild one finds nothing.

    change: Of the parameter, which shall be found.
    threshold: Of the sums.
    most: What one sample may add or take.

    References
    ----------
    Page: Continuous inspection schemes, Biometrika 41, 1954. Basseville, Nikiforov: Detection of
    Abrupt Changes, 1993, sections 2.2 and 2.4: the sum for a change of known size, to both sides.
    What one sample may add is bounded here, since cycles that are missed are no Gaussian noise.
    """

    def __init__(self, change: float, threshold: float, longest: float) -> None:
        self._change, self._threshold, self._most = change, threshold, longest
        self._sums = [0.0, 0.0]

    @property
    def score(self) -> float:
        """The larger sum, as a share of the threshold."""
        return max(self._sums) / self._threshold

    def reset(self) -> None:
        """Reset."""
        self._sums = [0.0, 0.0]

    def take(self, innovation: float, slope: float, variance: float) -> bool:
        """Take an innovation; return whether a change is found."""
        for side, sign in enumerate((1.0, -1.0)):
            moved = sign * self._change * slope
            gained = moved * (innovation - 0.5 * moved) / variance
            gained = min(max(gained, -self._most), self._most)
            self._sums[side] = max(0.0, self._sums[side] + gained)
        return max(self._sums) > self._threshold


class LagFilter:
    """``1``, ``1 / (s / w + 1)`` or ``w**2 / (s**2 + 2 damping w s + w**2)``, stepped exactly.

    period: s, for which a command is held.
    bandwidth: Hz, ``w / (2 pi)``; ``None``: no lag.
    damping: Ratio of the second order; ``None``: first order.
    """

    def __init__(self, period: float, bandwidth: float | None, damping: float | None) -> None:
        self._x = self._v = 0.0
        self._command = math.nan
        self._transition = (
            None if bandwidth is None else _transition(2.0 * math.pi * bandwidth, damping, period)
        )

    def step(self, command: float) -> float:
        """Return the response to all commands before, as the device takes this one."""
        if math.isnan(self._command):
            self._command = self._x = command
        held, self._command = self._command, command
        if self._transition is None:
            return command
        a, b, c, d = self._transition
        away = self._x - held
        self._x, self._v = held + a * away + b * self._v, c * away + d * self._v
        return self._x


def _transition(w: float, damping: float | None, h: float) -> tuple[float, float, float, float]:
    """Return the rows of the transition of (x - command, v) over h."""
    if damping is None:
        return math.exp(-w * h), 0.0, 0.0, 0.0
    fade = math.exp(-damping * w * h)
    split = 1.0 - damping * damping
    root = w * math.sqrt(abs(split))
    if abs(split) < 1e-8:
        even, odd = 1.0, h
    elif split > 0.0:
        even, odd = math.cos(root * h), math.sin(root * h) / root
    else:
        even, odd = math.cosh(root * h), math.sinh(root * h) / root
    turn = damping * w * odd
    return fade * (even + turn), fade * odd, -fade * w * w * odd, fade * (even - turn)


#: Half an interval of 95 %, in standard deviations.
WIDTH = 1.959964
#: Between two looks at what is known, in samples.
_LOOK = 8
#: Of a change of the gain that shall be found, as a share.
_GAIN_CHANGE = 0.1
#: Page's test: threshold in units of the likelihood's logarithm, and what one sample may add.
_THRESHOLD, _MOST = 30.0, 1.5
#: A sample that is farther from what is known, in standard deviations, is left out.
_WILD = 5.0
#: Least number of consecutive deviating samples: cycles are missed in runs.
_RUN = 6.0
#: An estimate counts once so large a share of the memory is filled.
_FILLED = 0.3
#: Samples are held against what was known so large a share of the memory ago, and longer while a
#: test is nearer to finding a change than that.
_BEHIND, _QUIET = 0.25, 0.2
#: Where the command turns, a sample is weighted as if it moved with this share of the mean square
#: slope; it tests delay or gain only where its slope, or its distance from the mean, is above that.
_TURNING = 0.25
#: Multiple of the noise that the command must move within the longest delay.
_EXCITED = 10.0


class Tracked(Struct):
    """Delay and gain of a device at a moment.

    delay, delay_deviation: s: as `softdock identify` has it, and the standard deviation of the
        estimate.
    gain, gain_deviation: Response per command.
    """

    delay: float
    delay_deviation: float
    gain: float
    gain_deviation: float

    @property
    def interval(self) -> tuple[float, float]:
        """Of 95 %, of the delay in s."""
        half = WIDTH * self.delay_deviation
        return self.delay - half, self.delay + half


class Known(Struct):
    """The identified data of a device, and the settings of its tracking.

    period: s, of its samples.
    delay, gain: s, and response per command: the values behind the margins.
    bandwidth, damping: Of the lag after the delay, Hz and a ratio; ``None``: none, or first order.
    noise: Standard deviation of a response, rounding included.
    scatter: s, by which single samples follow earlier or later: cycles that are missed.
    longest: s, delay that is looked for.
    memory: s, in which what was seen fades to 1/e; only time in which the command moved counts.
    change: s, of the delay, which shall be found.
    precision: s: half an interval of 95 % of the delay at which an estimate counts.
    excitation: By which the command must move within ``longest`` for a sample to count; ``None``:
        ten times the noise.
    """

    period: float
    delay: float
    gain: float
    bandwidth: float | None
    damping: float | None
    noise: float
    scatter: float
    longest: float
    memory: float
    change: float
    precision: float
    excitation: float | None = None

    @property
    def smallest_move(self) -> float:
        """By which the command must move."""
        if self.excitation is not None:
            return self.excitation
        return _EXCITED * self.noise / abs(self.gain)


class Tracker:
    """Takes a command and a response with each sample of a device.

    The estimate is that of a :class:`DelayBank`, each sample weighted by what it may be off: noise,
    and its slope times the scatter. A :class:`ChangeTest` of the delay and one of the gain hold
    samples against the estimate of a while ago; when one of them finds a change, what is
    known is forgotten, and estimated again from then on. Samples in which the command tells nothing
    change nothing.

    known: Of the device.
    """

    def __init__(self, identified: Known) -> None:
        self.known = identified
        period = identified.period
        self._lag = LagFilter(period, identified.bandwidth, identified.damping)
        longest = math.ceil(identified.longest / period)
        memory = identified.memory / period
        self._bank = DelayBank(longest, 1.0 - 1.0 / memory, _alike(identified))
        self._fading = 1.0 / memory
        self._filled = _FILLED * memory
        self._pace = self._spread = self._age = 0.0
        self._taps: Floats = np.zeros(longest + 2)
        self._number = -1
        self._seen = 0
        #: How many samples told something.
        self.counted = 0
        self._delay_test = ChangeTest(identified.change, _THRESHOLD, _MOST)
        self._gain_test = ChangeTest(_GAIN_CHANGE * abs(identified.gain), _THRESHOLD, _MOST)
        #: What is known now; ``None``: nothing that counts.
        self.settled: Tracked | None = None
        #: What samples are held against, what they will be, and since when.
        self._reference: BankEstimate | None = None
        self._next: BankEstimate | None = None
        self._referred = 0
        self._behind = _BEHIND * memory
        #: How often a change was found.
        self.changes = 0

    @property
    def score(self) -> float:
        """How near the tests are to finding a change, 1 when they do."""
        return max(self._delay_test.score, self._gain_test.score)

    def take(self, number: int, command: float, response: float, age: float = 0.0) -> bool:
        """Take a sample; return whether a change was found with it."""
        if self._number < 0 or number <= self._number:
            self._number, self._seen = number - 1, 0
        for _ in range(min(number - self._number, len(self._taps))):
            self._taps[1:] = self._taps[:-1]
            self._taps[0] = self._lag.step(command)
        self._number = number
        self._seen += 1
        if self._seen < len(self._taps) or not math.isfinite(response):
            return False
        if (
            not float(self._taps.max() - self._taps.min()) > self.known.smallest_move
        ):  # nor if it is NaN
            return False
        self.counted += 1
        self._age += (age - self._age) * max(self._fading, 1.0 / self.counted)
        variance, wild, changed = self._compare(response)
        if changed:
            self.changes += 1
            for estimator in (self._bank, self._delay_test, self._gain_test):
                estimator.reset()
            self.settled = self._reference = None
            return True
        if not wild:
            self._bank.take(self._taps, response, 1.0 / variance)
        if self.counted % _LOOK == 0:
            self._settle()
        return False

    def _compare(self, response: float) -> tuple[float, bool, bool]:
        """Hold a response against what is known: its variance, whether it is wild, a change."""
        identified, against, taps = self.known, self._reference, self._taps
        gain = identified.gain if against is None else against.gain
        tap = round(identified.delay / identified.period) if against is None else against.tap
        tap = min(max(tap, 0), len(taps) - 2)
        slope = gain * float(taps[tap] - taps[tap + 1]) / identified.period
        self._pace += (slope * slope - self._pace) * max(self._fading, 1.0 / self.counted)
        pace = max(slope * slope, _TURNING * self._pace)
        variance = identified.noise**2 + pace * identified.scatter**2
        if against is None:
            return variance, False, False
        expected, unsure = against.predict(taps)
        innovation, both = response - expected, variance + unsure
        wild = innovation * innovation > _WILD**2 * both
        away = float(taps[tap] - against.centre[0])
        self._spread += (away * away - self._spread) * self._fading
        has_changed = False
        if slope * slope >= _TURNING * self._pace:
            has_changed = self._delay_test.take(innovation, -slope, both)
        if away * away >= _TURNING * self._spread:
            has_changed = self._gain_test.take(innovation, away, both) or has_changed
        return variance, wild, has_changed

    def _settle(self) -> None:
        """Take the estimate of the bank, once it counts.

        Samples are held against what was known a while ago, as long as nothing seems to change.
        """
        estimate = self._bank.estimate()
        if estimate is None or estimate.count < self._filled:
            return
        period = self.known.period
        tracked = Tracked(
            *(estimate.delay * period + self._age, estimate.delay_deviation * period),
            *(estimate.gain, estimate.gain_deviation),
        )
        if WIDTH * tracked.delay_deviation > self.known.precision:
            return
        self.settled = tracked
        if self._reference is None:
            self._reference = self._next = estimate
            self._referred = self.counted
        elif self.counted - self._referred >= self._behind:
            self._referred = self.counted
            if self.score < _QUIET:
                self._reference, self._next = self._next, estimate


def _alike(identified: Known) -> float:
    """Return how many samples are off together: of missed cycles, and of the lag after them."""
    if identified.bandwidth is None:
        return _RUN
    w = 2.0 * math.pi * identified.bandwidth
    lag = 1.0 / w if identified.damping is None else 2.0 * identified.damping / w
    return _RUN + 2.0 * lag / identified.period
