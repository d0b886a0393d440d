"""The supervisor of a case whose devices are watched, its start and end, and its messages."""

from __future__ import annotations

import dataclasses
import json
import logging
import subprocess
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np

from orchestrator.core.diagnostics import (
    DescriptionError,
    DeviceError,
    NeverEngagedError,
    Reason,
)
from orchestrator.core.own_process import OwnProcess
from orchestrator.core.recording import Result
from orchestrator.core.simulation import InterruptedRun, RunStop
from orchestrator.core.simunits import Notice
from orchestrator.core.structs import replace
from orchestrator.core.system import Source, SourceKind
from orchestrator.rig.arming.margins import Arming
from orchestrator.rig.device_units.facts import device_facts
from orchestrator.rig.device_units.supervision import watched_facts
from orchestrator.rig.devices.registry import read_address, write_address
from orchestrator.rig.hardware.twin_file import SignalPair, TwinFile, in_run_time
from orchestrator.rig.supervisor import rig_tracking
from orchestrator.rig.supervisor.checks import RigChecks
from orchestrator.rig.supervisor.machine import CHANGES_NAME
from orchestrator.rig.supervisor.rig_tracking import (
    MarginTable,
    RigTracking,
    TrackRecord,
    read_tracks,
)
from orchestrator.rig.supervisor.settings import SupervisorSettings, TrackingLimits
from orchestrator.rig.supervisor.states import ChangeRecord, change_record
from orchestrator.rig.supervisor.supervisor import Supervisor
from orchestrator.rig.supervisor.wire import ANSWER_S, StateLine, connect_to, hear, tell
from orchestrator.study import Extension, FailedRunError, Run, Section, Steps, swap_component
from orchestrator.study.content import Curve, Panel, Plot
from orchestrator.study.prepare.prepared_case import PreparedCase

_LOG = logging.getLogger(__name__)
_MODULE = "orchestrator.rig.supervisor.process"
#: A busy machine may take so long to start an interpreter, s.
_START_S = 60.0
#: After the run devices come to rest, and rings are written, within so long, s.
_END_S = 20.0


