"""The registered formats of result files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from orchestrator.core.diagnostics import PluginError, UnknownNameError
from orchestrator.core.diagnostics.extras import lacking, lacking_package
from orchestrator.core.plugin_group import registered
from orchestrator.core.recording.result import Result
from orchestrator.core.system import nearest

#: Writes a result to a path: whole, or not at all (see :func:`~.atomic.whole_file`).
Writer = Callable[[Result, Path], None]


def format_names() -> list[str]:
    """Names of all registered formats (entry points ``softdock.sinks``), which end the files."""
    return sorted(entry.name for entry in registered("softdock.sinks"))


def default_format() -> str:
    """Name what a run is recorded as: ``npz`` where Arrow is not installed."""
    return "npz" if lacking("pyarrow") else "parquet"


def writer(name: str) -> Writer:
    """Find the writer of a format by name."""
    for entry in registered("softdock.sinks"):
        if entry.name != name:
            continue
        try:
            loaded: Writer = entry.load()
        except Exception as error:
            why = lacking_package(error) or error
            raise PluginError(f"format '{name}' cannot be imported: {why}") from error
        return loaded
    raise UnknownNameError(
        f"no format '{name}' for results{nearest(name, format_names())};"
        f" registered: {', '.join(format_names()) or 'none'}"
    )
