"""An SSD that is edited where it stands: what is not changed stays, byte for byte."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from lxml import etree

from orchestrator.errors import SoftdockError, SspError
from orchestrator.ssp import edit_names
from orchestrator.ssp.canonical import as_declared, same_form, written
from orchestrator.ssp.container import Archive, Container, PlainFile
from orchestrator.ssp.edit_tree import bring
from orchestrator.ssp.edit_values import Place as ValuePlace
from orchestrator.ssp.edit_values import ValueEdits, differing, place_text
from orchestrator.ssp.findings import Findings
from orchestrator.ssp.markup import Markup
from orchestrator.ssp.names import MAIN_SSD
from orchestrator.ssp.patch import Patch
from orchestrator.ssp.read import read_into
from orchestrator.ssp.schema import Schema, violations
from orchestrator.ssp.unpacking import variants
from orchestrator.system import System


class Document:
    """An .ssd file, or one in an .ssp archive, that is changed in place.

    Formatting, comments, geometry, metadata and the annotations of others stay as they are; an
    edit changes the text of what it is about. Every edit is read back before it is taken: one that
    does not give the system that was meant is refused, and nothing has changed. Nothing is written
    before :meth:`save`.

    Examples
    --------
    ::

        document = Document.open("docking.ssp")
        document.update(document.system.set("chaser.m", 900.0).disconnect("sheet.force_b"))
        document.rename("sheet", "contact")
        document.save()
    """

    def __init__(self, container: Container) -> None:
        self._container = container
        content = container.content
        self._markup = Markup(content, container.place.label)
        self._content = content
        self._version = "2.0" if self._markup.root.get("version") == "2.0" else "1.0"
        self._system = self._system_of(content)

    @classmethod
    def open(cls, path: str | Path, variant: str | None = None) -> Document:
        """Open an .ssd file, an .ssp archive or a folder with SystemStructure.ssd.

        Parameters
        ----------
        path
            File or folder.
        variant
            Name of another .ssd beside the main one, with or without the suffix.

        Raises
        ------
        SspError
            If there is no such file, or it is refused.
        """
        path = Path(path)
        if path.is_file() and path.suffix.lower() == ".ssp":
            name = _variant(path, variant)
            return cls(Archive(path, name, Path(tempfile.mkdtemp(prefix="softdock-edit-"))))
        if path.is_dir() or variant is not None:
            folder = path if path.is_dir() else path.parent
            path = folder / _variant(folder, variant)
        return cls(PlainFile(path))

    @property
    def path(self) -> Path:
        """The file or archive."""
        return self._container.path

    @property
    def content(self) -> bytes:
        """The text of the .ssd with the edits so far."""
        return self._content

    @property
    def system(self) -> System:
        """The system that it holds, with the edits so far."""
        return self._system

    def update(self, system: System, base: System | None = None) -> None:
        """Bring a changed system into the document, by the smallest edits.

        What a system has no place for stays. Connectors that a component has from its source are
        declared only where they are used.

        Parameters
        ----------
        system
            As it is to be.
        base
            What it was made from; unless told, :attr:`system`. Say it if the change was made to a
            system that was completed by its sources: ``base = resolve(document.system)``.

        Raises
        ------
        SspError
            If something to be changed stands in another file.
        DescriptionError
            If SSP cannot hold the system.
        """
        wanted = as_declared(system, self._system, self._system if base is None else base)
        wanted = self._container.taken_in(wanted)
        old, new = self._written(self._system), self._written(wanted)
        patch = Patch(self._markup)
        try:
            bring(old, new, self._markup.root, patch)
            values = ValueEdits(new, self._markup.root, patch)
            for place in differing(self._system, wanted):
                values.put(place)
            values.finish()
        except SspError as error:
            raise SspError(f"{self._markup.label}: {error}") from None
        self._take(patch, wanted)

    def rename(self, path: str, name: str) -> None:
        """Give a component or nested system another name, wherever it is named.

        Raises
        ------
        SspError
            If it stands in a file of its own, or another file names it.
        DescriptionError
            If there is nothing of that path, or the name is taken.
        """
        wanted = self._system.rename(path, name)
        self._take(self._edit(lambda: edit_names.rename(self._markup, path, name)), wanted)

    def move(self, path: str, into: str) -> None:
        """Put a component or nested system into another one; see :meth:`System.move`."""
        wanted = self._system.move(path, into)
        self._take(self._edit(lambda: edit_names.move(self._markup, path, into)), wanted)

    def save(self) -> None:
        """Write the file: a draft beside it takes its place when it is complete.

        Raises
        ------
        SspError
            If it cannot be written, or was changed by something else since it was opened; then it
            stays as it is.
        """
        self._container.save(self._content)

    def _edit(self, make: Callable[[], Patch]) -> Patch:
        try:
            return make()
        except SspError as error:
            raise SspError(f"{self._markup.label}: {error}") from None

    def _take(self, patch: Patch, wanted: System) -> None:
        """Take the edits if the changed text holds the system that is meant."""
        markup, system = self._markup, self._system
        content = self._content
        if not patch.is_empty:
            content, markup, system = self._read(patch)
        deepest = 1 + max((len(place) for place in differing(system, wanted)), default=0)
        for level in range(deepest):
            left = differing(system, wanted)
            if not left:
                break
            content, markup, system = self._overridden(markup, left, level, wanted)
        self._expect(system, wanted)
        self._content, self._markup, self._system = content, markup, system

    def _overridden(
        self, markup: Markup, places: list[ValuePlace], level: int, wanted: System
    ) -> tuple[bytes, Markup, System]:
        """Set values over those that other files give."""
        patch = Patch(markup)
        values = ValueEdits(self._written(wanted), markup.root, patch)
        try:
            for place in places:
                values.override(place, min(level, len(place) - 1))
        except SspError as error:
            raise SspError(f"{self._markup.label}: {error}") from None
        values.finish()
        return self._read(patch)

    def _read(self, patch: Patch) -> tuple[bytes, Markup, System]:
        label = self._markup.label
        content = patch.result()
        try:
            markup = Markup(content, label)
            known = {text for _, text in self._violations(self._markup)}
            wrong = [text for _, text in self._violations(markup) if text not in known]
            if wrong:
                raise SspError("; ".join(dict.fromkeys(wrong)))
            return content, markup, self._system_of(content)
        except SoftdockError as error:
            raise SspError(f"{label}: the edit cannot be made: {error}") from None

    def _violations(self, markup: Markup) -> list[tuple[int, str]]:
        return violations(markup.root, Schema.DESCRIPTION, self._version)

    def _written(self, system: System) -> etree._Element:
        return written(system, self._container.uri, self._version)

    def _system_of(self, content: bytes) -> System:
        """Read the system; what it has no place for is kept by the document, so is not told."""
        findings = Findings(self._markup.label)
        system = read_into(content, self._container.place, findings)
        if system is None or findings.has_errors:
            findings.close()
            raise SspError(f"{self._markup.label}: cannot be read")
        return system

    def _expect(self, system: System, wanted: System) -> None:
        left = [place_text(place) for place in differing(system, wanted)]
        if left:
            raise SspError(
                f"{self._markup.label}: the edit cannot be made: the value of '{left[0]}' comes"
                " from another file that wins; change that file"
            )
        if not same_form(self._written(system), self._written(wanted)):
            raise SspError(
                f"{self._markup.label}: the edit cannot be made here: what it is about is given in"
                " another way, or in another file; change that file"
            )


def _variant(path: Path, variant: str | None) -> str:
    name = MAIN_SSD if variant is None else variant.removesuffix(".ssd") + ".ssd"
    known = variants(path)
    if name not in known:
        raise SspError(f"{path}: has no '{name}'; it has: {', '.join(known) or 'no .ssd'}")
    return name
