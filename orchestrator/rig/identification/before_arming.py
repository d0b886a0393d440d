"""The identification of a case's devices, one after the other, before they are armed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError, choices_for
from orchestrator.core.realtime import RealTime
from orchestrator.core.structs import replace
from orchestrator.core.system import nanoseconds, seconds
from orchestrator.rig.arming.extension import commanded
from orchestrator.rig.arming.identified_model import used_responses
from orchestrator.rig.arming.margins import Reserve
from orchestrator.rig.arming.tables import ArmingTable, IdentificationTable
from orchestrator.rig.device_units.facts import DeviceFacts, device_facts
from orchestrator.rig.devices import DeviceConnector
from orchestrator.rig.hardware.twin_file import TwinFile, read_twin
from orchestrator.rig.identification.device_run import Procedure, planned_limits
from orchestrator.rig.identification.identified_device import (
    IdentifiedDevice,
    LittleEvidenceError,
    devices_of,
    expect_known,
    identify_device,
)
from orchestrator.rig.identification.record import ExcitationLimits
from orchestrator.rig.identification.report import write_identification
from orchestrator.rig.runs.emulation import emulating
from orchestrator.rig.runs.supervision import supervising
from orchestrator.rig.supervisor.settings import SupervisorSettings
from orchestrator.study import Experiment, Extension, Run, Section
from orchestrator.study.prepare.prepared_case import PreparedCase, RunSettings
from orchestrator.study.run.pace import realtime_of

Table = TypeVar("Table")


def _alone(settings: SupervisorSettings, device: str) -> SupervisorSettings:
    """Let a supervisor watch one of its devices, as far as that is its own business.

    Limits of its command and of what it measures, its health and its way to rest are those of the
    rig; what needs other devices, or a loop, is left out. It is armed by itself, and at once: it is
    excited because somebody asked for it, and from rest.
    """
    signals = {
        name: limits
        for name, limits in _of(settings.signals, device).items()
        if limits.against is None or limits.against.partition(".")[0] == device
    }
    changes = {
        "arm": "automatic",
        "blend": "0 s",
        "after_fault": "stop",
        "commands": _of(settings.commands, device),
        "signals": signals,
        "devices": _of(settings.devices, device),
        "energy": {},
        "tracking": {},
    }
    return settings.model_copy(update=changes)


def _of(tables: Mapping[str, Table], device: str) -> dict[str, Table]:
    return {name: table for name, table in tables.items() if name.partition(".")[0] == device}


#: So often a device is moved, each time for twice as long, before it is given up.
MOTIONS = 4


def identify_case(
    experiment: Experiment,
    prepared: PreparedCase,
    settings: RunSettings,
    procedure: Procedure,
    watched_in: Path,
    *,
    selected: tuple[str, ...],
    step: str | float | None = None,
    needed: Reserve | None = None,
) -> Iterator[IdentifiedDevice]:
    """Identify the devices of a case, one at a time; the others are not opened.

    A motion that shows too little is made again, for twice as long each time.

    The supervisor of the experiment, if it has one, watches each, and writes into ``watched_in``.
    Emulators that the experiment declares for the case are restarted for each. A device that is
    the clock of the experiment is that of its own run, and of no other.
    """
    if unknown := sorted(set(procedure.limits or {}) - set(_commands(prepared))):
        commands = ", ".join(_commands(prepared)) or "none"
        raise DescriptionError(f"limits of '{unknown[0]}': expected a command of: {commands}")
    realtime = realtime_of(experiment, settings, {prepared.name: prepared})
    assert realtime is not None  # noqa: S101 - the settings ask for it
    step_given = step if step is not None else prepared.options.given_step
    for device in devices_of(prepared.system, selected):
        rate = device_facts(prepared.system.component(device).source.location).ports.rate
        device_step = step_of(step_given, 1.0 / rate)
        device_realtime = (
            realtime if realtime.clock in {None, device} else replace(realtime, clock=None)
        )
        rig = experiment.supervisor
        watch = None if rig is None else _alone(rig, device), watched_in
        yield with_longer_motions(
            partial(_identified, prepared, device, device_step, device_realtime, watch, needed),
            procedure,
        )


def step_of(step: str | float | None, period: float) -> float:
    """Return the step of a device's run, s: its period if nothing is given."""
    return period if step is None else seconds(nanoseconds(step, "step"))


