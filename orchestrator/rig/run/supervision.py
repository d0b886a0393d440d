"""The supervisor of a case whose devices are watched."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import NeverEngagedError
from orchestrator.core.system import Source, SourceKind
from orchestrator.rig.supervisor.change_record import ChangeRecord
from orchestrator.study import Extension, FailedRunError, Run, Section, Steps
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.prepare.simulate import InterruptedRun

if TYPE_CHECKING:
    from orchestrator.core.recording import Result
    from orchestrator.rig.arming import Arming
    from orchestrator.rig.identification.twin_file import TwinFile
    from orchestrator.rig.supervisor.settings import SupervisorSettings
    from orchestrator.rig.supervisor.tracking.track_record import TrackRecord


COLUMNS = ("time [s]", "state", "event", "next state", "reason", "where")


def states_section(case: str, record: ChangeRecord) -> Section:
    """Return what is said of all states of a case's rig, and what led to them."""
    rows = tuple(
        (f"{one.time_s:.3f}", one.before, one.event, one.after, one.reason, one.where)
        for one in record.changes
    )
    note = record.never_engaged or "Times are of the wall, since the rig was engaged."
    heading = f"States of the rig '{record.rig}' in {case}"
    return Section("supervisor", heading, COLUMNS, rows, note, data=record.as_json(), value=record)


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found of a case's devices before they are opened.

    Parameters
    ----------
    twins
        What was identified of them.
    arming
        The margins that they were armed with.
    """

    twins: tuple[TwinFile, ...] = ()
    arming: Arming | None = None


@contextmanager
def supervising(
    case: PreparedCase,
    settings: SupervisorSettings | None,
    output: Path,
    remarks: list[str],
    findings: Findings | None = None,
    *,
    devices: Collection[str] | None = None,
) -> Iterator[Steps]:
    """Start a supervisor before the devices of a case are opened; it ends after them.

    What it sees is written into the folder ``NAME.supervisor``, with the name of the case.
    """
    names = [name for name in _devices(case) if devices is None or name in devices]
    if settings is None or not names:
        yield Steps(case)
        return
    found = findings or Findings()
    from orchestrator.rig.run.tracking import with_identified

    settings = with_identified(settings, found.twins)
    from orchestrator.rig.run.tracking import tracked_margins

    margins, told = tracked_margins(settings, found.arming)
    remarks += told
    _expect_complete(case, settings, names)
    from orchestrator.rig.supervisor.client import SupervisorClient

    client = SupervisorClient(settings, names, supervisor_folder(output, case.name), margins)
    try:
        with client:
            yield Steps(_watched(case, settings.rig, names), client.begin, client.end)
    finally:
        remarks += client.remarks


def _devices(case: PreparedCase) -> list[str]:
    components = case.system.components.items()
    return [name for name, one in components if one.source.kind is SourceKind.DEVICE]


def _expect_complete(case: PreparedCase, settings: SupervisorSettings, names: list[str]) -> None:
    """Expect that the tables fit the devices, before anything is opened."""
    sources = {name: case.system.components[name].source for name in names}
    from orchestrator.rig.device_units.description import device_facts
    from orchestrator.rig.device_units.supervision import watched_facts

    facts = [watched_facts(name, device_facts(one.location)) for name, one in sources.items()]
    from orchestrator.rig.supervisor.supervisor import Supervisor

    supervisor = Supervisor(settings, names)
    for each in facts:
        supervisor.limits_of(each)
    from orchestrator.rig.supervisor.rig_checks import RigChecks

    RigChecks(settings, facts)
    from orchestrator.rig.supervisor.tracking.rig_tracking import RigTracking

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
    from orchestrator.rig.supervisor.change_record import change_record
    from orchestrator.rig.supervisor.ring_file import CHANGES_NAME

    return change_record(settings.rig, supervisor_folder(output, case.name) / CHANGES_NAME)


def tracks_of(
    output: Path, case: PreparedCase, settings: SupervisorSettings | None
) -> tuple[TrackRecord, ...]:
    """Return what was tracked in a case; nothing, if that was not asked for."""
    if settings is None or not settings.tracking or not _devices(case):
        return ()
    from orchestrator.rig.supervisor.tracking.track_record import NAME as TRACK_NAME
    from orchestrator.rig.supervisor.tracking.track_record import read_tracks

    return read_tracks(supervisor_folder(output, case.name) / TRACK_NAME)


def _watched(case: PreparedCase, rig: str, names: list[str]) -> PreparedCase:
    system = case.system
    from orchestrator.rig.devices.address import read_address, write_address
    from orchestrator.study import swap_component

    for name in names:
        device, given = read_address(system.components[name].source.location)
        location = write_address(device, {**given, "supervisor": rig})
        system = swap_component(system, name, Source(SourceKind.DEVICE, location))
    return replace(case, system=system)


class Supervision(Extension):
    """Watches the devices of a case, and says what became of them."""

    follows = ("arming",)

    @contextmanager
    def around(self, run: Run, steps: Steps) -> Iterator[Steps]:
        """Start it before devices are opened."""
        case, settings = steps.case, run.experiment.supervisor
        name = case.name
        found = Findings(run.value(name, "identified") or (), run.value(name, "arming"))
        try:
            with supervising(case, settings, run.output, run.remarks[name], found) as watched:
                rig = "" if watched.case is case or settings is None else settings.rig
                yield replace(
                    steps,
                    case=watched.case,
                    begin=watched.begin,
                    end=watched.end,
                    about=("rig.state_line", rig) if rig else steps.about,
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
            from orchestrator.rig.run.tracking import tracking_section

            run.add(case.name, tracking_section(case.name, tracks))
        return result

    def _never_engaged(self, run: Run, case: PreparedCase) -> str:
        """Say that a rig was watched and never engaged; empty if that is not so."""
        states = states_of(run.output, case, run.experiment.supervisor)
        return states.never_engaged if states is not None else ""
