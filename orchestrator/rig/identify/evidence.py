"""Whether what a motion showed of a device is enough, and what is missing if not."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.rig.arming import Reserve
from orchestrator.rig.identification.frequency_response import frequency_response
from orchestrator.rig.identification.record import Record
from orchestrator.rig.identification.twin_file import Estimate, TwinFile

#: Median coherence from which on a response follows a command.
FOLLOWS = 0.5


class LittleEvidenceError(DescriptionError):
    """A motion showed too little of a device; a longer one may show more."""


@dataclass(frozen=True, slots=True)
class Needed:
    """What arming needs to know of a device.

    Margins are those of what was found, and a reserve is what is left for all that is otherwise
    than the model. So the far end of an interval has to lie within it: a delay that may be longer
    than it was found by more than the delay reserve, or a gain that may be larger by more than the
    gain reserve, would be armed without one.

    Parameters
    ----------
    reserve
        Of the case.
    responses
        Scalars or arrays that something is connected to.
    """

    reserve: Reserve
    responses: Collection[str]

    def expect_known(self, twin: TwinFile) -> None:
        """Expect that a twin says enough."""
        if missing := list(self._missing(twin)):
            raise LittleEvidenceError(*missing)

    def _missing(self, twin: TwinFile) -> Iterator[str]:
        for pair in twin.pair:
            if pair.response.partition("[")[0] not in self.responses:
                continue
            ends = f"{twin.component}: {pair.command} to {pair.response}"
            if pair.delay is not None:
                longer = pair.delay.high - pair.delay.value
                if longer > self.reserve.delay:
                    yield (
                        f"{ends}: the delay of {pair.delay.value * 1e3:.4g} ms may be"
                        f" {longer * 1e3:.4g} ms longer ({twin.confidence:.0%}); arming needs at"
                        f" most {self.reserve.delay * 1e3:.4g} ms (delay_reserve)"
                    )
            if pair.gain is not None and (larger := _larger(pair.gain)) > self.reserve.gain:
                yield (
                    f"{ends}: the gain of {pair.gain.value:.4g} may be larger by a factor of"
                    f" {larger:.4g} ({twin.confidence:.0%}); arming needs at most"
                    f" {self.reserve.gain:.4g} (gain_reserve)"
                )


def _larger(gain: Estimate) -> float:
    size = abs(gain.value)
    return max(abs(gain.low), abs(gain.high)) / size if size else math.inf


def coherence(record: Record) -> float:
    """Return how coherent a response is with the command where that has power, 0 to 1."""
    if float(np.ptp(record.values)) <= 1e-12 * max(1.0, float(np.abs(record.values).max())):
        return 0.0
    measured = frequency_response(record)
    half = measured.frequencies <= 0.25 / record.period
    return float(np.median(measured.coherence[half])) if half.any() else 0.0
