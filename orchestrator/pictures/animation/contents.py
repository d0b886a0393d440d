"""What the script of a page draws: parts, tracks, charts and events, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.core.recording import Result
from orchestrator.core.system import seconds
from orchestrator.pictures.animation.description import Animation
from orchestrator.pictures.animation.shapes import Arm, Arrow, Line, Part, Spring
from orchestrator.pictures.animation.tracks import Tracks
from orchestrator.pictures.animation.values import WORLD
from orchestrator.pictures.animation.wording import unit_of

#: Colours of curves that name none, told apart with any colour vision.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")


def contents(
    table: Animation,
    results: Mapping[str, Result],
    titles: Mapping[str, str],
    shown: Mapping[str, Tracks],
) -> dict[str, Any]:
    """Return all that the page's script draws, as plain data.

    Parameters
    ----------
    table
        Of the animation.
    results
        By case.
    titles
        By case, what the reader is shown for it.
    shown
        By case that is shown, what moves in it.
    """
    names = [WORLD, *table.frame]
    return {
        "speed": table.speed,
        "beside": table.beside,
        "frames": names,
        "parts": [
            _part(part, names, len(shown[table.cases[0]].segments.get(name, ())), results)
            for name, part in table.part.items()
        ],
        "views": [{"name": name, **view.model_dump()} for name, view in table.view.items()],
        "charts": [
            {
                "ylabel": chart.ylabel,
                "curves": [
                    {
                        "label": c.label,
                        "colour": c.colour or _COLOURS[i % len(_COLOURS)],
                        "dashed": c.reference or c.case is not None,
                        # The same for all cases: drawn once where they stand beside each other.
                        "once": len({table.case_of(c, shown) for shown in table.cases}) == 1,
                    }
                    for i, c in enumerate(chart.curves)
                ],
            }
            for chart in table.chart
        ],
        "cases": [
            {
                "name": case,
                "title": titles[case],
                "ends": float(results[case].time[-1]),
                "events": _events(results[case]),
                "tracks": [one.shape for one in found.all()],
                "values": found.packed(),
            }
            for case, found in shown.items()
        ],
    }


def _part(
    part: Part, names: list[str], count: int, results: Mapping[str, Result]
) -> dict[str, Any]:
    """Return what the page draws of a part: its sizes, and the number of its frame or tracks."""
    given = part.model_dump(exclude={"within", "begin", "end", "vector", "case", "span"})
    if isinstance(part, Arrow):
        # As in books: a torque is an arrow with two heads.
        turning = unit_of(part, results) in {"N.m", "N m", "Nm"}
        return given | {"segments": count, "heads": 2 if turning else 1}
    if isinstance(part, Line | Spring | Arm):
        return given | {"segments": count}
    ghost = None if part.ghost is None else names.index(part.ghost)
    return given | {"frame": names.index(part.within), "ghost": ghost}


def _events(result: Result) -> list[dict[str, Any]]:
    """List what went wrong in a run and when: faults, and where components went to a safe state."""
    faults = [
        {
            "text": fault.name,
            "from": seconds(fault.begin_ns),
            "until": None if fault.until_ns is None else seconds(fault.until_ns),
        }
        for fault in result.faults
        # Noise over the whole run is no event of it.
        if fault.until_ns is not None or fault.begin_ns > result.time_ns[0]
    ]
    safe = [
        {"text": f"safe state of {one.component}", "from": seconds(one.time_ns), "until": None}
        for one in result.safe_states
    ]
    return faults + safe
