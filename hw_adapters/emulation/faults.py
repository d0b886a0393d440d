"""Faults of an emulated device, as ``--fault`` names them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from orchestrator import DescriptionError
from orchestrator.core.diagnostics import nearest

#: What each fault takes: a share of datagrams, a time, or nothing.
_SHARES = {
    "drop": "drop",
    "duplicate": "duplicate",
    "reorder": "reorder",
    "malformed": "malformed",
}
_TIMES = {
    "late": "late_ms",
    "slower": "slower_ms",
    "dead-after": "dead_after_s",
    "restart-after": "restart_after_s",
    "wrap-after": "wrap_after_s",
    "clock-jump": "clock_jump_s",
    "growing": "growing_ms",
    "again": "again_ms",
    "pause": "pause_ms",
}
_FLAGS = {
    "wrong-status": "wrong_status",
    "freeze": "freeze",
    "nan": "nan",
    "saturated": "saturated",
    "deaf": "deaf",
}
#: What a relay between device and adapter can do.
RELAYED = frozenset({"growing", "again", "pause", "deaf"})
_BURST = "burst"
NAMES = (*_SHARES, *_TIMES, _BURST, *_FLAGS)


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
    growing_ms
        By which every datagram leaves later, for each second that goes by, in ms.
    again_ms
        After which every datagram is sent once more, in ms.
    pause_ms
        For so long all datagrams are held, and then sent at once, in ms.
    deaf
        It sends, and no command reaches it.
    slower_ms
        By which the device follows its commands later, in ms, while its datagrams leave in time.
    dead_after_s
        After so many seconds the device neither sends nor answers, for ever.
    restart_after_s
        After so many seconds the device begins anew: its counters, its clock, its state.
    wrap_after_s
        So many seconds after the device began its count, or its clock, runs over.
    clock_jump_s
        By which the device's clock, and what it counts with it, runs ahead.
    burst
        So many datagrams are held back and then sent at once.
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
    growing_ms: float = 0.0
    again_ms: float = 0.0
    pause_ms: float = 0.0
    slower_ms: float = 0.0
    dead_after_s: float = math.inf
    restart_after_s: float = math.inf
    wrap_after_s: float = math.inf
    clock_jump_s: float = 0.0
    burst: int = 1
    wrong_status: bool = False
    freeze: bool = False
    nan: bool = False
    saturated: bool = False
    deaf: bool = False

    @property
    def names(self) -> frozenset[str]:
        """Those that act."""
        fields = {**_SHARES, **_TIMES, _BURST: "burst", **_FLAGS}
        sound = Faults()
        return frozenset(n for n, f in fields.items() if getattr(self, f) != getattr(sound, f))


def read_faults(texts: Iterable[str]) -> Faults:
    """Read faults such as ``drop:0.1`` or ``late:5``; several may stand between commas.

    ``drop:P``, ``late:MS``, ``slower:MS``, ``duplicate:P``, ``reorder:P``, ``malformed:P``,
    ``dead-after:S``, ``restart-after:S``, ``wrap-after:S``, ``clock-jump:S``, ``burst:N``,
    ``growing:MS``, ``again:MS``, ``pause:MS``, ``wrong-status``, ``freeze``, ``nan``, ``saturated``
    and ``deaf``.

    Raises
    ------
    DescriptionError
        If a fault is not known, or its number is missing or out of range; all of them together.
    """
    found, problems = Faults(), []
    for text in (each for listed in texts for each in listed.split(",")):
        try:
            found = _with(found, text)
        except DescriptionError as error:
            problems.append(error)
    if problems:
        raise DescriptionError.collect(problems)
    return found


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
    asked = nearest(name, NAMES) or f"; known: {', '.join(NAMES)}"
    raise DescriptionError.about(f"fault '{text}' is not known{asked}", key="fault")


def _set(faults: Faults, field: str, value: Any) -> Faults:
    return replace(faults, **{field: value})


def _count(text: str, value: str) -> int:
    if not (value.isdecimal() and 1 < int(value) <= 10000):
        problem = f"fault '{text}': expected a number from 2 to 10000 after the colon"
        raise DescriptionError.about(f"{problem}, found '{value}'", key="fault")
    return int(value)


def _number(text: str, value: str, most: float) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not (0.0 <= number <= most and math.isfinite(number)):
        expected = "a share from 0 to 1" if most == 1.0 else "a time >= 0"
        problem = f"fault '{text}': expected {expected} after the colon, found '{value}'"
        raise DescriptionError.about(problem, key="fault")
    return number
