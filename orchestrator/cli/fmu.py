"""``softdock fmu``: what an FMU says of itself, and whether it keeps its word."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator.cli.terminal.console import output as console
from orchestrator.cli.terminal.console import print_error, print_json, print_table, print_warning
from orchestrator.core.diagnostics import FmuError

app = typer.Typer(help="Inspect and check FMUs of any tool.", no_args_is_help=True)
_STRICT = "Refuse what breaks rules of FMI, also if it does no harm"
_MARKS = {"passed": "pass", "flawed": "warn", "failed": "FAIL", "skipped": "skip"}


@app.command()
def info(
    file: Annotated[Path, typer.Argument(help="An .fmu file")],
    strict: Annotated[bool, typer.Option("--strict", help=_STRICT)] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """List ports, units, capabilities and sizes."""
    from orchestrator.core.simunits.inspection import fmu_info

    facts = fmu_info(file)
    if strict and (wrong := [*facts["faults"], *facts["flaws"]]):
        raise FmuError.in_file(
            file, f"modelDescription.xml breaks rules of FMI: {'; '.join(wrong)}"
        )
    if json:
        print_json(facts)
        return
    sizes = facts["sizes"]
    console.print(f"{facts['model']}: FMI {facts['fmi_version']}", markup=False)
    for label, text in (
        ("description", facts["description"]),
        ("tool", facts["tool"]),
        ("platforms", ", ".join(facts["platforms"]) or "none"),
        ("sources", "yes" if facts["has_sources"] else "no"),
        ("sizes", ", ".join(f"{v} {k.replace('_', ' ')}" for k, v in sizes.items())),
        ("experiment", _pairs({k: v for k, v in facts["experiment"].items() if v is not None})),
    ):
        console.print(f"  {label}: {text}", markup=False)
    for text in facts["faults"]:
        print_error(f"{file}: {text}")
    for text in facts["flaws"]:
        print_warning(f"{file}: {text}")
    for name, capabilities in facts["interfaces"].items():
        shown = ", ".join(key for key, value in capabilities.items() if value is True)
        valued = {k: v for k, v in capabilities.items() if not isinstance(v, bool)}
        console.print(f"  {name}: {_pairs(valued)}{', ' if shown else ''}{shown}", markup=False)
    columns = ["name", "causality", "type", "unit", "start", "min", "max"]
    rows = [[_cell(port, column) for column in columns] for port in facts["ports"]]
    print_table("ports", columns, rows)


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="An .fmu file")],
    timeout: Annotated[float, typer.Option(help="Seconds for the checks of an interface")] = 60.0,
    strict: Annotated[bool, typer.Option("--strict", help=_STRICT)] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Check the description, then call the FMU in another process; exit code 1 on a failure."""
    from orchestrator.core.simunits.inspection import check_fmu

    results = check_fmu(file, timeout=timeout, strict=strict)
    failed = sum(result.outcome == "failed" for result in results)
    if json:
        print_json({"file": str(file), "failed": failed, "checks": [asdict(r) for r in results]})
    else:
        for result in results:
            console.print(
                f"{_MARKS[result.outcome]}  {result.interface}: {result.name}: {result.remark}",
                markup=False,
            )
        console.print(f"{len(results) - failed} of {len(results)} without failure")
    if failed:
        raise typer.Exit(1)


def _pairs(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _cell(port: dict[str, Any], column: str) -> str:
    value = port[column]
    if column == "type" and port["literals"]:
        value = f"{value}({', '.join(port['literals'])})"
    if column == "type" and port["shape"]:
        value = f"{value}{port['shape']}"
    return "" if value is None else str(value)
