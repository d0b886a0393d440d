"""An SSD that is edited where it stands: what is not changed stays, byte for byte."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from lxml import etree

from orchestrator.author.ssp_edit import values
from orchestrator.author.ssp_edit.canonical import as_declared, same_form, with_value_types
from orchestrator.author.ssp_edit.container import Archive, SystemContainer
from orchestrator.author.ssp_edit.patch import Markup, Patch
from orchestrator.author.ssp_edit.tree import apply_diff
from orchestrator.author.ssp_edit.values import Place as ValuePlace
from orchestrator.author.ssp_edit.values import ValueEdits, bind, differing, element_at, place_text
from orchestrator.core.diagnostics import SoftdockError, SspError
from orchestrator.core.ssp.archive.sources import file_bytes
from orchestrator.core.ssp.archive.unpacking import ssd_of
from orchestrator.core.ssp.common.codes import Findings
from orchestrator.core.ssp.common.schema import Schema, violations
from orchestrator.core.ssp.read.ssd import read_into
from orchestrator.core.ssp.write.ssd import document
from orchestrator.core.structs import Struct
from orchestrator.core.system import System


class _State(Struct):
    """The text of an .ssd, its tree, and the system that it holds."""

    content: bytes
    markup: Markup
    system: System


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

    def __init__(self, container: SystemContainer) -> None:
        self._container = container
        self._label = container.place.label
        self._trees: list[tuple[System, etree._Element]] = []
        content = container.content
        markup = Markup(content, self._label)
        self._version = "2.0" if markup.root.get("version") == "2.0" else "1.0"
        self._state = _State(content, markup, self._system_of(content))

    @classmethod
    def open(cls, path: str | Path, variant: str | None = None) -> Document:
        """Open an .ssd file, an .ssp archive or a folder with SystemStructure.ssd.

        Parameters
        ----------
        path
            File or folder.
        variant
            Name of another .ssd next to the main one, with or without the suffix.

        Raises
        ------
        SspError
            If there is no such file, or it is refused.
        """
        path, name = ssd_of(Path(path), variant)
        if name:
            return cls(Archive(path, name, Path(tempfile.mkdtemp(prefix="softdock-edit-"))))
        return cls(SystemContainer(path))

    @property
    def path(self) -> Path:
        """The file or archive."""
        return self._container.path

    @property
    def content(self) -> bytes:
        """The text of the .ssd with the edits so far."""
        return self._state.content

    @property
    def system(self) -> System:
        """The system that it holds, with the edits so far."""
        return self._state.system

    def update(self, system: System, base: System | None = None) -> None:
        """Bring a changed system into the document, by the smallest edits.

        What a system has no place for stays. Connectors that a component has from its source are
        declared only where they are used.

        Parameters
        ----------
        system
            The system to write.
        base
            System that it was made from; default: :attr:`system`. Pass it if the change was made to
            a system that was completed by its sources: ``base = resolve(document.system)``.

        Raises
        ------
        SspError
            If something to be changed stands in another file.
        DescriptionError
            If SSP cannot hold the system.
        """
        target_system = as_declared(system, self.system, self.system if base is None else base)
        target_system = self._container.taken_in(target_system)
        typed = with_value_types(target_system, system, self.system)
        self._take(self._brought(self._state, target_system, typed), target_system)

    def rename(self, path: str, name: str) -> None:
        """Give a component or nested system another name, wherever this file names it.

        Values that other files give under the old name are set in this one.

        Raises
        ------
        SspError
            If it stands in a file of its own.
        DescriptionError
            If there is nothing of that path, or the name is taken.
        """
        renamed = self.system.rename(path, name)
        patch = self._labelled_patch(lambda: values.rename(self._state.markup, path, name))
        self._take(self._brought(self._read(patch), renamed), renamed)

    def move(self, path: str, into: str) -> None:
        """Put a component or nested system into another one; see :meth:`System.move`."""
        moved = self.system.move(path, into)
        patch = self._labelled_patch(lambda: values.move(self._state.markup, path, into))
        self._take(self._brought(self._read(patch), moved), moved)

    def link(
        self,
        values: str | Path,
        mapping: str | Path | None = None,
        prefix: str = "",
        inside: str = "",
    ) -> None:
        """Bind a parameter set by a reference to its file, over all values so far.

        Parameters
        ----------
        values
            An .ssv file; an archive takes a copy of it into its ``resources``.
        mapping
            An .ssm file, likewise.
        prefix
            Goes before every name of the set.
        inside
            Path of the system or component that gets the values; ``""`` is the whole.

        Raises
        ------
        SspError
            If a file is missing or not valid, a value does not fit or reaches nothing, or the
            element stands in another file.
        """
        files = [Path(values), *([] if mapping is None else [Path(mapping)])]
        for file in files:
            file_bytes(file)
        element = element_at(self._state.markup.root, tuple(inside.split("/")) if inside else ())
        if element is None:
            raise SspError(f"{self._label}: has no element '{inside}' itself; change that file")
        uris = [self._container.taken_file(file) for file in files]
        patch = Patch(self._state.markup)
        bind(element, uris[0], uris[1] if mapping is not None else None, prefix, patch)
        before, after = (Findings(self._label, strict=True) for _ in range(2))
        read_into(self._state.content, self._container.place, before)
        read_into(patch.result(), self._container.place, after)
        new = [
            diagnostic for diagnostic in after.diagnostics if diagnostic not in before.diagnostics
        ]
        Findings(self._label, new).close()
        self._state = self._read(patch)

    def save(self) -> None:
        """Write the file: a complete draft next to it replaces it.

        Raises
        ------
        SspError
            If it cannot be written, or was changed by something else since it was opened; then it
            stays as it is.
        """
        self._container.save(self._state.content)

    def _labelled_patch(self, make: Callable[[], Patch]) -> Patch:
        try:
            return make()
        except SspError as error:
            raise SspError(f"{self._label}: {error}") from None

    def _brought(self, state: _State, system: System, typed: System | None = None) -> _State:
        """Bring a state to hold another system; ``typed`` knows the connectors of its new values.

        A value that another file gives is overridden, first at its owner, then in the systems
        around it one by one, until what is read is what is wanted.
        """
        levels: dict[ValuePlace, int] = {}
        values = self._written(system if typed is None else typed)
        while True:
            patch = self._labelled_patch(partial(self._patch, state, system, values, levels))
            if patch.is_empty:
                return state
            state_read = self._read(patch)
            remaining = differing(state_read.system, system)
            if not remaining:
                return state_read
            for path in remaining:
                levels[path] = levels.get(path, -1) + 1
                if levels[path] >= len(path):
                    raise SspError(
                        f"{self._label}: the edit cannot be made: the value of"
                        f" '{place_text(path)}' comes from another file that wins; change that"
                        " file"
                    )

    def _patch(
        self, state: _State, system: System, values: etree._Element, levels: dict[ValuePlace, int]
    ) -> Patch:
        patch = Patch(state.markup)
        apply_diff(self._written(state.system), self._written(system), state.markup.root, patch)
        edits = ValueEdits(values, state.markup.root, patch)
        for path in dict.fromkeys([*differing(state.system, system), *levels]):
            if path in levels:
                edits.override(path, levels[path])
            else:
                edits.put(path)
        edits.finish()
        return patch

    def _take(self, state: _State, system: System) -> None:
        """Take a state if it holds the system that is meant."""
        if not same_form(self._written(state.system), self._written(system)):
            raise SspError(
                f"{self._label}: the edited element is defined in another way or in another file;"
                " change that file"
            )
        self._state = state

    def _read(self, patch: Patch) -> _State:
        content = patch.result()
        try:
            markup = Markup(content, self._label)
            old_violations = {text for _, text in self._violations(self._state.markup)}
            new_violations = [
                text for _, text in self._violations(markup) if text not in old_violations
            ]
            if new_violations:
                raise SspError("; ".join(dict.fromkeys(new_violations)))
            return _State(content, markup, self._system_of(content))
        except SoftdockError as error:
            raise SspError(f"{self._label}: the edit cannot be made: {error}") from None

    def _violations(self, markup: Markup) -> list[tuple[int, str]]:
        return violations(markup.root, Schema.DESCRIPTION, self._version)

    def _written(self, system: System) -> etree._Element:
        """Return what Softdock writes of a system; an edit asks for the same ones several times."""
        for written_system, tree in self._trees:
            if written_system is system:
                return tree
        tree = etree.fromstring(document(system, self._container.uri, self._version))
        self._trees = [(system, tree), *self._trees[:3]]
        return tree

    def _system_of(self, content: bytes) -> System:
        """Read the system; what it has no place for is kept by the document, so is not told."""
        findings = Findings(self._label)
        system = read_into(content, self._container.place, findings)
        if system is None or findings.has_errors:
            findings.close()
            raise SspError(f"{self._label}: cannot be read")
        return system
