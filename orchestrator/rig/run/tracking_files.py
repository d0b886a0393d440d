"""What the tracking of devices leaves in a report: a table, and a picture for each response."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orchestrator.rig.supervisor.tracking.track_record import TrackRecord
from orchestrator.study import Section
from orchestrator.study.content import Curve, Panel, Plot

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
    stems = [f"tracking-{case}-{track.response}" for track in tracks]
    plots = {
        stem.replace("[", "_").replace("]", ""): (
            tracking_plot(case, track),
            f"Tracking of {track.response} in {case}.",
        )
        for stem, track in zip(stems, tracks, strict=True)
    }
    return Section(
        "tracking",
        f"Tracking of {case}",
        COLUMNS,
        tuple(rows),
        note,
        plots=plots,
        data=[track.as_json() for track in tracks],
        value=tuple(tracks),
    )


def tracking_plot(case: str, track: TrackRecord) -> Plot:
    """Show delay with its interval, gain, and what the test of a change says, over time."""
    margin = track["delay_margin_s"] * 1e3
    delay = [_estimated("delay", track, "delay", "_s", 1e3)]
    if np.isfinite(margin).any():
        delay.append(Curve("delay margin that is left", track["time_s"], margin, dash="-"))
    panels = [
        Panel("delay [ms]", delay),
        Panel("gain", [_estimated("gain", track, "gain")]),
        Panel("test (1: change)", [Curve("test", track["time_s"], track["score"])]),
    ]
    title = f"Tracking of '{track.response}' in '{case}'"
    return Plot("time", panels, title, "time since the rig was engaged [s]")


def _estimated(
    label: str, track: TrackRecord, name: str, unit: str = "", factor: float = 1.0
) -> Curve:
    """Return an estimate over time, with its interval."""
    low, value, high = (factor * track[f"{name}{end}{unit}"] for end in ("_low", "", "_high"))
    return Curve(label, track["time_s"], value, band=(low, high))


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3
