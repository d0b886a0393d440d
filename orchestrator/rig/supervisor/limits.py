"""The limits that a rig is held to, each with the newest value of what it limits.

Checks compare by :meth:`WatchedLimit.take` and list their limits. Messages of faults, bars of the
live page and the line of a terminal all read this list, so a limit that is checked is also shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from orchestrator.core.diagnostics import Reason

#: Share of a limit from which on a value is near it, and beyond which it is over it.
NEAR, OVER = 0.8, 1.0
#: A value stays in view for one to two of these times, so that a short peak is seen, ns.
WINDOW_NS = 250_000_000
_MOST_DIGITS = 9


class WatchedLimit:
    """One limit: a quantity, its range, its newest value, and the worst value of the last moment.

    location: Signal, command, device or energy port.
    quantity: What is limited, in words.
    unit: In which value and ends are shown.
    reason: Fault that a value beyond the limit leads to.
    minimum, maximum: Ends of the range; ``None`` or infinite: no limit at that end.
    is_main: Whether a page always shows it, and not only from near its limit on.
    scale: Of what is shown to what is compared: 1e-6 for times in ns that are shown in ms.
    """

    __slots__ = (
        "_before", "_now", "is_main", "location", "maximum", "minimum", "quantity", "reason",
        "scale", "unit", "value",
    )  # fmt: skip

    def __init__(
        self,
        location: str,
        quantity: str,
        unit: str,
        reason: Reason,
        *,
        minimum: float | None = None,
        maximum: float | None = None,
        scale: float = 1.0,
        is_main: bool = False,
    ) -> None:
        self.location, self.quantity, self.unit, self.reason = location, quantity, unit, reason
        self.is_main = is_main
        self.minimum, self.maximum, self.scale = _finite(minimum), _finite(maximum), scale
        #: The newest value; not a number: nothing is checked now.
        self.value = math.nan
        self._now = self._before = math.nan

    def take(self, value: float, per: float = 1.0) -> Reason:
        """Take a value, which is ``value / per``; return the reason if it is beyond the limit."""
        low, high = self.minimum, self.maximum
        self.show(value if per == 1.0 else _ratio(value, per))
        if (high is not None and value > high * per) or (low is not None and value < low * per):
            return self.reason
        return Reason.OPERATION

    def show(self, value: float) -> None:
        """Take a value that was compared elsewhere."""
        self.value = value
        if not self.used_by(self._now) > self.used_by(value):
            self._now = value

    def turn(self) -> None:
        """Begin the next window of time."""
        self._before, self._now = self._now, self.value

    def forget(self) -> None:
        """Take note that nothing is checked now."""
        self.value = self._now = self._before = math.nan

    @property
    def is_set(self) -> bool:
        """Whether there is a limit at one end at least."""
        return self.minimum is not None or self.maximum is not None

    @property
    def worst(self) -> float:
        """The value nearest to the limit, or farthest beyond it, within the last moment."""
        return self._before if self.used_by(self._before) > self.used_by(self._now) else self._now

    @property
    def used(self) -> float:
        """Which share of the limit the worst value uses; above 1: it is beyond the limit."""
        return self.used_by(self.worst)

    def used_by(self, value: float) -> float:
        """Return the share of the way from the middle of the range, or from 0, to the limit."""
        low, high = self.minimum, self.maximum
        if low is None and high is None:
            return math.nan
        if low is not None and high is not None:
            remaining, span = min(value - low, high - value), 0.5 * (high - low)
        elif high is not None:
            remaining, span = high - value, abs(high)
        else:
            assert low is not None  # noqa: S101 - one end is given
            remaining, span = value - low, abs(low)
        if span == 0.0:
            return math.nan if math.isnan(value) else float(remaining < 0.0) * 2.0
        return 1.0 - remaining / span

    @property
    def level(self) -> str:
        """How near the worst value is: ``none`` (unknown), ``fresh``, ``amber``, ``red``."""
        used = self.used
        if math.isnan(used):
            return "none"
        return "red" if used > OVER else "amber" if used >= NEAR else "fresh"

    @property
    def figures(self) -> str:
        """The worst value and the limit that it is nearest to, in words."""
        value, low, high = self.worst, self.minimum, self.maximum
        is_low = high is None or (low is not None and value - low < high - value)
        limit = low if is_low else high
        if limit is None or math.isnan(value):
            return ""
        value, limit, digits = self.scale * value, self.scale * limit, 4
        text = f"{limit:.6g}"
        while f"{value:.{digits}g}" == text and value != limit and digits < _MOST_DIGITS:
            digits += 1
        unit = "" if self.unit == "1" else f" {self.unit}"
        return f"{self.quantity} {value:.{digits}g}{unit}, limit {text}{unit}"

    @property
    def ends(self) -> str:
        """The limit in words: one end, or both."""
        ends = [
            f"{self.scale * end:.6g}" for end in (self.minimum, self.maximum) if end is not None
        ]
        return " to ".join(ends) + ("" if self.unit == "1" else f" {self.unit}")

    def as_json(self) -> dict[str, Any]:
        """Return plain data for the status of a rig."""
        worst = self.worst
        used = self.used_by(worst)
        return {
            "where": self.location,
            "quantity": self.quantity,
            "value": self._scaled(worst),
            "unit": self.unit,
            "minimum": self._scaled(self.minimum),
            "maximum": self._scaled(self.maximum),
            "used": _finite(used),
            "level": self.level,
            "figures": self.figures,
            "main": self.is_main,
        }

    def _scaled(self, value: float | None) -> float | None:
        return None if value is None else _finite(self.scale * value)


def figures_of(limits: Iterable[WatchedLimit], reason: Reason) -> str:
    """Return the figures of the limit that was crossed for a reason; empty: no limit was."""
    limit = crossed(limits, reason)
    return limit.figures if limit is not None else ""


def cause_of(limits: Iterable[WatchedLimit], reason: Reason, location: str) -> str:
    """Return the figures of a fault that a gate found: it may have been the first to see it.

    location: Device, which need not be named again.
    """
    candidates = [limit for limit in limits if limit.reason is reason and limit.is_set]
    limit = crossed(candidates, reason)
    text = limit.figures if limit is not None else ""
    if limit is None and candidates:
        limit = candidates[0]
        text = f"{limit.quantity} beyond its limit of {limit.ends}"
    return text if limit is None or limit.location == location else f"{limit.location}: {text}"


def crossed(limits: Iterable[WatchedLimit], reason: Reason) -> WatchedLimit | None:
    """Return the limit that was crossed farthest for a reason; ``None``: no limit was."""
    exceeded = [limit for limit in limits if limit.reason is reason and limit.used >= OVER]
    return max(exceeded, key=lambda limit: limit.used, default=None)


def _ratio(value: float, per: float) -> float:
    if per > 0.0:
        return value / per
    return math.inf if value > 0.0 else 0.0


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value


#: What a range limits, by its unit.
_QUANTITIES = {"N": "force", "N.m": "torque", "m": "position", "rad": "angle", "m/s": "velocity"}


def quantity_of(unit: str) -> str:
    """Return what a signal of a unit is, in words."""
    return _QUANTITIES.get(unit, "value")


def derived_unit(unit: str, order: int) -> str:
    """Return the unit of a derivative: ``N/s``, ``m/s2``."""
    base, slash, power = unit.rpartition("/s")
    if slash and (power or "1").isdigit():
        unit, order = base, order + int(power or 1)
    return f"{unit}/s{order if order > 1 else ''}"
