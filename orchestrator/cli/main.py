"""Entry point of the ``softdock`` command."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from orchestrator.cli.commands import Commands
from orchestrator.cli.terminal.closed_output import ClosedOutput, close_output
from orchestrator.cli.terminal.failure import (
    INTERRUPTED,
    REFUSED,
    USAGE,
    fail,
    fail_usage,
    fail_with,
)
from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.diagnostics.extras import lacking_package
from orchestrator.core.interruption import interruptible
from orchestrator.core.terminal import log_to_terminal, say_everything


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        from orchestrator.cli.terminal.console import output as console

        console.print(f"softdock {version('softdock')}", markup=False)
        raise typer.Exit


app = typer.Typer(
    name="softdock",
    cls=Commands,
    help="Co-simulate Modelica plants, Python blocks and every delay between them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def softdock(
    version_: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Print the version")
    ] = False,
) -> None:
    """Co-simulate Modelica plants, Python blocks and every delay between them."""


def main() -> None:
    """Run the command line; a problem that the user can mend ends with exit code 2."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # to look for them takes time
    log_to_terminal()
    say_everything()
    try:
        with interruptible():
            code = _run()
            if sys.stdout is not None:  # `>&-` leaves none
                sys.stdout.flush()
            sys.exit(code)
    except (ClosedOutput, BrokenPipeError):
        code = close_output()
    except OSError as error:
        from orchestrator.cli.terminal.console import print_error

        close_output()
        print_error(f"standard output: {error.strerror or error}")
        code = REFUSED
    sys.exit(code)


def _run() -> int:
    """Run the command line; return the exit code."""
    try:
        try:
            return app(standalone_mode=False) or 0
        except SoftdockError as error:
            fail_with(error)
        except ImportError as error:
            if (said := lacking_package(error)) is None:
                raise
            fail("CapabilityError", said)
        except USAGE as error:
            fail_usage(error)
        except typer.Abort:
            fail("Interrupted", "interrupted", INTERRUPTED)
        except OSError as error:
            fail("OSError", f"{error.filename or 'file system'}: {error.strerror or error}")
    except typer.Exit as end:
        return end.exit_code
