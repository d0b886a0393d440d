"""What determines a run, as a hash: equal hashes mean equal results."""

from __future__ import annotations

import sys
from dataclasses import replace
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

from orchestrator.campaign.experiment import Measure
from orchestrator.campaign.targets import Variant
from orchestrator.simunits import block_class
from orchestrator.system import Component, Source, SourceKind

#: Parts of systems that are remembered; a campaign may have millions.
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

    def run(self, variant: Variant) -> str:
        """Hash a run: system, contents of its FMUs and blocks, options, faults, version."""
        system = variant.system
        components = [self._part(component) for component in system.components.values()]
        options = variant.options.model_dump(exclude=_FILES_ONLY)
        return digest(
            self._softdock,
            components,
            self._part(system.connections),
            self._part(system.connectors),
            system.values,
            system.experiment,
            sorted(options.items(), key=lambda item: item[0]),
            variant.case.fault,
        )

    def row(self, runs: dict[str, str], measures: dict[str, Measure]) -> str:
        """Hash a row: its run, the runs it is compared with, and what is read off."""
        return digest(sorted(runs.items()), sorted((k, repr(m)) for k, m in measures.items()))

    def file(self, path: str) -> str:
        """Hash the content of a file."""
        if path not in self._files:
            self._files[path] = digest(Path(path).read_bytes())
        return self._files[path]

    def block(self, name: str) -> str:
        """Hash the Python files of the package that a block is in."""
        top = block_class(name).__module__.partition(".")[0]
        if top not in self._blocks:
            file = getattr(sys.modules.get(top), "__file__", None)
            self._blocks[top] = digest(*_sources(Path(file))) if file else ""
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
        if source.kind is SourceKind.BLOCK:
            if is_playback(component):
                values = {**values, "file": self.file(str(values["file"]))}
            place = f"{source.location} {self.block(source.location)}"
            return replace(component, source=Source(source.kind, place), values=values)
        return component


def is_playback(component: Component) -> bool:
    """Whether it plays a signal of a file back."""
    is_block = component.source.kind is SourceKind.BLOCK
    return is_block and block_class(component.source.location).__module__.endswith(".playback")


def _sources(file: Path) -> list[bytes]:
    if file.name != "__init__.py":
        return [file.read_bytes()]
    return [path.read_bytes() for path in sorted(file.parent.rglob("*.py"))]
