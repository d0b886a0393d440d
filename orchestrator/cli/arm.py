"""``softdock arm``: the margins that devices would be armed with, before anything is opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.terminal.console import output as console
from orchestrator.cli.terminal.console import print_json, print_table

if TYPE_CHECKING:
    from orchestrator.rig.arming import Arming


def arm(
    target: Annotated[Path, typer.Argument(help="experiment.toml, or its folder")],
    case: Annotated[
        list[str] | None, typer.Option(help="Only this case; may be given several times")
    ] = None,
    dry: Annotated[
        bool, typer.Option("--dry", help="Print the table, and be content with a refusal")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Compute the margins of loops through devices that are commanded; nothing is opened.

    Exit code 2 if one is refused, unless --dry is given.
    """
    from orchestrator.cli.target import experiment_of
    from orchestrator.rig.run.arming import armed, expect_armed
    from orchestrator.study.prepare.run_settings import RunSettings
    from orchestrator.study.prepare.system_reader import SystemReader
    from orchestrator.study.validate import prepared_cases

    experiment, folder = experiment_of(target)
    reader, settings = SystemReader(folder), RunSettings(only=case or ())
    experiment, cases, _ = prepared_cases(experiment, reader, settings)
    found = armed(experiment, cases, reader, settings)
    if json:
        print_json({name: one.as_json() for name, one in found.items()})
    else:
        _print(found)
    if not dry:
        expect_armed(found)


def _print(found: dict[str, Arming]) -> None:
    if not found:
        console.print("no case commands a device", markup=False)
        return
    from orchestrator.rig.run.arming_table import COLUMNS, arming_rows

    rows = [
        [name, *(_shown(cell) for cell in row)]
        for name, one in found.items()
        for row in arming_rows(one)
    ]
    print_table("Arming", ["case", *COLUMNS], rows)
    for name, one in found.items():
        told = (*one.remarks, *([] if one.is_granted else [one.refusal()]))
        for text in told:
            console.print(f"{name}: {text}", markup=False)


def _shown(cell: str | float | None) -> str:
    if cell is None:
        return "-"
    return cell if isinstance(cell, str) else f"{cell:.6g}"
