"""What is asked of the tracking of a response: ``[supervisor.tracking."DEVICE.RESPONSE"]``."""

from __future__ import annotations

from typing import Self

from pydantic import StrictStr, model_validator
from pydantic_core import PydanticCustomError

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.rig.supervisor.table import Finite, Positive, Table, Time
from orchestrator.rig.supervisor.tracking.tracker import Known

_NS = 1e-9


class TrackingLimits(Table):
    """Which command a response follows, and how it is tracked.

    What is left out of ``delay`` to ``noise`` is that of the identification before arming.

    Parameters
    ----------
    command
        ``"device.input"`` that the response follows.
    delay, gain
        With which the margins were computed.
    bandwidth, damping
        Of the lag after the delay, Hz and a ratio; without them there is none.
    noise
        Standard deviation of the response, rounding included, in its unit.
    scatter
        By which single samples follow earlier or later; ``None``: a quarter of the device's period.
    longest
        Delay that is looked for; ``None``: four times ``delay``, and at least ten periods.
    memory
        In which what was seen fades to 1/e: a period of the slowest motion, or more.
    change
        Of the delay, which shall be found; ``None``: a period of the device.
    precision
        Half an interval of 95 % of the delay at which an estimate counts.
    excitation
        By which the command must move within ``longest`` for a sample to count; ``None``: ten
        times the noise.
    """

    command: StrictStr
    delay: Time | None = None
    gain: Finite | None = None
    bandwidth: Positive | None = None
    damping: Positive | None = None
    noise: Positive | None = None
    scatter: Time | None = None
    longest: Time | None = None
    memory: Time = "2 s"
    change: Time | None = None
    precision: Time = "500 us"
    excitation: Positive | None = None

    @model_validator(mode="after")
    def _sound(self) -> Self:
        self.expect_times("memory", "precision", "scatter", "longest", "change")
        self.expect_times("delay", least_ns=0)
        if self.gain == 0.0:
            raise PydanticCustomError("gain", "gain: expected another number than 0")
        if self.damping is not None and self.bandwidth is None:
            raise PydanticCustomError("damping", "expected 'bandwidth' beside 'damping'")
        return self

    def known(self, name: str, period_ns: int) -> Known:
        """Return what a tracker of the response ``name`` is told."""
        missing = [key for key in ("delay", "noise") if getattr(self, key) is None]
        if missing or self.noise is None:
            raise DescriptionError(
                f"supervisor.tracking.'{name}': missing {' and '.join(missing)}: expected there, or"
                f" found by [identification] of '{name.partition('.')[0]}'"
            )
        period, delay = period_ns * _NS, self.ns("delay") * _NS
        longest = self._seconds("longest", max(4.0 * delay, 10.0 * period))
        if longest <= delay:
            raise DescriptionError(
                f"supervisor.tracking.'{name}': longest: expected more than the delay of"
                f" {delay * 1e3:g} ms, found {longest * 1e3:g} ms"
            )
        return Known(
            period=period,
            delay=delay,
            gain=1.0 if self.gain is None else self.gain,
            bandwidth=self.bandwidth,
            damping=self.damping,
            noise=self.noise,
            scatter=self._seconds("scatter", 0.25 * period),
            longest=longest,
            memory=self._seconds("memory", 0.0),
            change=self._seconds("change", period),
            precision=self._seconds("precision", 0.0),
            excitation=self.excitation,
        )

    def _seconds(self, key: str, default: float) -> float:
        return default if getattr(self, key) is None else self.ns(key) * _NS
