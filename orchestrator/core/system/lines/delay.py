"""A transport delay: how late a signal arrives at the other end of a connection."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system.lines.variation import Variation
from orchestrator.core.system.time import nanoseconds


class Provenance(StrEnum):
    """Where the figure of a delay comes from."""

    ASSUMED = "assumed"
    IDENTIFIED = "identified"
    MEASURED = "measured"


@dataclass(frozen=True, slots=True)
class TransportDelay:
    """Delay of a connection.

    Parameters
    ----------
    nominal_ns
        Delay in nanoseconds, >= 0. Zero is allowed and means: hold this connection to no delay at
        all, so that an exact master takes its own numerical delay off by extrapolation.
    provenance
        Where the figure comes from.
    variation
        How the delay differs from sample to sample, and which samples are lost; ``None``: not.
    device, date
        Of which device it was identified or measured, and when (ISO 8601); empty: not known.

    Raises
    ------
    DescriptionError
        If the delay is negative, or a jitter could make it so.
    """

    nominal_ns: int
    provenance: Provenance = Provenance.ASSUMED
    variation: Variation | None = None
    device: str = ""
    date: str = ""

    def __post_init__(self) -> None:
        if self.nominal_ns < 0:
            raise DescriptionError(
                f"a delay cannot be negative: expected >= 0 s, found {self.nominal_ns / 1e9:g} s"
            )

        jitter = self.variation.jitter if self.variation else None
        if jitter is not None and jitter.lowest_ns(self.nominal_ns) < 0:
            raise DescriptionError(
                f"a {jitter.kind} jitter of {jitter.spread_ns / 1e9:g} s makes a delay of"
                f" {self.nominal_ns / 1e9:g} s negative; expected a smaller spread"
            )

    @classmethod
    def of(
        cls,
        nominal: str | float,
        provenance: Provenance | str = Provenance.ASSUMED,
        *,
        variation: Variation | None = None,
        device: str = "",
        date: str = "",
    ) -> TransportDelay:
        """Make a delay from seconds or text: ``TransportDelay.of("16 ms", "measured")``."""
        if provenance not in set(Provenance):
            raise DescriptionError(
                f"provenance of a delay: expected one of {', '.join(Provenance)},"
                f" found '{provenance}'"
            )
        return cls(nanoseconds(nominal, "delay"), Provenance(provenance), variation, device, date)
