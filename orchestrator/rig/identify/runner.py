"""The identification of a case's devices, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.realtime import RealTime
from orchestrator.core.system import nanoseconds, seconds
from orchestrator.rig.arming import Reserve
from orchestrator.rig.device_units.description import device_facts
from orchestrator.rig.identify.evidence import LittleEvidenceError, Needed
from orchestrator.rig.identify.excitation_plan import Procedure
from orchestrator.rig.identify.identify import IdentifiedDevice, devices_of, identify_device
from orchestrator.rig.identify.watched import watched_device
from orchestrator.rig.run.emulation import emulating
from orchestrator.rig.supervisor.settings import SupervisorSettings
from orchestrator.study import Experiment
from orchestrator.study.prepare.prepare import prepare_all
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.prepare.run_settings import RunSettings
from orchestrator.study.prepare.system_reader import SystemReader
from orchestrator.study.run.pace import realtime_of

#: So often a device is moved, each time for twice as long, before it is given up.
MOTIONS = 4


def identify_case(
    experiment: Experiment,
    folder: Path,
    name: str,
    settings: RunSettings,
    procedure: Procedure,
    *,
    chosen: tuple[str, ...] = (),
    step: str | float | None = None,
    prepared: PreparedCase | None = None,
    watched_in: Path | None = None,
    needed: Reserve | None = None,
) -> Iterator[IdentifiedDevice]:
    """Identify the devices of a case, one at a time; the others are not opened.

    A motion that shows too little is made again, for twice as long each time.

    The supervisor of the experiment, if it has one, watches each. Emulators that the experiment
    declares for the case are started anew for each. A device that is the clock of the experiment is
    that of its own run, and of no other.
    """
    if prepared is None:
        prepared = prepare_all(experiment, [name], SystemReader(folder), settings)[name]
    if unknown := sorted(set(procedure.limits or {}) - set(_commands(prepared))):
        known = ", ".join(_commands(prepared)) or "none"
        raise DescriptionError(f"limits of '{unknown[0]}': expected a command of: {known}")
    realtime = realtime_of(experiment, settings, {name: prepared})
    assert realtime is not None  # noqa: S101 - the settings ask for it
    given = step if step is not None else prepared.options.given_step
    for device in devices_of(prepared.system, chosen):
        rate = device_facts(prepared.system.component(device).source.location).ports.rate
        each = step_of(given, 1.0 / rate)
        own = realtime if realtime.clock in {None, device} else replace(realtime, clock=None)
        lines = prepared.system.connections
        fed = {line.source.connector for line in lines if line.source.component == device}
        wanted = Needed(needed, fed) if needed else None
        watched = _Watch(
            None if watched_in is None else experiment.supervisor, watched_in or folder
        )
        yield with_longer_motions(
            partial(_identified, prepared, device, each, own, watched, wanted), procedure
        )


def step_of(given: str | float | None, period: float) -> float:
    """Return the step of a device's run, s: its period if nothing is given."""
    return period if given is None else seconds(nanoseconds(given, "step"))


class _Watch(NamedTuple):
    supervisor: SupervisorSettings | None
    folder: Path


def _identified(
    prepared: PreparedCase,
    device: str,
    step: float,
    realtime: RealTime,
    watch: _Watch,
    needed: Needed | None,
    procedure: Procedure,
) -> IdentifiedDevice:
    """Identify a device by one motion."""
    with (
        watched_device(replace(prepared, name=device), device, *watch) as case,
        emulating(prepared, realtime),
    ):
        found = identify_device(case.system, device, step, procedure, realtime)
    if needed is not None:
        needed.expect_known(found.twin)
    return found


def with_longer_motions(
    identified: Callable[[Procedure], IdentifiedDevice], procedure: Procedure
) -> IdentifiedDevice:
    """Identify a device; where a motion shows too little, again with one that is twice as long."""
    for longer in (2.0**motion for motion in range(MOTIONS - 1)):
        with suppress(LittleEvidenceError):
            return identified(_longer(procedure, longer))
    last = _longer(procedure, 2.0 ** (MOTIONS - 1))
    try:
        return identified(last)
    except LittleEvidenceError as error:
        told = f"after {MOTIONS} motions, the last of {last.duration:g} s"
        found = [f"{text} ({told})" for text in error.problems]
        raise LittleEvidenceError(*found) from None


def _longer(procedure: Procedure, factor: float) -> Procedure:
    return replace(
        procedure,
        duration=factor * procedure.duration,
        compared_duration=factor * procedure.compared_duration,
    )


def _commands(prepared: PreparedCase) -> list[str]:
    system = prepared.system
    return [
        f"{name}.{port.name}"
        for name in devices_of(system)
        for port in device_facts(system.component(name).source.location).ports.inputs
    ]
