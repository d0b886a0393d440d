"""Which signals an animation draws, and whether they are recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.core.diagnostics import nearest_names
from orchestrator.pictures.animation.description import Animation, Frame
from orchestrator.pictures.animation.motion import is_fixed
from orchestrator.pictures.animation.shapes import Arrow
from orchestrator.pictures.animation.signals import elements


@dataclass(frozen=True, slots=True)
class Wanted:
    """Signals that one key of an animation names.

    Parameters
    ----------
    where
        The key.
    parts
        Elements of a vector: names as in results, and numbers.
    cases
        Whose signals.
    unit
        That they must have, if they have one.
    """

    where: str
    parts: Sequence[float | str]
    cases: Sequence[str]
    unit: str | None = None


def wanted(table: Animation) -> Iterator[Wanted]:
    """List all signals that an animation names, by key."""
    for key, one in table.owners():
        cases = list(dict.fromkeys(table.case_of(one, shown) for shown in table.cases))
        if isinstance(one, Frame):
            if not is_fixed(one.position):
                yield Wanted(f"{key}.position", elements(one.position, 3), cases, "m")
            if not is_fixed(one.attitude):
                yield Wanted(f"{key}.attitude", elements(one.attitude, 4), cases, "1")
        elif isinstance(one, Arrow):
            yield Wanted(f"{key}.vector", elements(one.vector, 3), cases)
        else:
            yield Wanted(f"{key}.signal", [one.signal], cases)


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
        for case in one.cases:
            if case in recorded:
                text = _missing(one, recorded[case]) or _other_unit(one, recorded[case])
                if text:
                    yield f"animation '{name}', {one.where}: case '{case}' {text}"


def _missing(one: Wanted, recorded: Mapping[str, str | None]) -> str:
    missing = [part for part in one.parts if isinstance(part, str) and part not in recorded]
    if not missing:
        return ""
    of = f" (expected {len(one.parts)} elements)" if len(one.parts) > 1 else ""
    close = nearest_names(missing[0], recorded, cutoff=0.5)
    listed = ", ".join(close or recorded)
    return f"records no '{missing[0]}'{of}; {'close to it' if close else 'recorded'}: {listed}"


def _other_unit(one: Wanted, recorded: Mapping[str, str | None]) -> str:
    for part in one.parts:
        found = recorded[part] if isinstance(part, str) else None
        if one.unit is not None and found is not None and found != one.unit:
            return f"has '{part}' in '{found}'; expected '{one.unit}'"
    return ""
