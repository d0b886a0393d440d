"""What the tracking of devices leaves in a report: a table, and a picture for each response."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.experiment.section import Section
from orchestrator.recording import PALETTE
from orchestrator.recording.plot_parts import dress, headline, new_figure
from orchestrator.supervisor.tracking.track_record import TrackRecord

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = (
    "response",
    "delay [ms]",
    "from",
    "to",
    "gain",
    "delay margin [ms]",
    "gain margin",
    "changes",
)


def tracking_section(case: str, tracks: Sequence[TrackRecord]) -> Section:
    """Return what was known last of each response."""
    rows = []
    for track in tracks:
        last = track.as_json()
        cells = [
            _ms(last["delay_s"]),
            _ms(last["delay_low_s"]),
            _ms(last["delay_high_s"]),
            last["gain"],
            _ms(last["delay_margin_s"]),
            last["gain_margin"],
        ]
        rows.append((track.response, *cells, float(track.changes)))
    note = "What was known last, with intervals of 95 %; margins are those that are left."
    return Section(
        "tracking",
        f"Tracking of {case}",
        COLUMNS,
        tuple(rows),
        note,
        data=[track.as_json() for track in tracks],
        value=tuple(tracks),
    )


def draw_tracking(case: str, track: TrackRecord) -> Figure:
    """Draw delay with its interval, gain, and what the test of a change says, over time."""
    figure = new_figure(8.0, 6.5)
    headline(figure, f"Tracking of '{track.response}' in '{case}'")
    delay, gain, score = figure.subplots(3, 1, sharex=True, height_ratios=(3, 2, 1.5))
    times = track["time_s"]
    for axes, name, factor in ((delay, "delay", 1e3), (gain, "gain", 1.0)):
        unit = "_s" if name == "delay" else ""
        low, high = track[f"{name}_low{unit}"] * factor, track[f"{name}_high{unit}"] * factor
        axes.fill_between(times, low, high, color=PALETTE[0], alpha=0.25, lw=0)
        axes.plot(times, track[f"{name}{unit}"] * factor, color=PALETTE[0])
    margin = track["delay_margin_s"] * 1e3
    if np.isfinite(margin).any():
        delay.plot(times, margin, color=PALETTE[1], label="delay margin that is left")
        delay.legend(loc="best", frameon=False)
    score.plot(times, track["score"], color=PALETTE[0])
    for axes, label in ((delay, "delay [ms]"), (gain, "gain"), (score, "test (1: change)")):
        dress(axes)
        axes.set_ylabel(label)
    score.set_xlabel("time since the rig was engaged [s]")
    return figure


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3
