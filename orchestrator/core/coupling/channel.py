"""A varying delay as a table: what the engine draws the delay and the loss of every sample from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.core.system import (
    Connection,
    Delivery,
    Jitter,
    JitterKind,
    Newest,
    TransportDelay,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Steps of probability of a distribution's table; between them it is straight.
_STEPS = 1024
#: Where a gamma distribution is cut.
_GAMMA_CUT = 0.9999
#: Where a normal distribution is cut, in standard deviations.
_NORMAL_CUT = 3.0


@dataclass(frozen=True, slots=True)
class Channel:
    """How one line delivers its samples; times in nanoseconds (engine/src/core/channel.hpp).

    As a tuple it is a row of the engine's table of channels.

    Parameters
    ----------
    key
        Of the random numbers: from the seed and the ends of the connection.
    nominal_ns
        Declared delay.
    loss
        Probability of a loss.
    quantiles_ns
        Delays at equal steps of probability, from 0 to 1; empty if none is drawn.
    correlation_ns
        Time constant of the jitter; 0: every sample has its own.
    times_ns, delays_ns
        A recorded delay; one below zero is a loss.
    interpolated, in_order, by_arrival
        Of the trace; of the delivery; of what a receiver that holds takes.
    """

    key: int
    nominal_ns: int
    loss: float = 0.0
    quantiles_ns: tuple[float, ...] = ()
    correlation_ns: int = 0
    times_ns: tuple[int, ...] = ()
    delays_ns: tuple[int, ...] = ()
    interpolated: bool = False
    in_order: bool = False
    by_arrival: bool = False

    @property
    def longest_ns(self) -> int:
        """Longest delay of a sample that arrives."""
        drawn = [round(self.quantiles_ns[-1])] if self.quantiles_ns else []
        return max([self.nominal_ns, *drawn, *self.delays_ns])

    def held_ns(self, step_ns: int) -> float:
        """Mean age of the newest sample that has arrived, at the start of a step.

        For samples that come once in a step. Overtaken samples are counted, although nobody takes
        them: where the jitter is longer than a step the true age is somewhat less.
        """
        import numpy as np

        if self.quantiles_ns:
            ends = np.array(self.quantiles_ns)
            delays = (ends[:-1] + ends[1:]) / 2
        else:
            delays = np.array([d for d in self.delays_ns if d >= 0] or [self.nominal_ns], float)
        whole = np.ceil(delays / step_ns) * step_ns
        return float(whole.mean()) + step_ns * self.loss / (1.0 - self.loss)


def channel_of(line: Connection) -> Channel | None:
    """Make the channel of a connection; ``None`` if its delay does not vary."""
    delay = line.delay
    if delay is None or delay.variation is None:
        return None
    from hashlib import blake2b

    varies = delay.variation
    text = f"{varies.seed}\0{line.source}\0{line.target}"
    trace = varies.trace
    return Channel(
        int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little"),
        delay.nominal_ns,
        varies.loss,
        () if varies.jitter is None else _quantiles(delay, varies.jitter),
        0 if varies.jitter is None else varies.jitter.correlation_ns,
        () if trace is None else trace.times_ns,
        () if trace is None else tuple(-1 if d is None else d for d in trace.delays_ns),
        trace is not None and trace.interpolated,
        varies.delivery is Delivery.IN_ORDER,
        varies.newest is Newest.ARRIVED,
    )


def _quantiles(delay: TransportDelay, jitter: Jitter) -> tuple[float, ...]:
    import numpy as np

    share = np.linspace(0.0, 1.0, _STEPS + 1)
    return tuple((delay.nominal_ns + jitter.spread_ns * _standard(jitter, share)).tolist())


def _standard(jitter: Jitter, share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Quantiles of a jitter of spread 1 about a delay of 0."""
    import numpy as np
    from scipy.special import gammaincinv, ndtr, ndtri

    if jitter.kind is JitterKind.UNIFORM:
        return 2.0 * share - 1.0
    found: NDArray[np.float64]
    if jitter.kind is JitterKind.NORMAL:
        outside = ndtr(-_NORMAL_CUT)
        found = ndtri(outside + share * (1.0 - 2.0 * outside))
        return np.clip(found, -_NORMAL_CUT, _NORMAL_CUT)
    found = gammaincinv(jitter.shape, share * _GAMMA_CUT) / np.sqrt(jitter.shape)
    return found
