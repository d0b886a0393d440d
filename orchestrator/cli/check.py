"""``softdock check``: everything that can be said of a description without running it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.console import output as console
from orchestrator.cli.console import print_json, print_lines
from orchestrator.core.diagnostics import Severity

if TYPE_CHECKING:
    from orchestrator.checks import CheckReport

_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


def check(
    target: Annotated[
        Path | None,
        typer.Argument(
            help="Experiment (.toml), system (.toml, .ssd, .ssp), .ssv, .ssm, .ssb, .fmu, "
            "or a folder"
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
    select: Annotated[
        list[str] | None, typer.Option(help="Report only these codes or prefixes, such as LOO,CON1")
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="Ignore these codes or prefixes")] = None,
    algorithm: Annotated[
        str | None, typer.Option(help="Override the master algorithm of every case")
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(
            help="Communication step, such as '1 ms'; default: that of the case or system"
        ),
    ] = None,
    stop: Annotated[
        str | None,
        typer.Option(help="Stop time, such as '10 s'; default: that of the case or system"),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Treat warnings as errors")] = False,
    explain: Annotated[str | None, typer.Option(help="Explain this code and exit")] = None,
) -> None:
    """Check a system or all cases of an experiment; nothing is run.

    The check runs the Python files and modules that the target uses as blocks. Pass --no-code to
    prevent this.
    """
    from orchestrator.checks import check_target, code_named
    from orchestrator.core.display import errors_only
    from orchestrator.study.experiment import RunOptions

    if explain is not None:
        print_lines(str(code_named(explain)))
        return
    if target is None:
        raise typer.BadParameter("missing argument 'TARGET'")
    options = RunOptions(algorithm=algorithm, step=step, stop=stop)
    selected, unwanted = _codes(select), _codes(ignore)
    with errors_only():  # what they would tell is among the findings
        report = check_target(target, options).selected(selected, unwanted)
    if json:
        print_json(report.as_json(strict=strict))
    else:
        _print(report)
    raise typer.Exit(report.exit_code(strict=strict))


def _codes(texts: list[str] | None) -> list[str]:
    from orchestrator.checks import expect_begin

    parts = (part.strip().upper() for text in texts or () for part in text.split(","))
    codes = [part for part in parts if part]
    for part in codes:
        expect_begin(part)
    return codes


def _print(report: CheckReport) -> None:
    for finding in report.findings:
        location = finding.file if finding.line is None else f"{finding.file}:{finding.line}"
        text = f"{location}: {finding.severity} {finding.code}: {finding.text}"
        console.print(text, markup=False, style=_STYLES[finding.severity])
    for name, extent in report.systems.items():
        loops = "" if extent.loops is None else f", {_counted(extent.loops, 'closed loop')}"
        verdict = _counted(extent.errors, "error") if extent.errors else "ok"
        size = f"{_counted(extent.components, 'component')}, "
        size += f"{_counted(extent.connections, 'connection')}{loops}"
        print_lines(f"{name}: {verdict} ({size})")
    counts = (_counted(report.count(severity), str(severity)) for severity in Severity)
    print_lines(", ".join(counts))


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
