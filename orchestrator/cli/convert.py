"""``softdock convert``: results as other kinds of files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.terminal.console import output as console
from orchestrator.cli.terminal.console import print_warning


def convert(
    source: Annotated[
        Path, typer.Argument(help="A result: .parquet, .npz, .mcap, .csv, .mat, or NAME.partial")
    ],
    target: Annotated[Path, typer.Argument(help="The new file; its ending is its format")],
) -> None:
    """Write a result as another kind of file."""
    from orchestrator.core.recording import read_result, writer
    from orchestrator.core.recording.read import expect_other

    write = writer(target.suffix.removeprefix("."))
    expect_other(source, target)
    result = read_result(source)
    for note in result.notes:
        print_warning(note)
    write(result, target)
    console.print(str(target), markup=False)
