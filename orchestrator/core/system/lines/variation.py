"""How a delay varies from sample to sample, and which samples are lost."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import DescriptionError

if TYPE_CHECKING:
    from orchestrator.core.system.lines.delay_trace import DelayTrace

#: A gamma distribution is shaped by this unless it says otherwise.
_SHAPE = 2.0
_LARGEST_SEED = 2**63 - 1


class JitterKind(StrEnum):
    """Distribution of a jitter."""

    UNIFORM = "uniform"
    NORMAL = "normal"
    GAMMA = "gamma"


class Delivery(StrEnum):
    """Whether a sample may overtake those that were sent before it."""

    IN_ORDER = "in-order"
    REORDERED = "reordered"


class Newest(StrEnum):
    """What a receiver that holds takes: the last sent of those that came, or the last to come."""

    SENT = "sent"
    ARRIVED = "arrived"


def _member(kind: type[StrEnum], value: str, what: str) -> StrEnum:
    if value not in list(kind):
        raise DescriptionError(f"{what}: expected one of {', '.join(kind)}, found {value!r}")
    return kind(value)


def _expect_whole(what: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise DescriptionError(f"{what}: expected a whole number, found {value!r}")


@dataclass(frozen=True, slots=True)
class Jitter:
    """Random part of a delay.

    Parameters
    ----------
    kind
        ``uniform``: the nominal delay plus or minus ``spread_ns``. ``normal``: with the standard
        deviation ``spread_ns`` about the nominal delay, cut at three of them. ``gamma``: the
        nominal delay is the shortest, and ``spread_ns`` the standard deviation of what comes on
        top, cut at the quantile 0.9999.
    spread_ns
        In nanoseconds, > 0.
    shape
        Of the gamma distribution, > 0: 1 is exponential, large is nearly normal.
    correlation_ns
        Time constant in nanoseconds of the first-order filter that makes neighbouring delays
        alike; 0: every sample has its own. The distribution of the single delay stays.

    Raises
    ------
    DescriptionError
        If a figure is out of range.
    """

    kind: JitterKind
    spread_ns: int
    shape: float = _SHAPE
    correlation_ns: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", _member(JitterKind, self.kind, "kind of a jitter"))
        for name in ("spread_ns", "correlation_ns"):
            _expect_whole(f"{name} of a jitter, in nanoseconds", getattr(self, name))
        if self.spread_ns <= 0:
            raise DescriptionError(
                f"spread of a jitter: expected > 0 s, found {self.spread_ns / 1e9:g} s"
            )
        if not 0.05 <= self.shape <= 1e6:
            raise DescriptionError(
                f"shape of a gamma jitter: expected 0.05 to 1e6, found {self.shape:g}"
            )
        if self.kind is not JitterKind.GAMMA and self.shape != _SHAPE:
            raise DescriptionError(f"a {self.kind} jitter has no shape, found {self.shape:g}")
        if self.correlation_ns < 0:
            raise DescriptionError(
                "correlation of a jitter: expected a time constant >= 0 s, found"
                f" {self.correlation_ns / 1e9:g} s"
            )

    def lowest_ns(self, nominal_ns: int) -> int:
        """Shortest delay that is drawn, in nanoseconds."""
        below = {JitterKind.UNIFORM: 1, JitterKind.NORMAL: 3, JitterKind.GAMMA: 0}
        return nominal_ns - below[self.kind] * self.spread_ns


@dataclass(frozen=True, slots=True)
class Variation:
    """What makes a delay differ from sample to sample.

    Parameters
    ----------
    jitter, trace
        A random delay or a recorded one; not both. Without either every sample that is not lost
        has the nominal delay.
    loss
        Probability that a sample never arrives, 0 to below 1.
    seed
        Other seeds give other draws. Draws depend on the seed and on the names at the two ends of
        the connection, and on nothing else.
    delivery
        Whether samples keep their order.
    newest
        What a receiver that holds takes for the newest sample.

    Raises
    ------
    DescriptionError
        If a figure is out of range, or there is nothing that varies.
    """

    jitter: Jitter | None = None
    trace: DelayTrace | None = None
    loss: float = 0.0
    seed: int = 0
    delivery: Delivery = Delivery.REORDERED
    newest: Newest = Newest.SENT

    def __post_init__(self) -> None:
        object.__setattr__(self, "delivery", _member(Delivery, self.delivery, "delivery"))
        object.__setattr__(self, "newest", _member(Newest, self.newest, "newest"))
        if self.jitter is not None and self.trace is not None:
            raise DescriptionError("a delay varies by a jitter or by a trace; expected one of them")
        if not 0.0 <= self.loss < 1.0:
            raise DescriptionError(
                f"loss of samples: expected a probability of 0 to below 1, found {self.loss:g}"
            )
        if self.jitter is None and self.trace is None and not self.loss:
            raise DescriptionError(
                "a varying delay: expected a jitter, a trace or a loss above 0; found none of them"
            )
        _expect_whole("seed of a varying delay", self.seed)
        if not 0 <= self.seed <= _LARGEST_SEED:
            raise DescriptionError(
                f"seed of a varying delay: expected 0 to {_LARGEST_SEED}, found {self.seed}"
            )
