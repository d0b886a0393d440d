"""What others register by entry points: classes by name, and what a lower room takes of a wing.

An entry point of the group ``softdock.wings`` is called ``WING.NAME``. Nothing of a wing is
imported before something of it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from orchestrator.core.diagnostics import CapabilityError, PluginError, UnknownNameError, nearest
from orchestrator.core.diagnostics.extras import lacking_package, of_an_extra

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


Kind = TypeVar("Kind")


@cache
def registered(group: str) -> tuple[EntryPoint, ...]:
    """Entry points of a group; all installed packages are looked through once."""
    return tuple(_all_registered().select(group=group))


@cache
def _all_registered() -> Any:
    from importlib.metadata import entry_points  # whose type differs by version of Python

    return entry_points()


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
    def _registered(self) -> tuple[EntryPoint, ...]:
        return tuple(registered(self._group))

    @cached_property
    def entry_points(self) -> Mapping[str, EntryPoint]:
        """All that are registered, by name; nothing is imported."""
        return {entry.name: entry for entry in self._registered}

    def require_one(self, name: str) -> None:
        """Raise PluginError if two packages register different things under a name."""
        values = sorted({entry.value for entry in self._registered if entry.name == name})
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
        entry, told = self._entry_point(name), f"{self._noun} '{name}'"
        try:
            found = entry.load()
        except Exception as error:
            why = lacking_package(error) or str(error)
            raise PluginError(f"{told} ({entry.value}) cannot be imported: {why}") from error
        base = self._base()
        if not (isinstance(found, type) and issubclass(found, base)):
            raise PluginError(f"{told} ({entry.value}): expected a subclass of {base.__name__}")
        return found

    def _entry_point(self, name: str) -> EntryPoint:
        if ":" in name:
            from importlib.metadata import EntryPoint

            return EntryPoint(name, name, self._group)
        entry = self.entry_points.get(name)
        if entry is None:
            raise UnknownNameError(
                f"no {self._noun} '{name}' is registered{nearest(name, self.names)};"
                f" registered: {', '.join(self.names) or 'none'}"
            )
        self.require_one(name)
        return entry


_GROUP = "softdock.wings"


@cache
def of_wing(name: str) -> Any:
    """Return what a wing gives under a name, ``WING.NAME``."""
    for entry in registered(_GROUP):
        if entry.name == name:
            with of_an_extra():
                return entry.load()
    raise CapabilityError(f"nothing is registered as '{name}': install Softdock again")
