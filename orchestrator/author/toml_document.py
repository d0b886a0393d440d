"""A system file that is edited in place: comments and layout stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.container import Container
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AbstractTable, InlineTable, SingleKey, Table

from orchestrator.author.ssp_edit.values import differing, place_text, values_of
from orchestrator.author.toml_data import Data, data_of, value_data
from orchestrator.author.toml_entries import ARROW
from orchestrator.author.toml_read import parse_toml, read_toml
from orchestrator.author.toml_text import text_of
from orchestrator.core.diagnostics import DescriptionError, LoadError
from orchestrator.core.plain_data import BYTE_ORDER_MARK
from orchestrator.core.ssp.common.files import replacing
from orchestrator.core.ssp.write.canonical import as_declared
from orchestrator.core.system import SEPARATOR, Endpoint, System

_PARTS = ("component", "nested", "bus")


def renamed(text: str, path: str, name: str) -> str:
    """Return the text with another name for a component, nested system or bus."""
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


Keys = tuple[str, ...]


class TomlDocument:
    """A system file that is changed in place, as :class:`.ssp_edit.document.Document` does it."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._system = read_toml(self._path)
        self._opened = self._path.read_bytes()
        self._content = self._opened

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @property
    def content(self) -> bytes:
        """Its text with the edits so far."""
        return self._content

    @property
    def system(self) -> System:
        """The system that it holds, with the edits so far."""
        return self._system

    def update(self, system: System, base: System | None = None) -> None:
        """Bring a changed system into the file, by the smallest edits."""
        old = self._system
        wanted = as_declared(system, old, old if base is None else base)
        if not any(component.connectors for component in old.components.values()):
            wanted = _undeclared(wanted)
        try:
            root = tomlkit.parse(self._text)
        except TOMLKitError as error:
            raise LoadError(f"{self._path}: cannot be edited: {error}") from None
        self._bring(self._data(old), self._data(wanted), root, (old, wanted))
        self._take(tomlkit.dumps(root), wanted)

    def rename(self, path: str, name: str) -> None:
        """Give a component or nested system another name, wherever it is named."""
        wanted = self._system.rename(path, name)
        self._take(renamed(self._text, path, name), wanted)

    def move(self, path: str, into: str) -> None:
        """Put a component or nested system into another one."""
        self.update(self._system.move(path, into))

    def save(self) -> None:
        """Write the file; a draft beside it takes its place when it is complete."""
        if self._path.read_bytes() != self._opened:
            raise LoadError(
                f"{self._path}: was changed by something else since it was opened; nothing is"
                " written: open it again"
            )
        if self._content != self._opened:
            with replacing(self._path) as file:
                file.write(self._content)
            self._opened = self._content

    @property
    def _text(self) -> str:
        return self._content.decode().removeprefix(BYTE_ORDER_MARK)

    def _data(self, system: System) -> Data:
        return data_of(system, self._path.parent)

    def _take(self, text: str, wanted: System) -> None:
        try:
            system = parse_toml(text, self._path)
        except (LoadError, DescriptionError) as error:
            raise LoadError(f"{self._path}: the edit cannot be made: {error}") from None
        if _sorted(self._data(system)) != _sorted(self._data(wanted)):
            raise LoadError(
                f"{self._path}: the edit cannot be made: what it is about stands in an included"
                " file; change that file"
            )
        mark = BYTE_ORDER_MARK if self._content.decode().startswith(BYTE_ORDER_MARK) else ""
        self._content, self._system = f"{mark}{text}".encode(), system

    def _bring(
        self, old: Data, new: Data, here: Any, systems: tuple[System, System], path: Keys = ()
    ) -> None:
        """Make a table of the file say what the new data says, where that differs from the old."""
        for key in old.keys() - new.keys():
            if key in here:
                del here[key]
        for key, value in new.items():
            if key in old and old[key] == value:
                continue
            place, before = here.get(key), old.get(key)
            if not isinstance(value, dict) or not isinstance(before, dict) or place is None:
                here[key] = _item((*path, key), value, inline=isinstance(here, InlineTable))
            elif path and path[-1] == "nested":
                inner = systems[0].systems[key], systems[1].systems[key]
                if "include" in place:
                    _set_in_include(place, inner)
                else:
                    self._bring(before, value, place, inner, (*path, key))
            else:
                self._bring(before, value, place, systems, (*path, key))


def _set_in_include(table: Any, systems: tuple[System, System]) -> None:
    """Set values of an included system beside the name of its file."""
    values = values_of(systems[1])
    for place in differing(*systems):
        if place in values:
            if "set" not in table:
                table["set"] = tomlkit.inline_table()
            table["set"][place_text(place)] = _inline(value_data(values[place]))


def _undeclared(system: System) -> System:
    """Leave out the connectors of components, in a file that leaves them to the sources."""
    return replace(
        system,
        components={n: replace(c, connectors={}) for n, c in system.components.items()},
        systems={name: _undeclared(inner) for name, inner in system.systems.items()},
    )


def _sorted(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _sorted(value) for key, value in sorted(data.items())}
    return repr(data)


def _item(path: Keys, value: Any, *, inline: bool) -> Any:
    """Make a value for a file, as a new file would have it at some path."""
    if inline or not isinstance(value, dict):
        return _inline(value)
    data: Any = value
    for key in reversed(path):
        data = {key: data}
    found: Any = tomlkit.parse(text_of(data) + "\n")
    for key in path:
        found = found[key]
    return found


def _inline(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    table = tomlkit.inline_table()
    for key, each in value.items():
        table[key] = _inline(each)
    return table
