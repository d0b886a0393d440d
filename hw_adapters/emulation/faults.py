"""Faults of an emulated device, as ``--fault`` names them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from orchestrator import DescriptionError
from orchestrator.core.diagnostics import choices_for

#: What each fault takes: a share of datagrams, a time, or nothing.
_SHARES = {
    "drop": "drop",
    "duplicate": "duplicate",
    "reorder": "reorder",
    "malformed": "malformed",
    "clock-fast": "clock_fast",
}
_TIMES = {
    "late": "late_ms",
    "slower": "slower_ms",
    "dead-after": "dead_after_s",
    "restart-after": "restart_after_s",
    "wrap-after": "wrap_after_s",
    "clock-jump": "clock_jump_s",
    "clock-back": "clock_back_s",
    "restart-on": "restart_on_s",
    "restart-ahead": "restart_ahead_s",
    "restart-back": "restart_back_s",
    "restart-pause": "restart_pause_s",
}
_RATES = {"drift": "drift_per_s"}
_FLAGS = {
    "wrong-status": "wrong_status",
    "freeze": "freeze",
    "nan": "nan",
    "saturated": "saturated",
}
#: Restarts at which the count of a device does not begin at its first value.
COUNTED_ON = frozenset({"restart-on", "restart-ahead", "restart-back"})
#: Faults of a clock that a device has, all of which it lacks where it has none.
CLOCKED = ("clock-jump", "clock-back", "clock-fast")
#: By which a count or clock jumps then, s.
_AHEAD_S, _BACK_S = 40.0, -0.5
_BURST = "burst"
NAMES = (*_SHARES, *_TIMES, _BURST, *_RATES, *_FLAGS)


@dataclass(frozen=True, slots=True)
class Faults:
    """What goes wrong on purpose, all of it at once.

    Parameters
    ----------
    drop, duplicate, reorder, malformed
        Shares of the datagrams, 0 to 1, that are not sent, sent twice, sent after the next one,
        or cut at a random length.
    late_ms
        By which every datagram leaves later, in ms.
    slower_ms
        By which the device follows its commands later, in ms, while its datagrams leave in time.
    dead_after_s
        After so many seconds the device neither sends nor answers, for ever.
    restart_after_s
        After so many seconds the device restarts: its counters, its clock and its state begin as at
        power-on.
    restart_on_s, restart_ahead_s, restart_back_s
        The same, but its counters and its clock go on, jump 40 s ahead, or go back by 0.5 s.
    restart_pause_s
        For so long before a restart the device neither sends nor answers.
    wrap_after_s
        So many seconds after the device began its count, or its clock, runs over.
    clock_jump_s
        By which the device's clock, and what it counts with it, runs ahead.
    clock_back_s
        By which it jumps back.
    clock_fast
        Share by which it runs too fast.
    burst
        So many datagrams are held back and then sent at once.
    drift_per_s
        By which the measured value drifts away from the true one in each second, in the unit that
        the emulator documents.
    wrong_status
        Every datagram says that the device is not in order.
    freeze
        Every datagram has the values of the first, while counters and clock go on.
    nan
        Values are no numbers.
    saturated
        Values are at the end of their range.
    """

    drop: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    malformed: float = 0.0
    late_ms: float = 0.0
    slower_ms: float = 0.0
    dead_after_s: float = math.inf
    restart_after_s: float = math.inf
    restart_on_s: float = math.inf
    restart_ahead_s: float = math.inf
    restart_back_s: float = math.inf
    restart_pause_s: float = 0.0
    wrap_after_s: float = math.inf
    clock_jump_s: float = 0.0
    clock_back_s: float = 0.0
    clock_fast: float = 0.0
    burst: int = 1
    drift_per_s: float = 0.0
    wrong_status: bool = False
    freeze: bool = False
    nan: bool = False
    saturated: bool = False

    @property
    def names(self) -> frozenset[str]:
        """Those that act."""
        fields = {**_SHARES, **_TIMES, _BURST: "burst", **_RATES, **_FLAGS}
        default = Faults()
        return frozenset(n for n, f in fields.items() if getattr(self, f) != getattr(default, f))

    @property
    def restart_s(self) -> float:
        """When the device is itself again after a restart, s; infinite: it does not restart."""
        moments = self.restart_after_s, self.restart_on_s, self.restart_ahead_s, self.restart_back_s
        return min(moments) + self.restart_pause_s

    @property
    def restart_shift_s(self) -> float | None:
        """By how much count and clock jump at a restart, s; ``None``: they begin again."""
        shifts = (
            (self.restart_on_s, 0.0),
            (self.restart_ahead_s, _AHEAD_S),
            (self.restart_back_s, _BACK_S),
        )
        return next((shift for moment, shift in shifts if math.isfinite(moment)), None)


def read_faults(texts: Iterable[str]) -> Faults:
    """Read faults such as ``drop:0.1`` or ``late:5``; several may stand between commas.

    ``drop:P``, ``late:MS``, ``slower:MS``, ``duplicate:P``, ``reorder:P``, ``malformed:P``,
    ``dead-after:S``, ``restart-after:S``, ``restart-on:S``, ``restart-ahead:S``,
    ``restart-back:S``, ``restart-pause:S``, ``wrap-after:S``, ``clock-jump:S``,
    ``clock-back:S``, ``clock-fast:P``, ``burst:N``, ``drift:RATE``, ``wrong-status``, ``freeze``,
    ``nan`` and ``saturated``.

    Raises
    ------
    DescriptionError
        If a fault is not known, or its number is missing or out of range; all of them together.
    """
    faults, problems = Faults(), []
    for text in (fault_text for listed in texts for fault_text in listed.split(",")):
        try:
            faults = _with(faults, text)
        except DescriptionError as error:
            problems.append(error)
    if problems:
        raise DescriptionError.collect(problems)
    return faults


def _with(faults: Faults, text: str) -> Faults:
    name, colon, value = text.strip().partition(":")
    if name in _FLAGS and not colon:
        return replace(faults, **{_FLAGS[name]: True})
    if name == _BURST:
        return _set(faults, _BURST, _count(text, value))
    if name in _SHARES:
        return _set(faults, _SHARES[name], _number(text, value, 1.0))
    if name in _TIMES:
        return _set(faults, _TIMES[name], _number(text, value, math.inf))
    if name in _RATES:
        return _set(faults, _RATES[name], _rate(text, value))
    choices = choices_for(name, NAMES, "fault")
    raise DescriptionError.about(f"no fault '{text}'{choices}", key="fault")


def _set(faults: Faults, field: str, value: Any) -> Faults:
    return replace(faults, **{field: value})


def _count(text: str, value: str) -> int:
    if not (value.isdecimal() and 1 < int(value) <= 10000):
        problem = f"fault '{text}': expected a number from 2 to 10000 after the colon"
        raise DescriptionError.about(f"{problem}, found '{value}'", key="fault")
    return int(value)


def _rate(text: str, value: str) -> float:
    rate = _float(value)
    if not math.isfinite(rate) or rate == 0.0:
        problem = f"fault '{text}': expected a rate other than 0 after the colon, found '{value}'"
        raise DescriptionError.about(problem, key="fault")
    return rate


def _float(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        return math.nan


def _number(text: str, value: str, largest: float) -> float:
    number = _float(value)
    if not (0.0 <= number <= largest and math.isfinite(number)):
        expected = "a share from 0 to 1" if largest == 1.0 else "a time >= 0"
        problem = f"fault '{text}': expected {expected} after the colon, found '{value}'"
        raise DescriptionError.about(problem, key="fault")
    return number
