"""What the tracking of a case's devices is told of what was found before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.rig.supervisor.settings import SupervisorSettings
from orchestrator.rig.supervisor.tracking.settings import TrackingLimits
from orchestrator.rig.supervisor.tracking.track_record import TrackRecord
from orchestrator.study import Section
from orchestrator.study.content import Curve, Panel, Plot

if TYPE_CHECKING:
    from orchestrator.rig.arming import Arming
    from orchestrator.rig.identification.twin_file import SignalPair, TwinFile
    from orchestrator.rig.supervisor.tracking.rig_tracking import MarginTable


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


#: Rounding adds a twelfth of its square to the variance of noise.
_ROUNDING = 12.0


def with_identified(settings: SupervisorSettings, twins: Iterable[TwinFile]) -> SupervisorSettings:
    """Complete the tables of tracking with what was identified, by the clock of each device."""
    from orchestrator.rig.identification.clock import in_run_time

    own = [each for twin in twins for each in in_run_time([twin], twin.component)[0]]
    pairs = {f"{twin.component}.{p.response}": (twin, p) for twin in own for p in twin.pair}
    tables = {
        name: _completed(name, limits, *pairs[name]) if name in pairs else limits
        for name, limits in settings.tracking.items()
    }
    return settings.model_copy(update={"tracking": tables})


def _completed(
    name: str, limits: TrackingLimits, twin: TwinFile, pair: SignalPair
) -> TrackingLimits:
    if pair.command is None or f"{twin.component}.{pair.command}" != limits.command:
        raise DescriptionError(
            f"supervisor.tracking.'{name}'.command: '{limits.command}', but identification found"
            f" that it follows {pair.command or 'no command'}"
        )
    assert pair.delay is not None  # noqa: S101 - it has a command
    assert pair.gain is not None  # noqa: S101
    beyond = 0.0 if pair.unexplained is None else pair.unexplained.value
    rounding = pair.quantisation**2 / _ROUNDING
    found: dict[str, Any] = {
        "delay": round(pair.delay.value, 9),
        "gain": pair.gain.value,
        "noise": (pair.noise.value**2 + beyond**2 + rounding) ** 0.5 or None,
    }
    dynamics = pair.dynamics
    if dynamics is not None and dynamics.frequency is not None and limits.bandwidth is None:
        found["bandwidth"] = dynamics.frequency.value
        found["damping"] = None if dynamics.damping is None else dynamics.damping.value
    missing = {key: value for key, value in found.items() if getattr(limits, key) is None}
    return limits.model_copy(update=missing)


def tracked_margins(
    settings: SupervisorSettings, arming: Arming | None
) -> tuple[dict[str, MarginTable], Sequence[str]]:
    """Return the margins that devices are held against, by command, and what is to be known."""
    commands = {limits.command for limits in settings.tracking.values()}
    if not commands or arming is None:
        return {}, ()
    margins = {table.line.rpartition("-> ")[2]: table for table in arming.tables}
    chosen = {name: table for name, table in margins.items() if name in commands}
    if arming.is_granted:
        return chosen, ()
    remark = "arming was forced, so tracking holds no device against a reserve that it lacks"
    return {}, (remark,)
