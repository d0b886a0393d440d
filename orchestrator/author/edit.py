"""One edit of a file: made, checked against the sources, and written only if all is well."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from orchestrator.author.ssp_edit.document import Document
from orchestrator.author.toml_document import TomlDocument
from orchestrator.core.diagnostics import DescriptionError, SoftdockError
from orchestrator.core.simunits import component_of, resolve
from orchestrator.core.ssp.archive.target import system_path
from orchestrator.core.system import SEPARATOR, SOURCES, Component, Connection, Source, System


def open_document(path: str | Path, variant: str | None = None) -> Document | TomlDocument:
    """Open a .ssd, .ssp or .toml file, or a folder with one, to be edited in place.

    Parameters
    ----------
    path
        File or folder.
    variant
        Of an archive or a folder: name of another .ssd beside the main one.

    Raises
    ------
    LoadError
        If there is no such file or variant, or it is refused.
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

    Parameters
    ----------
    path
        An .ssd, .ssp or .toml file, or a folder with one.
    variant
        Of an archive or a folder: name of another .ssd beside the main one.
    inside
        Path of the nested system that edits are about; ``""`` is the system itself.

    Attributes
    ----------
    unchecked
        What could not be opened, and why.
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
        known = {found for error in _problems(self._base) for found in error.diagnostics}
        wrong = [error for error in _problems(new) if not known.issuperset(error.diagnostics)]
        if wrong:
            raise DescriptionError.collect(wrong)
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
        found = system.problems(algebraic_loops=True)
    except DescriptionError as error:
        return [error]
    return [error for error in found if error.diagnostics[0].code != _OPEN_INPUT]


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
