"""Plug-ins: what packages register by entry points of the groups ``softdock.GROUP``.

Nothing of a plug-in is imported before it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, cached_property
from itertools import chain
from typing import TYPE_CHECKING, Generic, TypeVar

from orchestrator.core.diagnostics import (
    PluginError,
    UnknownNameError,
    choices_for,
    exits_are_errors,
)
from orchestrator.core.optional_packages import MissingPartError, is_missing_part, missing_package

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


Kind = TypeVar("Kind")


@cache
def registered(group: str) -> tuple[EntryPoint, ...]:
    """Entry points of a group, whose name begins with ``softdock.``."""
    return tuple(entry for entry in _all_registered() if entry.group == group)


@cache
def _all_registered() -> tuple[EntryPoint, ...]:
    """Look through all packages once; of one that is installed twice the first is imported."""
    from importlib.metadata import distributions

    entries: dict[str, tuple[EntryPoint, ...]] = {}
    for package in distributions():
        if "[softdock." in (package.read_text("entry_points.txt") or ""):
            entries.setdefault(package.name, tuple(package.entry_points))
    return tuple(chain.from_iterable(entries.values()))


class PluginGroup(Generic[Kind]):
    """The entry points of a group, each a subclass of one class.

    group: Name of the group, such as ``softdock.blocks``.
    noun: What one of them is called in messages.
    base: Returns the class that they are subclasses of; called when one is loaded.
    """

    def __init__(self, group: str, noun: str, base: Callable[[], type[Kind]]) -> None:
        self._group, self._noun, self._base = group, noun, base
        self.class_of = cache(self._class_of)

    @cached_property
    def entry_points(self) -> Mapping[str, EntryPoint]:
        """All that are registered, by name; nothing is imported."""
        return {entry.name: entry for entry in registered(self._group)}

    def require_unique(self, name: str) -> None:
        """Raise PluginError if two packages register different things under a name."""
        values = sorted({entry.value for entry in registered(self._group) if entry.name == name})
        if len(values) > 1:
            raise PluginError(
                f"two packages register the {self._noun} '{name}': {' and '.join(values)};"
                " remove one"
            )

    @property
    def names(self) -> list[str]:
        """Names of all that are registered."""
        return sorted(self.entry_points)

    def _class_of(self, name: str) -> type[Kind]:
        """Return the class of a name, or of ``MODULE:CLASS``, which is imported."""
        entry = self._entry_point(name)
        title = f"{self._noun} '{name}' ({entry.value})"
        try:
            with exits_are_errors():
                loaded = entry.load()
        except Exception as error:
            reason = missing_package(error) or str(error)
            kind = MissingPartError if is_missing_part(error) else PluginError
            raise kind(f"{title} cannot be imported: {reason}") from error
        base = self._base()
        if not (isinstance(loaded, type) and issubclass(loaded, base)):
            raise PluginError(f"{title}: expected a subclass of {base.__name__}")
        return loaded

    def _entry_point(self, name: str) -> EntryPoint:
        if ":" in name:
            from importlib.metadata import EntryPoint

            return EntryPoint(name, name, self._group)
        entry = self.entry_points.get(name)
        if entry is None:
            raise UnknownNameError(
                f"no {self._noun} '{name}' is registered"
                f"{choices_for(name, self.names, f'registered {self._noun}')}"
            )
        self.require_unique(name)
        return entry
