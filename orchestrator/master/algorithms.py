"""The registered master algorithms."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points

from orchestrator.errors import PluginError, UnknownNameError
from orchestrator.system import System

#: Components that exchange at the same moment, group after group.
Groups = tuple[tuple[str, ...], ...]
Algorithm = Callable[[System], Groups]


def algorithm_names() -> list[str]:
    """Names of all registered algorithms (entry points ``softdock.algorithms``)."""
    return sorted(entry.name for entry in entry_points(group="softdock.algorithms"))


def algorithm(name: str) -> Algorithm:
    """Find an algorithm by name."""
    for entry in entry_points(group="softdock.algorithms", name=name):
        try:
            loaded: Algorithm = entry.load()
        except Exception as error:
            raise PluginError(f"algorithm '{name}' cannot be imported: {error}") from error
        return loaded
    raise UnknownNameError(
        f"no algorithm '{name}'; registered: {', '.join(algorithm_names()) or 'none'}"
    )
