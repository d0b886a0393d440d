"""What determines a run, as a hash: equal hashes mean equal results."""

from __future__ import annotations

import sys
from dataclasses import replace
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

from orchestrator.core.diagnostics import PluginError
from orchestrator.core.simunits import class_of
from orchestrator.core.simunits.blocks.block_file import files_of, is_of_file
from orchestrator.core.system import Component, Source, SourceKind
from orchestrator.study.file.experiment import Measure
from orchestrator.study.prepare.playback import is_playback
from orchestrator.study.prepare.prepared_case import PreparedCase

#: Parts of systems that are remembered; a sweep may have millions.
_REMEMBERED = 4096
#: Options of a run that change its files only.
_FILES_ONLY = {"formats", "flush"}


def digest(*parts: object) -> str:
    """Hash texts and bytes; anything else by what Python prints of it."""
    state = blake2b(digest_size=16)
    for part in parts:
        content = part if isinstance(part, bytes) else str(part).encode()
        state.update(len(content).to_bytes(8, "little") + content)
    return state.hexdigest()


class Fingerprints:
    """Hashes of runs; files are read once."""

    def __init__(self) -> None:
        self._files: dict[str, str] = {}
        self._blocks: dict[str, str] = {}
        self._parts: dict[int, tuple[object, str]] = {}
        self._softdock = version("softdock")

    def run(self, case: PreparedCase) -> str:
        """Hash a run: system, contents of its FMUs and blocks, options, faults, version."""
        system = case.system
        components = [self._part(component) for component in system.components.values()]
        options = case.options.model_dump(exclude=_FILES_ONLY)
        return digest(
            self._softdock,
            components,
            self._part(system.connections),
            self._part(system.connectors),
            system.values,
            system.experiment,
            sorted(options.items(), key=lambda item: item[0]),
            case.case.fault,
        )

    def row(self, runs: dict[str, str], measures: dict[str, Measure]) -> str:
        """Hash a row: its run, the runs it is compared with, and what is read off."""
        return digest(sorted(runs.items()), sorted((k, repr(m)) for k, m in measures.items()))

    def file(self, path: str) -> str:
        """Hash the content of a file."""
        if path not in self._files:
            self._files[path] = digest(Path(path).read_bytes())
        return self._files[path]

    def block(self, source: Source) -> str:
        """Hash the Python files of the package that a block is in; of a file what it imports."""
        module = class_of(source).__module__
        top = module if is_of_file(module) else module.partition(".")[0]
        if top not in self._blocks:
            self._blocks[top] = digest(*_sources(sys.modules[top]))
        return self._blocks[top]

    def _part(self, part: object) -> str:
        """Hash a part of a system, of which most are the same in all variants."""
        if id(part) not in self._parts:
            if len(self._parts) >= _REMEMBERED:
                self._parts.clear()
            said = self._component(part) if isinstance(part, Component) else part
            self._parts[id(part)] = part, digest(said)  # kept, so that its id is not used again
        return self._parts[id(part)][1]

    def _component(self, component: Component) -> Component:
        """Put hashes in the place of what lies elsewhere on every machine."""
        source, values = component.source, component.values
        if source.kind is SourceKind.FMU:
            return replace(component, source=Source(source.kind, self.file(source.location)))
        if source.kind is SourceKind.LOG and source.file is not None:
            return replace(component, source=source.with_file(self.file(str(source.file))))
        if source.kind is SourceKind.TWIN and source.inner is not None:
            inner = self._component(replace(component, source=source.inner))
            twin = Source(source.kind, self.file(str(source.file)))
            said = f"{twin.location} {inner.source.location} {source.seed}"
            return replace(inner, source=Source(source.kind, said))
        if source.kind is SourceKind.BLOCK:
            if is_playback(component):
                values = {**values, "file": self.file(str(values["file"]))}
            file = source.file
            named = source if file is None else source.with_file(file.name)
            place = f"{named.location} {self.block(source)}"
            return replace(component, source=Source(source.kind, place), values=values)
        return component


def _sources(module: ModuleType) -> list[bytes]:
    """Read the files of a module of a file, or of a package with all below its folders."""
    if is_of_file(module.__name__):
        files = files_of(module)
    elif hasattr(module, "__path__"):  # several folders, if it has no __init__.py
        files = [path for folder in module.__path__ for path in sorted(Path(folder).rglob("*.py"))]
    else:
        file = getattr(module, "__file__", None)  # modules made by hand have none
        files = [Path(file)] if file else []
    if not files:
        raise PluginError(
            f"module '{module.__name__}': no Python files of it were found, so no sweep could tell"
            " whether its blocks have changed; put them into a file or a package"
        )
    return [path.read_bytes() for path in files]
