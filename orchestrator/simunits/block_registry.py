"""Classes of Python blocks: those that are registered, and those of files and modules."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from orchestrator.diagnostics import DescriptionError, PluginError, UnknownNameError
from orchestrator.system import Source, SourceKind, nearest
from orchestrator.system.packed_code import stays_unopened, unopened_note

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from orchestrator.simunits.blocks.block import Block


@cache
def _entry_points() -> Mapping[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group="softdock.blocks")}


def block_names() -> list[str]:
    """Names of all registered blocks (entry points ``softdock.blocks``)."""
    return sorted(_entry_points())


def block_class(location: str) -> type[Block]:
    """Return the class of a block that is registered, or of a file or module.

    Parameters
    ----------
    location
        A registered name, ``FILE.py:CLASS`` or ``MODULE:CLASS``. A module that is named is
        imported, a file executed.

    Raises
    ------
    UnknownNameError, PluginError
        If there is none of that name, or it cannot be imported.
    """
    if ":" in location:
        from orchestrator.simunits.blocks.block_place import class_at

        return class_at(location)
    if location.endswith(".py"):
        raise DescriptionError(f"block '{location}': which class? expected block:{location}:CLASS")
    return _registered_class(location)


def class_of(source: Source) -> type[Block]:
    """Return the class of a component's source: the one that was given, or that of its location.

    Raises as :func:`block_class`, and PluginError if it is code that stays unopened.
    """
    if stays_unopened(source):
        raise PluginError(unopened_note(source))
    from orchestrator.simunits.blocks.block_place import Given

    given = source.definition
    return given.kind if isinstance(given, Given) else block_class(source.location)


@cache
def _registered_class(name: str) -> type[Block]:
    from orchestrator.simunits.blocks.block import Block

    entry = _entry_points().get(name)
    if entry is None:
        raise UnknownNameError(
            f"no block '{name}' is registered{nearest(name, block_names())};"
            f" registered: {', '.join(block_names()) or 'none'}"
        )
    try:
        kind = entry.load()
    except Exception as error:
        raise PluginError(f"block '{name}' ({entry.value}) cannot be imported: {error}") from error
    if not (isinstance(kind, type) and issubclass(kind, Block)):
        raise PluginError(f"block '{name}' ({entry.value}): expected a subclass of Block")
    return kind


def source_of(kind: type[Block]) -> Source:
    """Return the source that names a class: its entry point, or where it stands."""
    from orchestrator.simunits.blocks.block_place import Given, label_of

    for name, entry in _entry_points().items():
        if entry.value.rpartition(":")[2] != kind.__qualname__:
            continue
        with suppress(PluginError):  # of another one, which its user is told
            if _registered_class(name) is kind:
                return Source(SourceKind.BLOCK, name)
    return Source(SourceKind.BLOCK, label_of(kind), Given(kind))
