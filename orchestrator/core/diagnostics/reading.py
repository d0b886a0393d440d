"""The boundary around what reads files of others: all that fails in it is an error of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from orchestrator.core.diagnostics.errors import LoadError, SoftdockError

_Given = ParamSpec("_Given")
_Content = TypeVar("_Content")


@contextmanager
def reading(
    file: object, expected: str = "cannot be read", kind: type[LoadError] = LoadError
) -> Iterator[None]:
    """Turn what fails while a file is read into an error that names the file.

    Readers refuse what they foresee by errors of their own, which pass. All else is content that
    no reader foresees: integers beyond 4,300 digits, nesting beyond Python's recursion, headers
    that are no Python. A package that is missing passes as well: it is not the file's fault.

    Parameters
    ----------
    file
        What is read.
    expected
        Begins the message.
    kind
        Of the error.
    """
    try:
        yield
    except (SoftdockError, ImportError):
        raise
    except Exception as error:
        raise kind.in_file(file, f"{expected}: {cause_of(error)}") from error


def reads(
    expected: str = "cannot be read", kind: type[LoadError] = LoadError
) -> Callable[[Callable[_Given, _Content]], Callable[_Given, _Content]]:
    """Put :func:`reading` around a function whose first path, or text of one, is the file."""

    def guarded(read: Callable[_Given, _Content]) -> Callable[_Given, _Content]:
        @wraps(read)
        def guarded_read(*args: _Given.args, **options: _Given.kwargs) -> _Content:
            paths = (
                argument
                for argument in (*args, *options.values())
                if isinstance(argument, (Path, str))
            )
            with reading(next(paths, "content"), expected, kind):
                return read(*args, **options)

        return guarded_read

    return guarded


def cause_of(error: BaseException) -> str:
    """Say what made a reader fail."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, MemoryError):
        return "it needs more memory than there is"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, KeyError):
        return f"it has no {error}"
    text = str(error)
    if "integer string conversion" in text:
        return "it has an integer of more than 4300 digits"
    return text or type(error).__name__
