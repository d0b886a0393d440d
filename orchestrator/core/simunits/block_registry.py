"""Classes of Python blocks: those that are registered, and those of files and modules."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import DescriptionError, PluginError
from orchestrator.core.plugin_group import PluginGroup
from orchestrator.core.system import Source, SourceKind
from orchestrator.core.system.packed_code import expect_opened

if TYPE_CHECKING:
    from orchestrator.core.simunits.blocks.block import Block


def _base() -> type[Block]:
    from orchestrator.core.simunits.blocks.block import Block

    return Block


BLOCKS = PluginGroup("softdock.blocks", "block", _base)


def block_names() -> list[str]:
    """Names of all registered blocks (entry points ``softdock.blocks``)."""
    return BLOCKS.names


def block_class(location: str) -> type[Block]:
    """Return the class of a block that is registered, or of a file or module."""
    if ":" in location:
        from orchestrator.core.simunits.blocks.block_place import class_at

        return class_at(location)
    if location.endswith(".py"):
        raise DescriptionError(f"block '{location}': which class? expected block:{location}:CLASS")
    return BLOCKS.class_of(location)


def class_of(source: Source) -> type[Block]:
    """Return the class of a component's source: the one that was given, or that of its location.

    Raises as :func:`block_class`, and UnopenedError if it is code that stays unopened.
    """
    expect_opened(source)
    from orchestrator.core.simunits.blocks.block_place import Given

    given = source.definition
    return given.kind if isinstance(given, Given) else block_class(source.location)


def source_of(kind: type[Block]) -> Source:
    """Return the source that names a class: its entry point, or where it stands."""
    from orchestrator.core.simunits.blocks.block_place import Given, label_of

    for name, entry in BLOCKS.entry_points.items():
        if entry.value.rpartition(":")[2] != kind.__qualname__:
            continue
        with suppress(PluginError):  # of another one, which its user is told
            if BLOCKS.class_of(name) is kind:
                return Source(SourceKind.BLOCK, name)
    return Source(SourceKind.BLOCK, label_of(kind), Given(kind))
