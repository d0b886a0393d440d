"""How a command ends: what it says when it fails, and that nobody reads its output any more."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import typer

from orchestrator.core.diagnostics import (
    Diagnostic,
    NeverEngagedError,
    Problem,
    Severity,
    SoftdockError,
)

#: Exit code of a problem that the user can mend.
REFUSED = 2
#: Exit code of a run whose rig was never engaged.
NEVER_ENGAGED = 4
#: Exit code of a run whose expectations were not all kept.
BROKEN = 5
#: Exit code of a run that an operator stopped.
STOPPED = 6
#: Exit code after Ctrl-C.
INTERRUPTED = 130
#: What `--json` prints of each problem.
_FIELDS = ("code", "message", "file", "line", "place", "key", "hint", "context")
#: A command line that cannot be understood; Typer gives only a class that is derived of it a name.
USAGE: type[Exception] = typer.BadParameter.__mro__[1]


def failure(
    code: str, text: str, exit_code: int, problems: Sequence[Problem] = ()
) -> dict[str, Any]:
    """Return what ``--json`` prints of a failure."""
    listed = [
        problem if isinstance(problem, Diagnostic) else Diagnostic(code, Severity.ERROR, problem)
        for problem in problems or [text]
    ]
    problem_rows = [
        {key: diagnostic.as_json()[key] or None for key in _FIELDS} for diagnostic in listed
    ]
    return {
        "error": {"code": code, "message": text, "exit_code": exit_code, "problems": problem_rows}
    }


def fail(
    code: str,
    text: str,
    exit_code: int = REFUSED,
    *,
    data: Mapping[str, Any] | None = None,
    problems: Sequence[Problem] = (),
) -> NoReturn:
    """Say what failed, and end the command."""
    from orchestrator.cli.console import print_error, print_json

    print_error(text)
    if wants_json():
        print_json({**(data or {}), **failure(code, text, exit_code, problems)})
    raise typer.Exit(exit_code)


def fail_with(error: SoftdockError) -> NoReturn:
    """Say what an error says, and end the command."""
    code = NEVER_ENGAGED if isinstance(error, NeverEngagedError) else REFUSED
    fail(type(error).__name__, str(error), code, problems=error.diagnostics)


def fail_usage(error: Any) -> NoReturn:
    """Say how a command line is wrong, as Typer does, and end the command."""
    error.show()
    if wants_json():
        from orchestrator.cli.console import print_json

        print_json(failure("UsageError", error.format_message(), error.exit_code))
    raise typer.Exit(error.exit_code)


def wants_json() -> bool:
    """Whether the command line asks for JSON; it may be one that could not be understood."""
    return "--json" in sys.argv[1:]


#: What a shell shows of a program that such a write has ended.
CLOSED = 128 + 13


class ClosedOutput(Exception):  # noqa: N818 - no error: the reader has seen enough
    """The other end of a pipe was closed."""


def close_output() -> int:
    """Let what is left of the output go nowhere; return the exit code of a closed pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return CLOSED
