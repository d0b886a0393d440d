"""The registered formats of results: a sink is found by the name that ends its files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from orchestrator.core.diagnostics import SoftdockError, UnknownNameError, choices_for
from orchestrator.core.optional_packages import missing_module
from orchestrator.core.plugins import FunctionGroup, plugin_errors

#: Writes a result to a path: whole, or not at all (see :func:`~.whole_folder.whole_file`). A result
#: looks its own writer up, so this file does not know what results are.
Writer = Callable[[Any, Path], None]


SINKS = FunctionGroup("softdock.sinks", "format")


def format_names() -> list[str]:
    """Names of all registered formats (entry points ``softdock.sinks``), which end the files."""
    return SINKS.names


def default_format() -> str:
    """Name what a run is recorded as: ``npz`` where Arrow is not installed."""
    return "npz" if missing_module("pyarrow") else "parquet"


def writer(name: str) -> Writer:
    """Find the writer of a format by name."""
    if name not in SINKS.entry_points:
        raise UnknownNameError(
            f"no format '{name}' for results{choices_for(name, SINKS.names, 'format')}"
        )
    function = SINKS.function_of(name)

    def write(result: Any, path: Path) -> None:
        with plugin_errors(SINKS.title(name), SoftdockError):
            function(result, path)

    return write