class SupervisorClient:
    """Starts the supervisor of a rig before a run, and ends after it; used in ``with``.

    The process is no child that ends with the run: it has a session of its own.

    settings: Of the rig.
    devices: Names of all its devices.
    folder: Where it writes what it saw; it is made.
    margins: Of the loops through commands, by command, that tracking holds devices against.
    remarks: What to know of it, in sentences: a priority that was not granted, the faults it
        latched.
    Raises DeviceError: if the rig has a supervisor already, or it does not start.
    """

    def __init__(
        self,
        settings: SupervisorSettings,
        devices: Collection[str],
        folder: Path,
        margins: Mapping[str, MarginTable] | None = None,
    ) -> None:
        self._settings, self._devices, self._folder = settings, list(devices), folder
        self._margins = margins or {}
        self.remarks: list[str] = []
        #: Faults that were latched when the run ended; none if an operator stopped the rig.
        self.faults: list[str] = []
        #: What to do about the first of them.
        self.advice = ""
        self._ended = False

    def __enter__(self) -> Self:
        self._folder.mkdir(parents=True, exist_ok=True)
        for old in self._folder.glob("*.csv"):
            old.unlink()
        self._process = OwnProcess(
            _MODULE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, outlives=True
        )
        answer = self._started()
        if "error" in answer:
            self._process.end()
            raise DeviceError(f"supervisor: {answer['error']}")
        if answer["priority"]:
            self.remarks.append(str(answer["priority"]))
        self._channel = connect_to(self._settings.rig)
        tell(self._channel, {"hello": "run"})
        hear(self._channel)
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self._process.wait(_END_S)
        self._channel.close()
        self._process.end()

    def begin(self) -> None:
        """Wait until somebody has engaged the rig, where that is not done by itself."""
        rig = self._settings.rig
        if self._settings.arm == "automatic":
            return
        _LOG.warning(
            "rig '%s' is held and the run waits; inspect the rig, then arm and engage it"
            " (softdock supervisor attend %s)",
            rig,
            rig,
        )
        try:
            tell(self._channel, {"hello": "run", "begins": True})
            self._channel.settimeout(None)
            status, _ = hear(self._channel)
        except (OSError, EOFError, ValueError):
            raise NeverEngagedError(
                f"rig '{rig}' was never engaged: its supervisor ended"
            ) from None
        finally:
            self._channel.settimeout(ANSWER_S)
        if not status["follows"]:
            reason = "; ".join(status["latched"]) or "the run was ended"
            raise NeverEngagedError(f"rig '{rig}' was never engaged: {reason}")

    def end(self) -> RunStop | None:
        """Say that the run is over, so that the devices come to rest; once.

        Returns who stopped the rig while it followed the run, and why; ``None``: nobody did.
        """
        if self._ended:
            return None
        self._ended = True
        try:
            tell(self._channel, {"hello": "run", "ended": True})
            status, _ = hear(self._channel)
        except (OSError, EOFError, ValueError):
            lost = Reason.SUPERVISOR_LOST
            self.faults, self.advice = [lost.text], lost.advice
            return RunStop("supervisor", self.faults[0])
        self.remarks += [f"supervisor alarm: {text}" for text in status["alarms"]]
        if status["stopped_by"]:
            self.remarks += [f"operator: {text}" for text in status["latched"][1:]]
            return RunStop("operator", str(status["stopped_by"]))
        self.faults, self.advice = list(status["latched"]), str(status["advice"])
        if self._settings.after_fault == "continue":
            rests = "the supervisor brought the rig to rest"
            self.remarks += [f"{rests}: {fault}" for fault in self.faults]
        elif self.faults and status["engaged"]:
            return RunStop("supervisor", self.faults[0], is_whole=bool(status["released"]))
        return None

    def _started(self) -> dict[str, Any]:
        request = {
            "settings": self._settings.model_dump(exclude_none=True),
            "devices": self._devices,
            "folder": str(self._folder.absolute()),
            "margins": {name: table.as_json() for name, table in self._margins.items()},
        }
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.first_line(_START_S)
        if not line:
            self._process.finish()
            raise DeviceError("the supervisor did not start; see its output on stderr")
        answer: dict[str, Any] = json.loads(line)
        return answer


COLUMNS = ("time [s]", "state", "event", "next state", "reason", "where", "figures")


def states_section(case: str, record: ChangeRecord) -> Section:
    """Return the report section on the states of a case's rig and their causes."""
    rows = tuple(
        (
            f"{change.time_s:.3f}",
            change.before,
            change.event,
            change.after,
            change.reason,
            change.where,
            change.figures,
        )
        for change in record.changes
    )
    note = record.never_engaged or "Wall-clock times since the rig was engaged."
    heading = f"States of the rig '{record.rig}' in {case}"
    return Section("supervisor", heading, COLUMNS, rows, note, data=record.as_json(), value=record)


@contextmanager
def supervising(
    case: PreparedCase,
    settings: SupervisorSettings | None,
    output: Path,
    remarks: list[str],
    twins: Iterable[TwinFile] = (),
    arming: Arming | None = None,
    *,
    devices: Collection[str] | None = None,
    faults: list[str] | None = None,
) -> Iterator[Steps]:
    """Start a supervisor before the devices of a case are opened; it ends after them.

    What it sees is written into the folder ``NAME.supervisor``, with the name of the case. It is
    told what was identified of the devices, and the margins that they were armed with. ``faults``
    gets the faults that it had latched when the run ended, and then what to do about the first.
    """
    names = [name for name in _devices(case) if devices is None or name in devices]
    if settings is None or not names:
        yield Steps(case)
        return
    settings = with_identified(settings, twins)
    margins, margin_remarks = tracked_margins(settings, arming)
    remarks += margin_remarks
    _expect_complete(case, settings, names)

    client = SupervisorClient(settings, names, supervisor_folder(output, case.name), margins)
    try:
        with client:
            yield Steps(_watched(case, settings.rig, names), client.begin, client.end)
    finally:
        remarks += client.remarks
        if faults is not None:
            faults += [*client.faults, client.advice] if client.faults else []


