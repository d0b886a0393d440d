"""What may be missing: what others register by entry points, wings, packages of extras.

An entry point of the group ``softdock.wings`` is called ``WING.NAME``. Nothing of a wing is
imported before something of it is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, cached_property
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from orchestrator.core.diagnostics import (
    CapabilityError,
    PluginError,
    UnknownNameError,
    exits_are_errors,
    nearest,
)

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

    found: dict[str, tuple[EntryPoint, ...]] = {}
    for package in distributions():
        if "[softdock." in (package.read_text("entry_points.txt") or ""):
            found.setdefault(package.name, tuple(package.entry_points))
    return tuple(chain.from_iterable(found.values()))


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

    def require_one(self, name: str) -> None:
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
        entry, told = self._entry_point(name), f"{self._noun} '{name}'"
        try:
            with exits_are_errors():
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


#: Names of packages on PyPI, where the module has another.
_PACKAGES = {"PIL": "pillow", "can": "python-can", "foxglove": "foxglove-sdk"}
_REQUIREMENT = re.compile(r"([\w.-]+)[^;]*;.*extra\s*==\s*['\"]([\w-]+)['\"]")
#: Extras that have what others have, too.
_SUMS = {"all", "docs", "peers", "test"}


def lacking_package(missing: Exception) -> str | None:
    """Say which extra has the package that an error lacks; ``None``: it is about none of ours."""
    if not isinstance(missing, ImportError):
        return None
    return _lacking((missing.name or "").partition(".")[0]) or _in_part(missing)


def _in_part(error: ImportError) -> str | None:
    """Say which package of an extra could not be imported because it is not whole."""
    at = error.__traceback__
    while at is not None:
        module = str(at.tb_frame.f_globals.get("__name__")).partition(".")[0]
        if extra := _extra_of(module):
            package = _PACKAGES.get(module, module)
            return (
                f"the package '{package}' of 'softdock[{extra}]' is installed in part ({error}):"
                f" pip install --force-reinstall {package}"
            )
        at = at.tb_next
    return None


def lacking(module: str) -> str | None:
    """Say which extra has a module, which is not imported; ``None``: it is installed."""
    found = find_spec(module)
    # A folder without its ``__init__.py`` is what a broken installation leaves.
    return None if found is not None and found.origin else _lacking(module)


def _lacking(module: str) -> str | None:
    if (extra := _extra_of(module)) is None:
        return None
    return (
        f"this needs the package '{_PACKAGES.get(module, module)}', which is not installed:"
        f" {install_line(extra)}"
    )


#: What extras add to an installation, in MB; docs/reference/install.md has the table.
_MEGABYTES = {
    "cluster": 43,
    "compiled": 220,
    "cross": 430,
    "fmu": 360,
    "foxglove": 54,
    "mcap": 32,
    "modelica": 360,
    "parquet": 180,
    "pictures": 100,
    "rig": 6,
    "xarray": 20,
}


def install_line(extra: str) -> str:
    """Return the command that installs an extra, with the size of what it installs."""
    return f"pip install 'softdock[{extra}]' ({_MEGABYTES[extra]} MB)"


def _extra_of(module: str) -> str | None:
    from importlib.metadata import requires

    for requirement in requires("softdock") or ():
        found = _REQUIREMENT.match(requirement)
        if found and found[1] == _PACKAGES.get(module, module) and found[2] not in _SUMS:
            return found[2]
    return None


@contextmanager
def of_an_extra() -> Iterator[None]:
    """Import here what may not be installed: a package that is missing is a CapabilityError."""
    try:
        yield
    except ImportError as missing:
        if (said := lacking_package(missing)) is None:
            raise
        raise CapabilityError(said) from missing
