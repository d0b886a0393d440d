"""The identification of devices before they are armed, in the cases of an experiment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from orchestrator.core.diagnostics import UnknownNameError, nearest
from orchestrator.rig.arming import Reserve
from orchestrator.rig.identification.twin_file import TwinFile
from orchestrator.rig.identify.excitation_plan import Procedure
from orchestrator.rig.identify.movements import identification_movements, run_movements
from orchestrator.rig.identify.report import write_identification
from orchestrator.rig.identify.runner import identify_case
from orchestrator.rig.identify.stored import stored_twins
from orchestrator.rig.run.arming import commanded
from orchestrator.rig.tables.arming_table import ArmingTable
from orchestrator.rig.tables.identification_table import IdentificationTable
from orchestrator.study import Experiment, Extension, Run, Section
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.prepare.run_settings import RunSettings


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

    Parameters
    ----------
    experiment, folder
        The experiment, and where its file is.
    cases
        Those that are to be run; nothing of them has been opened.
    settings
        Of the run.
    output
        Folder of the experiment; a case's files are in ``identification/CASE``.
    tell
        Told of what is going on, and the share of it that is done.
    announce
        Told in sentences what is going to move.

    Raises
    ------
    UnknownNameError
        If a device is named that no case commands.
    DescriptionError
        If twins are to be those of an earlier run, and there are none.
    SoftdockError
        As :func:`~orchestrator.rig.identify.runner.identify_case`.
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
