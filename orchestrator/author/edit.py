"""One edit of a file, checked and written only if all is well; system files edited in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.container import Container
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AbstractTable, InlineTable, SingleKey, Table

from orchestrator.author.ssp_edit.canonical import as_declared
from orchestrator.author.ssp_edit.container import SystemContainer
from orchestrator.author.ssp_edit.document import Document
from orchestrator.author.ssp_edit.values import differing, place_text, values_of
from orchestrator.author.toml_read import ARROW, parse_toml, read_toml
from orchestrator.author.toml_write import Data, data_of, text_of, value_data
from orchestrator.core.diagnostics import DescriptionError, LoadError, SoftdockError
from orchestrator.core.files.plain_data import BYTE_ORDER_MARK
from orchestrator.core.simunits import component_of, resolve
from orchestrator.core.ssp.archive.sources import system_path
from orchestrator.core.structs import replace
from orchestrator.core.system import (
    SEPARATOR,
    SOURCES,
    Component,
    Connection,
    Endpoint,
    Source,
    System,
)

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
    """Write the header of a table and the headers below it again, from the keys."""
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
        self._file = SystemContainer(self._path)
        self._content = self._file.content

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
        target_system = as_declared(system, old, old if base is None else base)
        if not any(component.connectors for component in old.components.values()):
            target_system = _undeclared(target_system)
        try:
            root = tomlkit.parse(self._text)
        except TOMLKitError as error:
            raise LoadError(f"{self._path}: cannot be edited: {error}") from None
        self._bring(self._data(old), self._data(target_system), root, (old, target_system))
        self._take(tomlkit.dumps(root), target_system)

    def rename(self, path: str, name: str) -> None:
        """Give a component or nested system another name, wherever it is named."""
        system = self._system.rename(path, name)
        self._take(renamed(self._text, path, name), system)

    def move(self, path: str, into: str) -> None:
        """Put a component or nested system into another one."""
        self.update(self._system.move(path, into))

    def save(self) -> None:
        """Write the file; a complete draft next to it replaces it."""
        self._file.save(self._content)

    @property
    def _text(self) -> str:
        return self._content.decode().removeprefix(BYTE_ORDER_MARK)

    def _data(self, system: System) -> Data:
        return data_of(system, self._path.parent)

    def _take(self, text: str, expected: System) -> None:
        try:
            system = parse_toml(text, self._path)
        except (LoadError, DescriptionError) as error:
            raise LoadError(f"{self._path}: the edit cannot be made: {error}") from None
        if _sorted(self._data(system)) != _sorted(self._data(expected)):
            raise LoadError(
                f"{self._path}: the edited element is in an included file; change that file"
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
            table, before = here.get(key), old.get(key)
            if not isinstance(value, dict) or not isinstance(before, dict) or table is None:
                here[key] = _item((*path, key), value, inline=isinstance(here, InlineTable))
            elif path and path[-1] == "nested":
                inner = systems[0].systems[key], systems[1].systems[key]
                if "include" in table:
                    _set_in_include(table, inner)
                else:
                    self._bring(before, value, table, inner, (*path, key))
            else:
                self._bring(before, value, table, systems, (*path, key))


def _set_in_include(table: Any, systems: tuple[System, System]) -> None:
    """Set values of an included system in addition to the name of its file."""
    values = values_of(systems[1])
    for path in differing(*systems):
        if path in values:
            if "set" not in table:
                table["set"] = tomlkit.inline_table()
            table["set"][place_text(path)] = _inline(value_data(values[path]))


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
    item: Any = tomlkit.parse(text_of(data) + "\n")
    for key in path:
        item = item[key]
    return item


def _inline(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    table = tomlkit.inline_table()
    for key, element in value.items():
        table[key] = _inline(element)
    return table


def open_document(path: str | Path, variant: str | None = None) -> Document | TomlDocument:
    """Open a .ssd, .ssp or .toml file, or a folder with one, to be edited in place.

    Parameters
    ----------
    path
        File or folder.
    variant
        Name of another .ssd next to the main one, in an archive or a folder.

    Raises
    ------
    LoadError
        If the file or variant is missing or damaged.
    DescriptionError
        If a .toml file is described wrongly.
    """
    path = system_path(Path(path), variant)
    return TomlDocument(path) if path.suffix == ".toml" else Document.open(path, variant)


#: The code of an input without a source or a value.
_OPEN_INPUT = "CON109"


class FileEdit:
    """A file that holds a system, and edits of it.

    An edit may leave inputs open, since a file is made in steps; but nothing that was right may be
    wrong after it. What can be opened of the sources is, so that connectors which the file leaves
    to them are known.

    path: An .ssd, .ssp or .toml file, or a folder with one.
    variant: Of an archive or a folder: name of another .ssd next to the main one.
    inside: Path of the nested system that edits are about; ``""`` is the system itself.
    unchecked: What could not be opened, and why.
    """

    def __init__(self, path: str | Path, variant: str | None = None, inside: str = "") -> None:
        self.document = open_document(path, variant)
        self.inside = inside
        self.unchecked: list[str] = []
        self._base = self._completed(self.document.system)
        self._base.nested(inside)

    @property
    def system(self) -> System:
        """The system that edits are about, completed by its sources."""
        return self._base.nested(self.inside)

    def path(self, name: str) -> str:
        """Return the path from the top of something in the system that edits are about."""
        return f"{self.inside}{SEPARATOR}{name}" if self.inside else name

    def change(self, change: Callable[[System], System]) -> list[str]:
        """Change the system; return the connections that have come and gone, as text."""
        new = self._base.edit(self.inside, change)
        old_problems = {
            diagnostic for error in _problems(self._base) for diagnostic in error.diagnostics
        }
        new_problems = [
            error for error in _problems(new) if not old_problems.issuperset(error.diagnostics)
        ]
        if new_problems:
            raise DescriptionError.collect(new_problems)
        self.document.update(new, self._base)
        before, after = self.system.connections, new.nested(self.inside).connections
        self._base = new
        return _differences(before, after)

    def rename(self, name: str, new: str) -> None:
        """Give a component or nested system another name."""
        self.document.rename(self.path(name), new)
        self._base = self._base.rename(self.path(name), new)

    def move(self, name: str, into: str) -> None:
        """Put a component or nested system into another one."""
        self.document.move(self.path(name), into)
        self._base = self._base.move(self.path(name), into)

    def _completed(self, system: System) -> System:
        """Complete what can be by its sources, and note what cannot."""
        components = {}
        for name, component in system.components.items():
            alone = System(system.name, {name: component})
            try:
                components[name] = resolve(alone, runnable=False).components[name]
            except SoftdockError as error:
                self.unchecked.append(str(error))
                components[name] = component
        systems = {name: self._completed(inner) for name, inner in system.systems.items()}
        return replace(system, components=components, systems=systems)


def _problems(system: System) -> list[DescriptionError]:
    """List what is wrong with a system that is being made."""
    try:
        problems = system.problems(algebraic_loops=True)
    except DescriptionError as error:
        return [error]
    return [error for error in problems if error.diagnostics[0].code != _OPEN_INPUT]


def _differences(before: tuple[Connection, ...], after: tuple[Connection, ...]) -> list[str]:
    came = [f"+ {line}" for line in after if line not in before]
    return [f"- {line}" for line in before if line not in after] + came


def part_of(text: str, like: Component | None = None) -> Component | System:
    """Return what a source on the command line stands for: a component, or a system of a file."""
    if Path(text).suffix in {".toml", ".ssd", ".ssp"}:
        from orchestrator.author.reading import read_system

        return resolve(read_system(text))
    try:
        source = Source.parse(text)
    except DescriptionError:
        raise DescriptionError(
            f"source '{text}': expected a path that ends in .fmu, .toml, .ssd or .ssp, or {SOURCES}"
        ) from None
    name = "component" if like is None else like.name
    return component_of(source.resolved(Path.cwd()), name, like=like)
