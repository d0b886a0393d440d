"""Which signals an animation draws, and whether they are recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from orchestrator.animation.description import Animation
from orchestrator.animation.motion import is_fixed
from orchestrator.animation.shapes import Arrow
from orchestrator.animation.signals import elements


@dataclass(frozen=True, slots=True)
class Wanted:
    """Signals that one key of an animation names.

    Parameters
    ----------
    where
        The key.
    parts
        Elements of a vector: names as in results, and numbers.
    case
        Whose signals; ``None`` means each case that is shown.
    unit
        That they must have, if they have one.
    """

    where: str
    parts: Sequence[float | str]
    case: str | None
    unit: str | None = None


def wanted(table: Animation) -> Iterator[Wanted]:
    """List all signals that an animation names, by key."""
    for key, frame in table.frame.items():
        here = f"frame.{key}"
        if not is_fixed(frame.position):
            parts = elements(frame.position, 3)
            yield Wanted(f"{here}.position", parts, frame.case, "m")
        if isinstance(frame.attitude, str):
            yield Wanted(f"{here}.attitude", elements(frame.attitude, 4), frame.case, "1")
    for key, part in table.part.items():
        if isinstance(part, Arrow):
            yield Wanted(f"part.{key}.vector", elements(part.vector, 3), part.case)
    for number, chart in enumerate(table.chart, start=1):
        for curve in chart.curves:
            yield Wanted(f"chart {number}, '{curve.label}'", [curve.signal], curve.case)


def wrong_signals(
    name: str, table: Animation, recorded: Mapping[str, Mapping[str, str | None]]
) -> Iterator[str]:
    """Say which signals are not recorded, or not in metres where they are positions.

    Parameters
    ----------
    name, table
        ``[animation.NAME]``, without loose ends.
    recorded
        By case, the unit of each recorded signal; cases that will not be run are left out.
    """
    for one in wanted(table):
        for case in table.cases if one.case is None else (one.case,):
            if case in recorded:
                text = _missing(one, recorded[case]) or _other_unit(one, recorded[case])
                if text:
                    yield f"animation '{name}', {one.where}: case '{case}' {text}"


def _missing(one: Wanted, recorded: Mapping[str, str | None]) -> str:
    missing = [part for part in one.parts if isinstance(part, str) and part not in recorded]
    if not missing:
        return ""
    of = f" (expected {len(one.parts)} elements)" if len(one.parts) > 1 else ""
    close = get_close_matches(missing[0], list(recorded), n=3, cutoff=0.5)
    listed = ", ".join(close or recorded)
    return f"records no '{missing[0]}'{of}; {'close to it' if close else 'recorded'}: {listed}"


def _other_unit(one: Wanted, recorded: Mapping[str, str | None]) -> str:
    for part in one.parts:
        found = recorded[part] if isinstance(part, str) else None
        if one.unit is not None and found is not None and found != one.unit:
            return f"has '{part}' in '{found}'; expected '{one.unit}'"
    return ""
