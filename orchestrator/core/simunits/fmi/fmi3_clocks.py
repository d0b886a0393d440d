"""Time-based clocks of an FMI 3.0 FMU: those that tick because its importer looks at the time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from math import isfinite

from lxml import etree

from orchestrator.core.diagnostics import FmuError

#: Longest interval and shift in seconds, and the greatest counter and resolution.
_LONGEST, _GREATEST = 1e9, 2**63 - 1


class TimerKind(IntEnum):
    """When an interval may change; numbers of the engine (fmi/clock_scheduler.hpp)."""

    FIXED = 0
    TUNABLE = 1
    CHANGING = 2
    COUNTDOWN = 3


_KINDS = {"constant": TimerKind.FIXED, **{kind.name.lower(): kind for kind in TimerKind}}


@dataclass(frozen=True, slots=True)
class Timer:
    """One time-based input clock.

    Parameters
    ----------
    kind
        See :class:`TimerKind`.
    fraction
        Whether the FMU tells its intervals as fractions.
    seconds
        Interval as a decimal, in seconds; 0 where the description does not say.
    counter, resolution
        Interval as a fraction of seconds; 0 where the description does not say.
    shift, shift_counter
        Time from the start to the first tick: in seconds, or in parts of the resolution.
    """

    kind: TimerKind
    fraction: bool
    seconds: float
    counter: int
    resolution: int
    shift: float
    shift_counter: int


def timers_of(root: etree._Element) -> dict[str, Timer]:
    """Return the time-based input clocks of a model description, by name."""
    found = {}
    for element in root.findall("ModelVariables/Clock"):
        kind = _KINDS.get(element.get("intervalVariability", ""))
        if kind is not None and element.get("causality") == "input":
            found[element.get("name", "")] = _timer(element, kind)
    return found


def _timer(element: etree._Element, kind: TimerKind) -> Timer:
    fraction = element.get("supportsFraction") in {"true", "1"}
    counter = _number(element, "intervalCounter", 1)
    resolution = _number(element, "resolution", 1) if counter else 0
    if counter and not resolution:
        raise _wrong(element, "resolution", "a whole number beside intervalCounter")
    return Timer(
        kind,
        fraction,
        0.0 if counter else _seconds(element, "intervalDecimal"),
        counter,
        resolution,
        0.0 if counter else _seconds(element, "shiftDecimal"),
        _number(element, "shiftCounter", 0) if counter else 0,
    )


def _number(element: etree._Element, name: str, least: int) -> int:
    text = element.get(name)
    if text is None:
        return 0
    if not text.strip().isdecimal() or not least <= int(text) <= _GREATEST:
        raise _wrong(element, name, f"a whole number from {least} to 2**63 - 1")
    return int(text)


def _seconds(element: etree._Element, name: str) -> float:
    text = element.get(name)
    if text is None:
        return 0.0
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    is_shift = name.startswith("shift")
    if not isfinite(value) or value > _LONGEST or value < 0.0 or (value == 0.0 and not is_shift):
        least = "0 <=" if is_shift else "0 <"
        raise _wrong(element, name, f"{least} seconds <= {_LONGEST:g}")
    return value


def _wrong(element: etree._Element, name: str, expected: str) -> FmuError:
    return FmuError(
        f"modelDescription.xml: clock '{element.get('name')}': {name}: expected {expected}, found"
        f" {element.get(name)!r}; correct the FMU"
    )