def _devices(case: PreparedCase) -> list[str]:
    components = case.system.components.items()
    return [name for name, component in components if component.source.kind is SourceKind.DEVICE]


def _expect_complete(case: PreparedCase, settings: SupervisorSettings, names: list[str]) -> None:
    """Expect that the tables fit the devices, before anything is opened."""
    parts = case.system.components
    facts = [watched_facts(name, device_facts(parts[name].source.location)) for name in names]
    supervisor = Supervisor(settings, names)
    for fact in facts:
        supervisor.limits_of(fact)
    RigChecks(settings, facts)
    RigTracking(settings.tracking, {}, facts)


def supervisor_folder(output: Path, case: str) -> Path:
    """Return where the supervisor of a case writes."""
    return output / f"{case}.supervisor"


def states_of(
    output: Path, case: PreparedCase, settings: SupervisorSettings | None
) -> ChangeRecord | None:
    """Return the states that the rig of a case went through; ``None``: nobody watched."""
    if settings is None or not _devices(case):
        return None
    return change_record(settings.rig, supervisor_folder(output, case.name) / CHANGES_NAME)


def tracks_of(
    output: Path, case: PreparedCase, settings: SupervisorSettings | None
) -> tuple[TrackRecord, ...]:
    """Return what was tracked in a case; nothing, if that was not asked for."""
    if settings is None or not settings.tracking or not _devices(case):
        return ()
    return read_tracks(supervisor_folder(output, case.name) / rig_tracking.NAME)


def _watched(case: PreparedCase, rig: str, names: list[str]) -> PreparedCase:
    system = case.system
    for name in names:
        component = system.components[name]
        device, values = read_address(component.source.location)
        location = write_address(device, {**values, "supervisor": rig})
        system = swap_component(system, name, Source(SourceKind.DEVICE, location))
        watched = replace(system.components[name], late_ns=component.late_ns)
        system = replace(system, components={**system.components, name: watched})
    return replace(case, system=system)


class Supervision(Extension):
    """Watches the devices of a case, and says what became of them."""

    follows = ("arming",)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        #: What was latched when the run of a case ended, by its name.
        self._faults: dict[str, list[str]] = {}

    @contextmanager
    def around(self, run: Run, steps: Steps) -> Iterator[Steps]:
        """Start it before devices are opened."""
        case, settings = steps.case, run.experiment.supervisor
        name = case.name
        facts = run.value(name, "identified") or (), run.value(name, "arming")
        faults = self._faults[name] = []
        log = run.remarks[name]
        try:
            with supervising(case, settings, run.output, log, *facts, faults=faults) as watched:
                rig = "" if watched.case is case or settings is None else settings.rig
                yield replace(
                    steps,
                    case=watched.case,
                    begin=watched.begin,
                    end=watched.end,
                    status=StateLine(rig) if rig else steps.status,
                )
        except FailedRunError as failure:
            if isinstance(failure.__cause__, NeverEngagedError):
                raise NeverEngagedError(str(failure)) from failure
            if never := self._never_engaged(run, case):
                raise NeverEngagedError(f"case '{name}': {never}") from failure
            raise
        except InterruptedRun as interruption:
            if never := self._never_engaged(run, case):
                interruption.args = (f"{interruption}; {never}",)
            raise
        if never := self._never_engaged(run, case):
            run.remarks[name].append(never)

    def after(self, run: Run, case: PreparedCase, result: Result) -> Result:
        """Say which states the rig went through, and what was tracked."""
        settings = run.experiment.supervisor
        states = states_of(run.output, case, settings)
        if states is not None:
            run.add(case.name, states_section(case.name, states))
            if not states.engaged:
                run.outcome.never_engaged.append(case.name)
        if tracks := tracks_of(run.output, case, settings):
            run.add(case.name, tracking_section(case.name, tracks))
        faults = self._faults.get(case.name, ())
        if faults and settings is not None and settings.after_fault == "stop":
            return dataclasses.replace(
                result, notices=(*result.notices, _rig_fault(result, faults))
            )
        return result

    def _never_engaged(self, run: Run, case: PreparedCase) -> str:
        """Say that a rig was watched and never engaged; empty if that is not so."""
        states = states_of(run.output, case, run.experiment.supervisor)
        return states.never_engaged if states is not None else ""


