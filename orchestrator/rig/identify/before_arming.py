"""The identification of devices before they are armed, in the cases of an experiment."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError, nearest
from orchestrator.rig.arming import Reserve
from orchestrator.rig.device_units.description import DeviceFacts, device_facts
from orchestrator.rig.devices import DeviceConnector
from orchestrator.rig.identification.twin_file import TwinFile, read_twin
from orchestrator.rig.identify.excitation_plan import Procedure, planned_limits
from orchestrator.rig.identify.report import write_identification
from orchestrator.rig.identify.runner import MOTIONS, identify_case, step_of
from orchestrator.rig.run.arming import commanded
from orchestrator.rig.tables.arming_table import ArmingTable
from orchestrator.rig.tables.identification_table import IdentificationTable
from orchestrator.study import Experiment, Extension, Run, Section
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.prepare.run_settings import RunSettings


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
            f"before case '{case.name}' is armed, '{device}' ({facts.name}) moves to be identified:"
            f" {moves}; for {lasts:.3g} s, and where that shows too little again, each time for"
            f" about twice as long, {MOTIONS} times at most"
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
    wanted: Mapping[str, Sequence[str]],
    results: Sequence[Path],
) -> tuple[dict[str, tuple[TwinFile, ...]], dict[str, tuple[str, ...]]]:
    """Read the twins of commanded devices; those that ``table`` names come first."""
    twins: dict[str, tuple[TwinFile, ...]] = {}
    remarks: dict[str, tuple[str, ...]] = {}
    problems: list[str] = []
    for name, devices in wanted.items():
        found, told = [], []
        for device in devices:
            named = table.twins.get(device)
            places = [each / "identification" / name for each in results]
            left = [place / f"{device}.twin.toml" for place in places]
            files = left if named is None else [folder / named]
            path = next((each for each in files if each.is_file()), None)
            where = f"case '{name}', device '{device}'"
            if path is None:
                problems.append(
                    f"{where}: --no-identify: expected a stored twin, found no"
                    f" {' and no '.join(map(str, files))}; run once without --no-identify"
                    " or name one in [identification] twins"
                )
                continue
            twin = read_twin(path)
            problems += _strange(twin, path, device, cases[name], where)
            found.append(twin)
            told.append(_remark(twin, path, device))
        twins[name], remarks[name] = tuple(found), tuple(told)
    if problems:
        raise DescriptionError(*problems)
    return twins, remarks


def _strange(twin: TwinFile, path: Path, device: str, case: PreparedCase, where: str) -> list[str]:
    facts = device_facts(case.system.component(device).source.location)
    if (twin.component, twin.device) == (device, facts.name):
        return []
    told = (
        f"{where}: {path} is the twin of '{twin.component}' ({twin.device}); expected one of"
        f" '{device}' ({facts.name})"
    )
    return [told]


def _remark(twin: TwinFile, path: Path, device: str) -> str:
    days = (datetime.now(UTC) - twin.date.astimezone(UTC)).days
    return (
        f"'{device}' is not identified anew: its twin of {twin.date.isoformat()} ({days} days old,"
        f" {path}) is taken"
    )


@dataclass(frozen=True, slots=True)
class BeforeArming:
    """What is known of commanded devices before they are armed.

    Parameters
    ----------
    twins
        By case.
    remarks
        By case, where twins are older than the run.
    pages
        Files that were written.
    """

    twins: Mapping[str, tuple[TwinFile, ...]] = field(default_factory=dict)
    remarks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pages: tuple[Path, ...] = ()


def identified_cases(
    experiment: Experiment,
    folder: Path,
    cases: Mapping[str, PreparedCase],
    settings: RunSettings,
    output: Path,
    tell: Callable[[str, float], None],
    announce: Callable[[str], None],
) -> BeforeArming:
    """Identify the commanded devices of cases, by case, and write twins and a page for each.

    The files are there whatever comes after, a refusal of arming included. Before the first moves,
    it is said what is going to move.
    """
    known = {name: tuple(commanded(case.system)) for name, case in cases.items()}
    later = [text for name in known for text in run_movements(cases[name], known[name])]
    table = experiment.identification
    if table is None:
        for text in later:
            announce(text)
        return BeforeArming()
    _expect_known(table, sorted({device for devices in known.values() for device in devices}))
    chosen = {
        name: tuple(one for one in devices if not table.devices or one in table.devices)
        for name, devices in known.items()
    }
    wanted = {name: devices for name, devices in chosen.items() if devices}
    if settings.stored_twins is not None:
        stored, remarks = stored_twins(table, folder, cases, wanted, settings.stored_twins)
        for text in (*(each for told in remarks.values() for each in told), *later):
            announce(text)
        return BeforeArming(stored, remarks)
    now = [
        text
        for name, devices in wanted.items()
        for text in identification_movements(cases[name], devices, procedure(table, devices))
    ]
    for text in (*now, *later):
        announce(text)
    twins: dict[str, tuple[TwinFile, ...]] = {}
    files: list[Path] = []
    for done, (name, devices) in enumerate(wanted.items()):
        tell(f"identification for {name}", done / len(wanted))
        how = procedure(table, devices)
        place = output / "identification" / name
        found = list(
            identify_case(
                experiment,
                folder,
                name,
                _paced(settings),
                how,
                chosen=devices,
                prepared=cases[name],
                watched_in=place.with_name(f"{name}.supervised"),
                needed=_needed(experiment, cases[name], settings),
            )
        )
        files += write_identification(found, experiment.case[name].title or name, place)
        twins[name] = tuple(device.twin for device in found)
        tell(f"identification for {name}", (done + 1) / len(wanted))
    return BeforeArming(twins, pages=tuple(files))


def _needed(experiment: Experiment, case: PreparedCase, settings: RunSettings) -> Reserve | None:
    """Return what arming needs; nothing of a case that is forced."""
    table = case.case.arming or experiment.arming or ArmingTable()
    return None if settings.force_arming or table.force else table.reserve


def procedure(table: IdentificationTable, devices: tuple[str, ...]) -> Procedure:
    """Return how devices are excited, with the limits that are theirs."""
    limits = table.command_limits()
    return Procedure(
        table.excitation,
        table.compared,
        table.seconds("duration"),
        table.seconds("compared_duration"),
        table.seconds("rest"),
        table.confidence,
        {name: limit for name, limit in limits.items() if name.partition(".")[0] in devices},
    )


def _expect_known(table: IdentificationTable, known: list[str]) -> None:
    for name in (*table.devices, *(limit.partition(".")[0] for limit in table.limits)):
        if known and name not in known:
            raise UnknownNameError(
                f"identification: no case commands a device '{name}'{nearest(name, known)}"
            )


def _paced(settings: RunSettings) -> RunSettings:
    """A device keeps its own pace, whatever the run is asked to do."""
    return replace(settings, realtime=1.0)


class Identification(Extension):
    """Identifies commanded devices where the experiment says so; says what is going to move."""

    follows = ("realtime",)

    def begin(self, run: Run) -> None:
        """Identify them."""
        found = identified_cases(
            run.experiment,
            run.reader.folder,
            run.cases,
            run.settings,
            run.output,
            run.tell,
            run.announce,
        )
        for name, remarks in found.remarks.items():
            run.notes[name] += remarks
        for name, twins in found.twins.items():
            plain = [twin.model_dump(mode="json", exclude_none=True) for twin in twins]
            run.add(name, Section("identified", data=plain or None, value=twins))
        run.outcome.files += found.pages
