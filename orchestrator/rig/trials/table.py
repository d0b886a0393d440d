"""The table of trials."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from orchestrator.rig.trials.judge import Outcome
from orchestrator.rig.trials.trial import FULL_DISK

COLUMNS = (
    "fault",
    "detected by",
    "reaction",
    "to detect [ms]",
    "to rest [ms]",
    "path",
    "step",
    "force [N]",
    "velocity [m/s]",
    "within limits",
    "recorded until [s]",
    "exit code",
    "sentence",
)
#: What a small length is told in.
_SMALLER = {"m": (1e3, "mm"), "rad": (1e3, "mrad")}


def row_of(outcome: Outcome) -> list[str]:
    """Return the cells of a trial."""
    reaction = outcome.reaction
    counted = ", ".join(f"{count} {kind}" for kind, count in outcome.counts.items())
    detected = f"{reaction.reason} ({reaction.where})" if reaction.reason else ""
    if not detected and outcome.exit_code > 0:
        detected = "the run"
    return [
        outcome.trial.name,
        detected or (f"counted: {counted}" if counted else "nothing"),
        " > ".join(reaction.states) or reaction.state or _ended(outcome),
        _milliseconds(outcome.detect_s),
        _milliseconds(outcome.rest_s) if _is_stopped(outcome) else "-",
        _lengths(outcome.path),
        _lengths(outcome.step),
        "-" if math.isnan(outcome.force) else f"{outcome.force:.1f}",
        "-" if math.isnan(outcome.velocity) else f"{outcome.velocity:.4f}",
        "yes" if outcome.within else "NO",
        "nothing" if math.isnan(outcome.recorded_s) else f"{outcome.recorded_s:.3f}",
        str(outcome.exit_code),
        outcome.sentence,
    ]


def sound(row: Sequence[str]) -> bool:
    """Whether limits were kept, and what was recorded can be read, by the cells of a trial.

    On a disk that is full before the first part is written nothing can be.
    """
    cells = dict(zip(COLUMNS, row, strict=True))
    kept = cells["recorded until [s]"] != "nothing" or cells["fault"] == FULL_DISK
    return cells["within limits"] == "yes" and kept


def _is_stopped(outcome: Outcome) -> bool:
    return bool(outcome.reaction.reason) or outcome.exit_code != 0


def _ended(outcome: Outcome) -> str:
    if outcome.exit_code < 0:
        return "the run is gone"
    return "the run ends" if outcome.exit_code else "goes on"


def _lengths(found: Mapping[str, float]) -> str:
    """Return lengths by unit in words, the small ones in thousandths."""
    told = []
    for unit, value in found.items():
        factor, name = _SMALLER.get(unit, (1.0, unit))
        told += [f"{value * factor:.3g} {name}"] if value else []
    return ", ".join(told) or ("0" if found else "-")


def _milliseconds(seconds: float) -> str:
    return "-" if math.isnan(seconds) else f"{seconds * 1e3:.0f}"