def _identified(
    prepared: PreparedCase,
    device: str,
    step: float,
    realtime: RealTime,
    watch: tuple[SupervisorSettings | None, Path],
    needed: Reserve | None,
    procedure: Procedure,
) -> IdentifiedDevice:
    """Identify a device by one motion."""
    alone = replace(prepared, name=device)
    with (
        supervising(alone, *watch, [], devices=[device]) as watched,
        emulating(prepared, realtime),
    ):
        identified = identify_device(watched.case.system, device, step, procedure, realtime)
    if needed is not None:
        expect_known(identified.twin, needed, used_responses(prepared.system, device))
    return identified


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
        attempts = f"after {MOTIONS} motions, the last of {last.duration:g} s"
        messages = [f"{text} ({attempts})" for text in error.problems]
        raise LittleEvidenceError(*messages) from None


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


def identification_movements(
    case: PreparedCase, devices: Sequence[str], procedure: Procedure
) -> Iterator[str]:
    """Say how far, how fast and for how long the identification of a case moves its devices."""
    for device, facts in _facts(case, devices).items():
        inputs, period = facts.ports.inputs, 1.0 / facts.ports.rate
        step = step_of(case.options.given_step, period)
        limits = {p: planned_limits(device, p, step, period, procedure) for p in inputs}
        moves = ", ".join(_move(device, p, at.amplitude, at.speed) for p, at in limits.items())
        commands = sum(port.size for port in inputs)
        lasts = procedure.rest + commands * (
            procedure.duration + procedure.compared_duration + 2.0 * procedure.rest
        )
        yield (
            f"before case '{case.name}' is armed, '{device}' ({facts.name}) moves to be"
            f" identified: {moves}; for {lasts:.3g} s, and if that is not enough, again for about"
            f" twice as long each time, at most {MOTIONS} times"
        )


def run_movements(case: PreparedCase, devices: Sequence[str]) -> Iterator[str]:
    """Say what a case commands when it runs, and within which limits."""
    for device, facts in _facts(case, devices).items():
        moves = ", ".join(
            _move(device, p, min(p.start - p.minimum, p.maximum - p.start), p.speed)
            for p in facts.ports.inputs
        )
        yield f"when it is armed, case '{case.name}' commands '{device}' ({facts.name}): {moves}"


def _facts(case: PreparedCase, devices: Sequence[str]) -> Mapping[str, DeviceFacts]:
    return {name: device_facts(case.system.component(name).source.location) for name in devices}


def _move(device: str, port: DeviceConnector, amplitude: float, speed: float) -> str:
    far = f" by up to {amplitude:.4g} {port.unit} either way" if math.isfinite(amplitude) else ""
    fast = f" at up to {speed:.4g} {port.unit}/s" if math.isfinite(speed) else ""
    return f"{device}.{port.name}{far or ' without a range'}{fast or ', without a limit of speed'}"


def stored_twins(
    table: IdentificationTable,
    folder: Path,
    cases: Mapping[str, PreparedCase],
    devices_of_case: Mapping[str, Sequence[str]],
    results: Sequence[Path],
) -> tuple[dict[str, tuple[TwinFile, ...]], dict[str, tuple[str, ...]]]:
    """Read the twins of commanded devices; twins that ``table`` names come first."""
    twins: dict[str, tuple[TwinFile, ...]] = {}
    remarks: dict[str, tuple[str, ...]] = {}
    problems: list[str] = []
    for name, devices in devices_of_case.items():
        case_twins, case_remarks = [], []
        for device in devices:
            twin_path = table.twins.get(device)
            result_folders = [result / "identification" / name for result in results]
            paths = [result_folder / f"{device}.twin.toml" for result_folder in result_folders]
            files = paths if twin_path is None else [folder / twin_path]
            path = next((file for file in files if file.is_file()), None)
            label = f"case '{name}', device '{device}'"
            if path is None:
                problems.append(
                    f"{label}: --no-identify: expected a stored twin, found no"
                    f" {' and no '.join(map(str, files))}; run once without --no-identify"
                    " or name one in [identification] twins"
                )
                continue
            twin = read_twin(path)
            problems += _strange(twin, path, device, cases[name], label)
            case_twins.append(twin)
            case_remarks.append(_remark(twin, path, device))
        twins[name], remarks[name] = tuple(case_twins), tuple(case_remarks)
    if problems:
        raise DescriptionError(*problems)
    return twins, remarks


