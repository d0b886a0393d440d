"""Twins that an earlier identification left, in the place of a new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.rig.device_units.description import device_facts
from orchestrator.rig.identification.twin_file import TwinFile, read_twin
from orchestrator.rig.tables.identification_table import IdentificationTable
from orchestrator.study.prepare.prepared_case import PreparedCase


def stored_twins(
    table: IdentificationTable,
    folder: Path,
    cases: Mapping[str, PreparedCase],
    wanted: Mapping[str, Sequence[str]],
    results: Sequence[Path],
) -> tuple[dict[str, tuple[TwinFile, ...]], dict[str, tuple[str, ...]]]:
    """Read the twins of commanded devices; those that ``table`` names come first.

    Parameters
    ----------
    table
        May name twin files, by component.
    folder
        What their paths are relative to.
    cases, wanted
        Those that are to be run, and the devices of each, by case.
    results
        Folders of earlier results, in which ``identification/CASE`` may have twins.

    Returns
    -------
    twins, remarks
        Both by case; a remark says from when a twin is, and from where.

    Raises
    ------
    DescriptionError
        If a device has none, or one of another device.
    LoadError
        If one cannot be read.
    """
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
