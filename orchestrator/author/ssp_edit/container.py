"""Where an SSD that is edited lies: a file, or an entry of an archive."""

from __future__ import annotations

import filecmp
import shutil
import weakref
import zipfile
from collections.abc import Mapping
from copy import copy
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from orchestrator.core.diagnostics import FmuError, SspError
from orchestrator.core.files.archive import digest, numbered, open_archive, store_file
from orchestrator.core.ssp import Place
from orchestrator.core.ssp.archive.sources import (
    expect_packable,
    file_bytes,
    file_path,
    packed_block,
    relative_uri,
)
from orchestrator.core.ssp.archive.unpacking import replacing, unpacked
from orchestrator.core.structs import replace
from orchestrator.core.system import Component, SourceKind, System


class SystemContainer:
    """A file that holds a system, by itself.

    path: The file.
    content: The text of the system when it was opened.
    place: Where sources start from.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.content = file_bytes(path)
        self.place = Place(str(path), path.parent)
        self._digest = digest(path)

    def uri(self, component: Component) -> str:
        """Return the file of a component, an FMU or a block's, as the SSD names it."""
        return relative_uri(file_path(component), self.place.folder)

    def taken_in(self, system: System) -> System:
        """Return the system with its sources as the SSD can name them."""
        components = {name: self._with_source(c) for name, c in system.components.items()}
        nested = {name: self.taken_in(inner) for name, inner in system.systems.items()}
        return replace(system, components=components, systems=nested)

    def _with_source(self, component: Component) -> Component:
        return replace(component, source=component.source.without_class())

    def taken_file(self, path: Path) -> str:
        """Return the URI by which the SSD can name a file."""
        return relative_uri(path.resolve(), self.place.folder)

    def save(self, content: bytes) -> None:
        """Write the file with another text, or raise SspError if it is not what it was."""
        try:
            now = digest(self.path)
        except OSError as reason:
            cause = reason.strerror or reason
            raise SspError(f"{self.path}: cannot be read any more: {cause}") from None
        if now != self._digest:
            raise SspError(
                f"{self.path}: was changed by something else since it was opened; nothing is"
                " written: open it again"
            )
        if self._is_changed(content):
            with replacing(self.path) as file:
                self._write(file, content)
            self._digest, self.content = digest(self.path), content

    def _is_changed(self, content: bytes) -> bool:
        return content != self.content

    def _write(self, file: BinaryIO, content: bytes) -> None:
        file.write(content)


class Archive(SystemContainer):
    """An .ssd in an .ssp archive.

    path: The archive.
    name: Of the .ssd.
    folder: An empty folder to unpack to, which goes when the object goes.
    """

    def __init__(self, path: Path, name: str, folder: Path) -> None:
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.path = path
        self._name = name
        self._digest = digest(path)
        unpacked(path, folder)
        self.place = Place(f"{path}:{name}", folder.resolve(), packed=True)
        self.content = file_bytes(folder / name)
        #: Files by their names in the archive, and the name of the file that needs each.
        self._added: dict[str, tuple[Path, str]] = {}

    def taken_file(self, path: Path) -> str:
        """Copy a file that is not in the archive into it, and return its URI."""
        inside = path.resolve()
        if not inside.is_relative_to(self.place.folder):
            inside = self._copied(inside)
        return relative_uri(inside, self.place.folder)

    def _with_source(self, component: Component) -> Component:
        """Copy files that are not in the archive to where they will be in it."""
        component = super()._with_source(component)
        if component.source.file is None:
            expect_packable(component.source)
            return component
        path = file_path(component)
        if path.is_relative_to(self.place.folder):
            return component
        if component.source.kind is SourceKind.BLOCK:
            target = self._taken_in_block(component)
            return replace(component, source=component.source.with_file(target))
        if not path.is_file():
            raise FmuError(f"component '{component.name}': {path}: no such FMU")
        return replace(component, source=component.source.with_file(self._copied(path)))

    def _taken_in_block(self, component: Component) -> Path:
        """Copy the file of a block, and the files it imports from its folder, to a new folder."""
        folder, path = self.place.folder / "resources", file_path(component)
        files = packed_block(component)
        candidates = (folder / name for name in numbered(path.stem))
        target = next(
            candidate
            for candidate in candidates
            if not candidate.exists() or _holds(candidate, files)
        )
        for inside, file in files.items():
            self._copy_to(target / inside, file, needed_by=target / path.name)
        return target / path.name

    def _copied(self, path: Path) -> Path:
        """Copy a file to a name in resources that is free, or of a file that is the same."""
        candidates = (self.place.folder / "resources" / n for n in numbered(path.stem, path.suffix))
        target = next(
            candidate
            for candidate in candidates
            if not candidate.exists() or filecmp.cmp(candidate, path, shallow=False)
        )
        self._copy_to(target, path, needed_by=target)
        return target

    def _copy_to(self, target: Path, path: Path, needed_by: Path) -> None:
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
            name, main = (p.relative_to(self.place.folder).as_posix() for p in (target, needed_by))
            self._added[name] = target, main

    def save(self, content: bytes) -> None:
        """Write the archive with another text, and with the files that it needs."""
        super().save(content)
        self._added = {}

    def _is_changed(self, content: bytes) -> bool:
        return super()._is_changed(content) or bool(self._added)

    def _write(self, file: BinaryIO, content: bytes) -> None:
        """Write the archive: other entries keep their order, time, kind and compression."""
        with (
            open_archive(self.path, SspError) as old,
            zipfile.ZipFile(file, "w") as new,
        ):
            new.comment = old.comment
            for entry in old.infolist():
                if entry.is_dir():
                    new.writestr(copy(entry), b"")
                elif entry.filename == self._name:
                    new.writestr(copy(entry), content, entry.compress_type)
                else:
                    with old.open(entry) as source, new.open(copy(entry), "w") as target:
                        shutil.copyfileobj(source, target)
            for name, (path, needed_by) in self._added.items():
                if quote(needed_by).encode() in content:  # it may be taken away again
                    store_file(new, name, path)
        file.flush()
        with open_archive(Path(file.name), SspError) as archive:  # before it takes its place
            damaged = archive.testzip()
            if damaged is not None or archive.read(self._name) != content:
                raise SspError(f"{self.path}: could not be written; the old file is untouched")


def _holds(folder: Path, files: Mapping[str, Path]) -> bool:
    """Whether a folder has these files and no others."""
    names = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    return names == set(files) and all(
        filecmp.cmp(folder / name, file, shallow=False) for name, file in files.items()
    )
