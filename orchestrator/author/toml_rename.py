"""Names in the text of a system file, changed where they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tomlkit
from tomlkit.container import Container
from tomlkit.items import AbstractTable, SingleKey, Table

from orchestrator.author.toml_entries import ARROW
from orchestrator.core.system import SEPARATOR, Endpoint

_PARTS = ("component", "nested", "bus")


def renamed(text: str, path: str, name: str) -> str:
    """Return the text with another name for a component, nested system or bus.

    Parameters
    ----------
    text
        Of a system file.
    path
        Of what is renamed.
    name
        The new name.
    """
    root = tomlkit.parse(text)
    *above, old = path.split(SEPARATOR)
    folder = [key for part in above for key in ("nested", part)]
    for group in _PARTS:
        for container in _containers(root, [*folder, group]):
            _change(container, lambda key: name if key == old else key)

    def line(key: str) -> str:
        source, arrow, target = key.partition(ARROW)
        return f"{_end(source, old, name)}{arrow}{_end(target, old, name)}"

    for container in _containers(root, [*folder, "connections"]):
        _change(container, line)
    return tomlkit.dumps(root)


def _end(text: str, old: str, new: str) -> str:
    end = Endpoint.of_line(text.strip())
    return f"{new}.{end.connector}" if end.component == old else text


def _containers(container: Container, keys: Sequence[str]) -> Iterator[Container]:
    """All containers that the file has for a table: it may be written in several pieces."""
    if not keys:
        yield container
        return
    for key, item in container.body:
        if key is not None and key.key == keys[0] and isinstance(item, AbstractTable):
            yield from _containers(item.value, keys[1:])


def _change(container: Container, change: Callable[[str], str]) -> None:
    for number, (key, item) in enumerate(container.body):
        if key is None or change(key.key) == key.key:
            continue
        written = key.as_string()
        space = written[len(written.rstrip()) :]
        container.body[number] = (SingleKey(change(key.key), sep=space + key.sep), item)
        _forget_header(item)


def _forget_header(item: Any) -> None:
    """Let the header of a table and those below it be written anew, of the keys."""
    if not isinstance(item, AbstractTable):
        return
    if isinstance(item, Table):
        item.display_name = None
    for _, inner in item.value.body:
        _forget_header(inner)