def _rig_fault(result: Result, faults: Sequence[str]) -> Notice:
    """Say that the supervisor brought the rig to rest before the run came to its end."""
    *causes, advice = faults
    return Notice(
        int(result.time_ns[-1]) if len(result.time_ns) else 0,
        f"the supervisor brought the rig to rest: {'; then '.join(causes)}",
        f"{advice}; from then on the results are not those of the rig",
        safe=True,
    )


#: What is shown of a track by column, and the factor to its unit.
_TRACKED = {
    "delay [ms]": ("delay_s", 1e3),
    "from": ("delay_low_s", 1e3),
    "to": ("delay_high_s", 1e3),
    "gain": ("gain", 1.0),
    "delay margin [ms]": ("delay_margin_s", 1e3),
    "gain margin": ("gain_margin", 1.0),
}
TRACKING_COLUMNS = ("response", *_TRACKED, "changes")


def tracking_section(case: str, tracks: Sequence[TrackRecord]) -> Section:
    """Return what was known last of each response."""
    rows = []
    for track in tracks:
        last = track.as_json()
        cells = [last[key] and factor * last[key] for key, factor in _TRACKED.values()]
        rows.append((track.response, *cells, float(track.changes)))
    note = "The last estimates with 95 % intervals, and the margins that are left."
    plots = {
        f"tracking-{case}-{track.response}".replace("[", "_").replace("]", ""): (
            tracking_plot(case, track),
            f"Tracking of {track.response} in {case}.",
        )
        for track in tracks
    }
    return Section(
        "tracking",
        f"Tracking of {case}",
        TRACKING_COLUMNS,
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
        delay.append(Curve("delay margin left", track["time_s"], margin, dash="-"))
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


#: Rounding adds a twelfth of its square to the variance of noise.
_ROUNDING = 12.0
#: Noise of a response that has none, as an emulated one, in its unit.
_LEAST_NOISE = 1e-9


def with_identified(settings: SupervisorSettings, twins: Iterable[TwinFile]) -> SupervisorSettings:
    """Complete the tables of tracking with what was identified, by the clock of each device."""
    own_twins = [
        converted for twin in twins for converted in in_run_time([twin], twin.component)[0]
    ]
    pairs = {f"{twin.component}.{p.response}": (twin, p) for twin in own_twins for p in twin.pair}
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
    identified: dict[str, Any] = {
        "delay": round(pair.delay.value, 9),
        "gain": pair.gain.value,
        "noise": max((pair.noise.value**2 + beyond**2 + rounding) ** 0.5, _LEAST_NOISE),
    }
    if pair.lag is not None and limits.bandwidth is None:
        identified["bandwidth"], identified["damping"] = pair.lag.frequency, pair.lag.damping
    missing = {key: value for key, value in identified.items() if getattr(limits, key) is None}
    return limits.model_copy(update=missing)


def tracked_margins(
    settings: SupervisorSettings, arming: Arming | None
) -> tuple[dict[str, MarginTable], Sequence[str]]:
    """Return the margins that devices are held against, by command, and what is to be known."""
    commands = {limits.command for limits in settings.tracking.values()}
    if not commands or arming is None:
        return {}, ()
    margins = {table.line.rpartition("-> ")[2]: table for table in arming.tables}
    tracked = {name: table for name, table in margins.items() if name in commands}
    if arming.is_granted:
        return tracked, ()
    remark = (
        "arming was forced, so tracking does not check devices against a reserve that they"
        " already lack"
    )
    return {}, (remark,)
