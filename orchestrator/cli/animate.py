"""``softdock animate``: draw the animations of an experiment from results that are there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.terminal.console import output as console
from orchestrator.cli.terminal.console import print_json


def animate(
    target: Annotated[Path, typer.Argument(help="experiment.toml, or its folder")],
    results: Annotated[
        Path | None, typer.Option(help="Folder of its results; default: results/NAME")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Draw only this one; may be given several times")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder for the pages; default: beside the results")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Draw animations anew, without running anything."""
    from orchestrator.cli.target import experiment_of, results_name
    from orchestrator.pictures.animations import redraw

    experiment, folder = experiment_of(target)
    where = results or Path("results") / results_name(target, folder)
    paths = redraw(experiment, where, output or where, only or ())
    if json:
        print_json({"files": [str(path) for path in paths]})
        return
    for path in paths:
        console.print(str(path), markup=False)
