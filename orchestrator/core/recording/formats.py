"""The registered formats of results: a sink is found by the name that ends its files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from orchestrator.core.diagnostics import (
    PluginError,
    UnknownNameError,
    choices_for,
    exits_are_errors,
)
from orchestrator.core.optional_packages import missing_module, missing_package
from orchestrator.core.plugins import registered

#: Writes a result to a path: whole, or not at all (see :func:`~.whole_folder.whole_file`). A result
#: looks its own writer up, so this file does not know what results are.
Writer = Callable[[Any, Path], None]


def format_names() -> list[str]:
    """Names of all registered formats (entry points ``softdock.sinks``), which end the files."""
    return sorted(entry.name for entry in registered("softdock.sinks"))


def default_format() -> str:
    """Name what a run is recorded as: ``npz`` where Arrow is not installed."""
    return "npz" if missing_module("pyarrow") else "parquet"


def writer(name: str) -> Writer:
    """Find the writer of a format by name."""
    for entry in registered("softdock.sinks"):
        if entry.name != name:
            continue
        try:
            with exits_are_errors():
                loaded: Writer = entry.load()
        except Exception as error:
            reason = missing_package(error) or error
            raise PluginError(f"format '{name}' cannot be imported: {reason}") from error
        return loaded
    raise UnknownNameError(
        f"no format '{name}' for results{choices_for(name, format_names(), 'format')}"
    )
