"""The table of trials."""

from __future__ import annotations

import math

from orchestrator.experiment.trials.judge import Outcome

COLUMNS = (
    "fault",
    "detected by",
    "reaction",
    "to detect [ms]",
    "to rest [ms]",
    "force [N]",
    "velocity [m/s]",
    "within limits",
    "recorded until [s]",
    "rings",
)


def row_of(outcome: Outcome) -> list[str]:
    """Return the cells of a trial."""
    reaction = outcome.reaction
    counted = ", ".join(f"{count} {kind}" for kind, count in outcome.counts.items())
    detected = f"{reaction.reason} ({reaction.where})" if reaction.reason else ""
    return [
        outcome.trial.name,
        detected or (f"counted: {counted}" if counted else "nothing"),
        " > ".join(reaction.states) or reaction.state or "goes on",
        _milliseconds(outcome.detect_s),
        _milliseconds(outcome.rest_s) if reaction.reason else "-",
        "-" if math.isnan(outcome.force) else f"{outcome.force:.1f}",
        "-" if math.isnan(outcome.velocity) else f"{outcome.velocity:.4f}",
        "yes" if outcome.within else "NO",
        "nothing" if math.isnan(outcome.recorded_s) else f"{outcome.recorded_s:.3f}",
        str(outcome.rings),
    ]


def sound(outcome: Outcome) -> bool:
    """Whether limits were kept, and what was recorded can be read."""
    return outcome.within and not math.isnan(outcome.recorded_s)


def _milliseconds(seconds: float) -> str:
    return "-" if math.isnan(seconds) else f"{seconds * 1e3:.0f}"
