"""Entry point of the ``softdock`` command."""

from __future__ import annotations

import logging
import os
import sys

import typer

from orchestrator.cli import (
    analyze,
    animate,
    build,
    check,
    diff,
    export,
    fmu,
    graph,
    run,
    sweep,
    system,
)
from orchestrator.cli import export_block as block_export
from orchestrator.cli import export_ssp as ssp_export
from orchestrator.cli.console import print_error
from orchestrator.errors import SoftdockError

app = typer.Typer(
    name="softdock",
    help="Co-simulate Modelica plants, Python blocks and every delay between them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("build")(build.build)
app.command("check")(check.check)
app.command("run")(run.run)
app.command("animate")(animate.animate)
app.command("sweep")(sweep.sweep)
app.command("graph")(graph.graph)
app.command("diff")(diff.diff)
app.add_typer(analyze.app, name="analyze")
app.add_typer(fmu.app, name="fmu")
app.add_typer(system.app, name="system")
export.app.command("block")(block_export.block)
export.app.command("ssp")(ssp_export.ssp)
app.add_typer(export.app, name="export")


def main() -> None:
    """Run the command line; a problem that the user can mend ends with exit code 2."""
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", level=logging.WARNING)
    try:
        app()
    except SoftdockError as error:
        print_error(str(error))
        sys.exit(2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        print_error(f"{error.filename or 'file system'}: {error.strerror or error}")
        sys.exit(2)
