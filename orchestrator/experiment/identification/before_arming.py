"""The identification of devices before they are armed, in the cases of an experiment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from orchestrator.diagnostics import UnknownNameError, nearest
from orchestrator.experiment.file.experiment import Experiment
from orchestrator.experiment.file.identification_table import IdentificationTable
from orchestrator.experiment.identification.excitation_plan import Procedure
from orchestrator.experiment.identification.report import write_identification
from orchestrator.experiment.identification.runner import identify_case
from orchestrator.experiment.prepare.prepared_case import PreparedCase
from orchestrator.experiment.prepare.run_settings import RunSettings
from orchestrator.experiment.run.arming import commanded
from orchestrator.identification.twin_file import TwinFile


def identified_cases(
    experiment: Experiment,
    folder: Path,
    cases: Mapping[str, PreparedCase],
    settings: RunSettings,
    output: Path,
    tell: Callable[[str, float], None],
) -> tuple[dict[str, tuple[TwinFile, ...]], list[Path]]:
    """Identify the commanded devices of cases, by case, and write twins and a page for each.

    The files are there whatever comes after, a refusal of arming included.

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

    Returns
    -------
    twins, files
        Twins by case, and the files that were written; both empty if nothing asks for it.

    Raises
    ------
    UnknownNameError
        If a device is named that no case commands.
    SoftdockError
        As :func:`~orchestrator.experiment.identification.runner.identify_case`.
    """
    table = experiment.identification
    if table is None:
        return {}, []
    known = {name: commanded(case.system) for name, case in cases.items()}
    _expect_known(table, sorted({device for devices in known.values() for device in devices}))
    chosen = {
        name: tuple(one for one in devices if not table.devices or one in table.devices)
        for name, devices in known.items()
    }
    wanted = {name: devices for name, devices in chosen.items() if devices}
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
            )
        )
        files += write_identification(found, experiment.case[name].title or name, place)
        twins[name] = tuple(device.twin for device in found)
        tell(f"identification for {name}", (done + 1) / len(wanted))
    return twins, files


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