def _strange(twin: TwinFile, path: Path, device: str, case: PreparedCase, label: str) -> list[str]:
    facts = device_facts(case.system.component(device).source.location)
    if (twin.component, twin.device) == (device, facts.name):
        return []
    message = (
        f"{label}: {path} is the twin of '{twin.component}' ({twin.device}); expected one of"
        f" '{device}' ({facts.name})"
    )
    return [message]


def _remark(twin: TwinFile, path: Path, device: str) -> str:
    days = (datetime.now(UTC) - twin.date.astimezone(UTC)).days
    return (
        f"'{device}' is not identified again: its stored twin of {twin.date.isoformat()} ({days}"
        f" days old, {path}) is used"
    )


def _needed(experiment: Experiment, case: PreparedCase, settings: RunSettings) -> Reserve | None:
    """Return what arming needs; nothing of a case that is forced."""
    table = case.case.arming or experiment.arming or ArmingTable()
    return None if settings.force_arming or table.force else table.reserve


def procedure(table: IdentificationTable, devices: tuple[str, ...]) -> Procedure:
    """Return how devices are excited, with the limits that are theirs."""
    return Procedure(
        table.excitation,
        table.compared,
        table.seconds("duration"),
        table.seconds("compared_duration"),
        table.seconds("rest"),
        table.confidence,
        {
            name: ExcitationLimits(*numbers)
            for name, numbers in table.limits.items()
            if name.partition(".")[0] in devices
        },
    )


def _expect_known(table: IdentificationTable, commanded_devices: list[str]) -> None:
    for name in (*table.devices, *(limit.partition(".")[0] for limit in table.limits)):
        if commanded_devices and name not in commanded_devices:
            raise UnknownNameError(
                f"identification: no case commands a device"
                f" '{name}'{choices_for(name, commanded_devices, 'commanded device')}"
            )


class Identification(Extension):
    """Identifies commanded devices where the experiment says so; says what is going to move."""

    follows = ("realtime",)

    def begin(self, run: Run) -> None:
        """Identify them by case, and write twins and a page for each.

        The files are there whatever comes after, a refusal of arming included. Before the first
        moves, announce what is going to move.
        """
        cases, stored = run.cases, run.settings.stored_twins
        case_devices = {name: tuple(commanded(case.system)) for name, case in cases.items()}
        later = [
            text for name in case_devices for text in run_movements(cases[name], case_devices[name])
        ]
        table = run.experiment.identification
        if table is None:
            for text in later:
                run.announce(text)
            return
        _expect_known(
            table, sorted({device for devices in case_devices.values() for device in devices})
        )
        selected = {
            name: tuple(
                device for device in devices if not table.devices or device in table.devices
            )
            for name, devices in case_devices.items()
        }
        identified_devices = {name: devices for name, devices in selected.items() if devices}
        if stored is not None:
            twins, remarks = stored_twins(
                table, run.reader.folder, cases, identified_devices, stored
            )
            now = [text for case_remarks in remarks.values() for text in case_remarks]
        else:
            twins, remarks = {}, {}
            now = [
                text
                for name, devices in identified_devices.items()
                for text in identification_movements(
                    cases[name], devices, procedure(table, devices)
                )
            ]
        for text in (*now, *later):
            run.announce(text)
        if stored is None:
            twins = _identified_cases(run, table, identified_devices)
        for name, case_remarks in remarks.items():
            run.notes[name] += case_remarks
        for name, case_twins in twins.items():
            plain = [twin.model_dump(mode="json", exclude_none=True) for twin in case_twins]
            run.add(name, Section("identified", data=plain or None, value=case_twins))


def _identified_cases(
    run: Run, table: IdentificationTable, devices_of_case: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[TwinFile, ...]]:
    twins: dict[str, tuple[TwinFile, ...]] = {}
    files: list[Path] = []
    paced = replace(run.settings, realtime=1.0)  # a device keeps its own pace
    for done, (name, devices) in enumerate(devices_of_case.items()):
        run.tell(f"identification for {name}", done / len(devices_of_case))
        case_folder = run.output / "identification" / name
        identified = list(
            identify_case(
                run.experiment,
                run.cases[name],
                paced,
                procedure(table, devices),
                case_folder.with_name(f"{name}.supervised"),
                selected=devices,
                needed=_needed(run.experiment, run.cases[name], run.settings),
            )
        )
        files += write_identification(
            identified, run.experiment.case[name].title or name, case_folder
        )
        twins[name] = tuple(device.twin for device in identified)
        run.tell(f"identification for {name}", (done + 1) / len(devices_of_case))
    run.outcome.files += files
    return twins
