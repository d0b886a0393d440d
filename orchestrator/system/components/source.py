"""Where a component's behaviour comes from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from orchestrator.diagnostics import DescriptionError

#: Sources that are no files of FMUs or systems, for messages.
SOURCES = "block:NAME, block:FILE.py:CLASS, block:MODULE:CLASS, device:NAME?key=value or log:FILE"


class SourceKind(StrEnum):
    """What a component is made from."""

    FMU = "fmu"
    BLOCK = "block"
    SYSTEM = "system"
    DEVICE = "device"
    LOG = "log"


class Backend(StrEnum):
    """What runs an FMU: the engine itself, or another tool, to compare with."""

    NATIVE = "native"
    FMPY = "fmpy"
    PYFMI = "pyfmi"


class Definition(Protocol):
    """What a program gave in place of a name: the class of a block."""

    def location(self) -> str:
        """Return the location by which another process finds it, or raise CapabilityError."""
        ...


@dataclass(frozen=True, slots=True)
class Source:
    """Where a component's behaviour comes from.

    Parameters
    ----------
    kind
        What it is.
    location
        Path of an FMU; name of a registered block, or ``FILE.py:CLASS`` or ``MODULE:CLASS`` of
        one's own; ``NAME?key=value&key=value`` of a device with its settings; path of the file of
        a recording, with ``?component=NAME`` if the component had another name there.
    definition
        The class itself, if a program gave one: then the location only says where it is from.
    packed
        Whether it is Python code that came in an archive, which only a run must execute.
    """

    kind: SourceKind
    location: str
    definition: Definition | None = None
    packed: bool = field(default=False, compare=False)

    @classmethod
    def parse(cls, text: str) -> Source:
        """Read ``"block:NAME"`` (or device, or log), or a path that ends in ``.fmu``.

        A block of one's own is ``"block:FILE.py:CLASS"`` or ``"block:MODULE:CLASS"``.
        """
        kind, colon, location = text.partition(":")
        if colon and kind in {"block", "device", "log"} and location:
            return cls(SourceKind(kind), location)
        if text.endswith(".fmu"):
            return cls(SourceKind.FMU, text)
        raise DescriptionError(
            f"component source '{text}': expected a path that ends in .fmu, or {SOURCES}"
        )

    @property
    def is_measured(self) -> bool:
        """Whether it has no parameters: what it does was measured, or is being measured."""
        return self.kind in {SourceKind.DEVICE, SourceKind.LOG}

    @property
    def file(self) -> Path | None:
        """The FMU, the recording, or the Python file of a block; ``None`` if it is none."""
        if self.kind is SourceKind.FMU:
            return Path(self.location)
        if self.kind is SourceKind.LOG:
            return Path(self.location.partition("?")[0])
        path, colon, _ = self.location.rpartition(":")
        is_file = self.kind is SourceKind.BLOCK and colon and path.endswith(".py")
        return Path(path) if is_file else None

    def with_file(self, path: Path | str) -> Source:
        """Return the source with another path in place of that of its file."""
        if self.kind is SourceKind.FMU:
            return Source(self.kind, str(path))
        if self.kind is SourceKind.LOG:
            _, mark, query = self.location.partition("?")
            return Source(self.kind, f"{path}{mark}{query}")
        location = f"{path}:{self.location.rpartition(':')[2]}"
        return Source(self.kind, location, packed=self.packed)

    @property
    def short(self) -> str:
        """The source without the folder of its file, for people."""
        return str(self if self.file is None else self.with_file(self.file.name))

    def resolved(self, folder: Path) -> Source:
        """Return the source with a relative path taken from ``folder``."""
        file = self.file
        if file is None or self.definition is not None:
            return self
        return self.with_file((folder / file).resolve())

    def named(self) -> Source:
        """Return the source as a file says it, without a class that a program gave.

        Raises
        ------
        CapabilityError
            If nothing but this process knows the class.
        """
        if self.definition is None:
            return self
        return replace(self, location=self.definition.location(), definition=None)

    def __str__(self) -> str:
        return self.location if self.kind is SourceKind.FMU else f"{self.kind}:{self.location}"
