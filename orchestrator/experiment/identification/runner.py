"""The identification of a case's devices, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from orchestrator.diagnostics import DescriptionError
from orchestrator.experiment.file.experiment import Experiment
from orchestrator.experiment.identification.excitation_plan import Procedure
from orchestrator.experiment.identification.identify import (
    IdentifiedDevice,
    devices_of,
    identify_device,
)
from orchestrator.experiment.identification.watched import watched_device
from orchestrator.experiment.prepare.prepare import prepare_all
from orchestrator.experiment.prepare.prepared_case import PreparedCase
from orchestrator.experiment.prepare.run_settings import RunSettings
from orchestrator.experiment.prepare.system_reader import SystemReader
from orchestrator.experiment.run.emulation import emulating
from orchestrator.experiment.run.pace import realtime_of
from orchestrator.simunits.devices.description import device_facts
from orchestrator.system import nanoseconds, seconds


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
) -> Iterator[IdentifiedDevice]:
    """Identify the devices of a case, one at a time; the others are not opened.

    The supervisor of the experiment, if it has one, watches each. Emulators that the experiment
    declares for the case are started anew for each. A device that is the clock of the experiment is
    that of its own run, and of no other.

    Parameters
    ----------
    experiment, folder
        The experiment, and where its file is.
    name
        Of the case.
    settings
        Swaps of the command line, and whether and how real time is asked for.
    procedure
        How devices are excited.
    chosen
        Components; empty: all that are devices.
    step
        Of the runs; ``None``: that of the case, or the period of the device if it has none.
    prepared
        The case, if it is prepared already.
    watched_in
        Folder in which the supervisor writes what it sees; ``None``: nobody watches.

    Raises
    ------
    DescriptionError, LoadError
        If the case cannot be prepared, or has no such devices.
    FailedRunError
        If a device is lost.
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
        each = 1.0 / rate if given is None else seconds(nanoseconds(given, "step"))
        own = realtime if realtime.clock in {None, device} else replace(realtime, clock=None)
        supervisor = None if watched_in is None else experiment.supervisor
        watched = watched_device(
            replace(prepared, name=device), device, supervisor, watched_in or folder
        )
        with watched as case, emulating(prepared, own):
            found = identify_device(case.system, device, each, procedure, own)
        yield found


def _commands(prepared: PreparedCase) -> list[str]:
    system = prepared.system
    return [
        f"{name}.{port.name}"
        for name in devices_of(system)
        for port in device_facts(system.component(name).source.location).ports.inputs
    ]
