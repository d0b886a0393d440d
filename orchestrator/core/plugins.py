"""Plug-ins: what packages register by entry points of the groups ``softdock.GROUP``.

Nothing of a plug-in is imported before its first use.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, cached_property
from itertools import chain
from time import perf_counter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from orchestrator.core.diagnostics import (
    PluginError,
    SoftdockError,
    UnknownNameError,
    choices_for,
    exits_are_errors,
)
from orchestrator.core.optional_packages import MissingPartError, is_missing_part, missing_package

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint


Kind = TypeVar("Kind")
_LOGGER = logging.getLogger(__name__)
#: An import that takes longer is reported, s.
_LONG_IMPORT_S = 5.0


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
        if listed := _entry_points_of(package):
            entries.setdefault(package_name(package), listed)
    return tuple(chain.from_iterable(entries.values()))


def _entry_points_of(package: Distribution) -> tuple[EntryPoint, ...]:
    """Read the entry points of a package that registers something for Softdock; else none."""
    try:
        if "[softdock." not in (package.read_text("entry_points.txt") or ""):
            return ()
        return tuple(package.entry_points)
    except Exception as error:
        if isinstance(error, UnicodeDecodeError) and b"[softdock." not in error.object:
            return ()
        raise PluginError(
            f"the package {package_name(package)} is damaged: its entry_points.txt cannot be read"
            f" ({error}); install it again or remove it"
        ) from error


def package_name(package: Distribution) -> str:
    """Return name and version of an installed package, or where it is if it has no metadata."""
    if package.read_text("METADATA") or package.read_text("PKG-INFO"):
        return f"{package.name} {package.version}"
    return f"in {package.locate_file('')} without METADATA"


def package_of(entry: EntryPoint) -> str:
    """Return the package that registered an entry point, by name and version."""
    return package_name(entry.dist) if entry.dist is not None else ""


def is_own(entry: EntryPoint) -> bool:
    """Whether Softdock itself registered an entry point."""
    return entry.value.partition(".")[0] in {"orchestrator", "hw_adapters", "python_blocks"}


def described(entry: EntryPoint) -> str:
    """Return an entry point for messages: its object, and the package that registered it."""
    package = package_of(entry)
    return f"{entry.value} of the package {package}" if package else entry.value


@contextmanager
def plugin_errors(title: str, kind: type[SoftdockError] = PluginError) -> Iterator[None]:
    """Turn an error, or an exit, of a plug-in into an error that names it.

    title: Of the plug-in in messages.
    kind: Class of the error that is raised. A SoftdockError is raised unchanged.
    """
    try:
        with exits_are_errors():
            yield
    except SoftdockError:
        raise
    except Exception as error:
        raise kind(f"{title}: {failure(error)}") from error


def failure(error: Exception) -> str:
    """Return what a plug-in raised: the package to install, or class and text of the error."""
    return missing_package(error) or f"{type(error).__name__}: {error}"


class PluginNames:
    """The entry points of a group, by name.

    group: Name of the group, such as ``softdock.blocks``.
    noun: What one of them is called in messages.
    """

    def __init__(self, group: str, noun: str) -> None:
        self._group, self._noun = group, noun

    @cached_property
    def entry_points(self) -> Mapping[str, EntryPoint]:
        """All that are registered, by name; nothing is imported."""
        return {entry.name: entry for entry in registered(self._group)}

    @property
    def names(self) -> list[str]:
        """Names of all that are registered."""
        return sorted(self.entry_points)

    def require_unique(self, name: str) -> None:
        """Raise PluginError if two packages register different things under a name."""
        entries = {e.value: e for e in registered(self._group) if e.name == name}
        if len(entries) > 1:
            listed = " and ".join(sorted(map(described, entries.values())))
            raise PluginError(
                f"two packages register the {self._noun} '{name}': {listed}; remove one"
            )

    def title(self, name: str) -> str:
        """Return what messages call a plug-in: its name, its object and its package."""
        return f"{self._noun} '{name}' ({described(self.entry_point(name))})"

    def loaded(self, name: str) -> Any:
        """Import and return the object of a name, or of ``MODULE:OBJECT``.

        Raises
        ------
        UnknownNameError, PluginError, MissingPartError
            If there is none of that name, or it cannot be imported.
        """
        entry = self.entry_point(name)
        begin = perf_counter()
        try:
            with exits_are_errors():
                loaded = entry.load()
        except Exception as error:
            kind = MissingPartError if is_missing_part(error) else PluginError
            raise kind(
                f"{self.title(name)} cannot be imported: {_import_failure(error, entry)}"
            ) from error
        seconds = perf_counter() - begin
        if seconds > _LONG_IMPORT_S:
            _LOGGER.warning("the import of %s took %.0f s", self.title(name), seconds)
        return loaded

    def entry_point(self, name: str) -> EntryPoint:
        """Return the entry point of a name, or of ``MODULE:OBJECT``; raises as ``loaded``."""
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


def _import_failure(error: Exception, entry: EntryPoint) -> str:
    """Return why an entry point could not be imported."""
    if isinstance(error, AttributeError) and ":" not in entry.value.strip(": "):
        return "its entry point is not of the form MODULE:OBJECT"
    reason = missing_package(error) or str(error) or type(error).__name__
    name = error.name or "" if isinstance(error, ImportError) else ""
    if name.partition(".")[0] == "orchestrator" and not is_missing_part(error):
        from importlib.metadata import version

        reason += f"; it needs another version of Softdock than {version('softdock')}"
    return reason


class PluginGroup(PluginNames, Generic[Kind]):
    """The entry points of a group, each a subclass of one class.

    group, noun: As of :class:`PluginNames`.
    base: Returns the class that they are subclasses of; called when one is loaded.
    """

    def __init__(self, group: str, noun: str, base: Callable[[], type[Kind]]) -> None:
        super().__init__(group, noun)
        self._base = base
        self.class_of = cache(self._class_of)

    def _class_of(self, name: str) -> type[Kind]:
        """Return the class of a name, or of ``MODULE:CLASS``, which is imported."""
        loaded, base = self.loaded(name), self._base()
        if not (isinstance(loaded, type) and issubclass(loaded, base)):
            raise PluginError(f"{self.title(name)}: expected a subclass of {base.__name__}")
        return loaded


class FunctionGroup(PluginNames):
    """The entry points of a group, each a function."""

    def function_of(self, name: str) -> Callable[..., Any]:
        """Return the function of a name, or of ``MODULE:FUNCTION``, which is imported."""
        loaded = self.loaded(name)
        if not callable(loaded):
            raise PluginError(f"{self.title(name)}: expected a function")
        return loaded  # type: ignore[no-any-return]
