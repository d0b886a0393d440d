"""Where a component's behaviour comes from, and which code stays unopened while one only looks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qsl, quote

from orchestrator.core.diagnostics import DescriptionError, PluginError

#: Sources that are no files of FMUs or systems, for messages.
SOURCES = (
    "block:NAME, block:FILE.py:CLASS, block:MODULE:CLASS, device:NAME?key=value, log:FILE or"
    " twin:FILE"
)


class SourceKind(StrEnum):
    """What a component is made from."""

    FMU = "fmu"
    BLOCK = "block"
    SYSTEM = "system"
    DEVICE = "device"
    LOG = "log"
    TWIN = "twin"


#: What stands before the colon of a source that is no FMU.
_PREFIXES = ("block", "device", "log", "twin")
#: Kinds whose location is a path with settings behind it.
_WITH_QUERY = (SourceKind.LOG, SourceKind.TWIN)


def names_fmu(path: str) -> bool:
    """Whether a path may be that of an FMU: by its suffix, in any letters, or without one."""
    file = Path(path)
    return file.suffix.lower() == ".fmu" or not (file.suffix or ":" in file.name)


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
        a recording, with ``?component=NAME`` if the component had another name there; path of the
        file of a twin, with ``?inner=SOURCE``, the FMU or block that it is around, ``seed=N`` of
        its noise, ``physical=RESPONSE,..`` that hardware carries on, and ``clock=own``.
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
        """Read ``"block:NAME"`` (or device, log, twin), or a path that ends in ``.fmu``.

        An FMU without a suffix is a path with a folder, ``./NAME``.

        A block of one's own is ``"block:FILE.py:CLASS"`` or ``"block:MODULE:CLASS"``.
        """
        kind, colon, location = text.partition(":")
        if colon and kind in _PREFIXES and location:
            return cls(SourceKind(kind), location)
        if names_fmu(text) and (Path(text).suffix or "/" in text):
            return cls(SourceKind.FMU, text)
        raise DescriptionError(
            f"component source '{text}': expected a path that ends in .fmu (./NAME where it has no"
            f" suffix), or {SOURCES}"
        )

    @property
    def is_measured(self) -> bool:
        """Whether it has no parameters: what it does was measured, or is being measured."""
        return self.kind in {SourceKind.DEVICE, SourceKind.LOG}

    @property
    def file(self) -> Path | None:
        """The FMU, the recording, the twin, or the Python file of a block; ``None`` for others."""
        if self.kind is SourceKind.FMU:
            return Path(self.location)
        if self.kind in _WITH_QUERY:
            return Path(self.location.partition("?")[0])
        path, colon, _ = self.location.rpartition(":")
        is_file = self.kind is SourceKind.BLOCK and colon and path.endswith(".py")
        return Path(path) if is_file else None

    def with_file(self, path: Path | str) -> Source:
        """Return the source with another path in place of that of its file."""
        if self.kind is SourceKind.FMU:
            return Source(self.kind, str(path))
        if self.kind in _WITH_QUERY:
            _, mark, query = self.location.partition("?")
            return Source(self.kind, f"{path}{mark}{query}")
        location = f"{path}:{self.location.rpartition(':')[2]}"
        return Source(self.kind, location, packed=self.packed)

    @property
    def short(self) -> str:
        """The source without the folder of its file, for people."""
        if self.file is None:
            return str(self)
        file_alone, inner = self.with_file(self.file.name), self.inner
        if inner is None or inner.file is None:
            return str(file_alone)
        return str(file_alone.around(inner.with_file(inner.file.name)))

    def resolved(self, folder: str | Path) -> Source:
        """Return the source with a relative path taken from ``folder``."""
        file = self.file
        if file is None or self.definition is not None:
            return self
        source = self.with_file(Path(folder, file).resolve())
        inner = self.inner
        return source if inner is None else source.around(inner.resolved(folder))

    @property
    def inner(self) -> Source | None:
        """What a twin is around; ``None`` if its location does not say it, and for others.

        Raises
        ------
        DescriptionError
            If what is behind the file's path cannot be read.
        """
        text = self._settings().get("inner") if self.kind is SourceKind.TWIN else None
        if text is None:
            return None
        inner = Source.parse(text)
        if inner.kind not in {SourceKind.FMU, SourceKind.BLOCK}:
            raise DescriptionError(f"{self}: expected an FMU or a block within, found '{inner}'")
        return inner

    @property
    def seed(self) -> int:
        """Of the noise of a twin.

        Raises
        ------
        DescriptionError
            If it is no whole number >= 0.
        """
        text = self._settings().get("seed", "0")
        if not text.isdecimal():
            raise DescriptionError(f"{self}: expected a seed, a whole number >= 0, found '{text}'")
        return int(text)

    @property
    def physical(self) -> tuple[str, ...]:
        """Responses of a twin that hardware carries on: no run reads them, so without transit."""
        text = self._settings().get("physical", "") if self.kind is SourceKind.TWIN else ""
        return tuple(filter(None, text.split(",")))

    @property
    def has_own_clock(self) -> bool:
        """Whether times of a twin are by the device's clock, in place of the computer's.

        Raises
        ------
        DescriptionError
            If another clock is named.
        """
        text = self._settings().get("clock") if self.kind is SourceKind.TWIN else None
        if text not in {None, "own"}:
            raise DescriptionError(f"{self}: expected clock=own, found '{text}'")
        return text == "own"

    def around(self, inner: Source, seed: int | None = None) -> Source:
        """Return a twin around something else, perhaps with another seed."""
        settings = {**self._settings(), "inner": str(inner.without_class())}
        settings["seed"] = str(self.seed if seed is None else seed)
        return self._with_settings(settings)

    def on_rig(self, physical: Iterable[str], *, own_clock: bool) -> Source:
        """Return a twin as it stands in for its device on a rig, in addition to its options."""
        settings = self._settings()
        settings["physical"] = ",".join(dict.fromkeys((*self.physical, *physical)))
        if own_clock:
            settings["clock"] = "own"
        return self._with_settings(settings)

    def _with_settings(self, settings: Mapping[str, str]) -> Source:
        path = self.location.partition("?")[0]
        without = {"seed": "0", "physical": ""}
        query = "&".join(
            f"{key}={quote(text, safe='/:.,')}"
            for key in ("inner", "seed", "physical", "clock")
            if (text := settings.get(key)) is not None and text != without.get(key)
        )
        return replace(self, location=f"{path}?{query}" if query else path)

    def _settings(self) -> dict[str, str]:
        """Return what is behind the path of a twin."""
        _, mark, query = self.location.partition("?")
        try:
            settings = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(mark)))
        except ValueError:
            settings = {"": query}
        if unknown := set(settings) - {"inner", "seed", "physical", "clock"}:
            raise DescriptionError(
                f"{self}: expected twin:FILE?inner=SOURCE&seed=N&physical=RESPONSE&clock=own, found"
                f" {', '.join(map(repr, sorted(unknown)))} behind '?'"
            )
        return settings

    def without_class(self) -> Source:
        """Return the source as a file says it, without a class that a program gave.

        Raises
        ------
        CapabilityError
            If nothing but this process knows the class.
        """
        if self.definition is None:
            return self
        return replace(self, location=self.definition.location(), definition=None)

    def __repr__(self) -> str:
        return f"Source {self}"

    def __str__(self) -> str:
        if self.kind is not SourceKind.FMU:
            return f"{self.kind}:{self.location}"
        path = self.location  # what parse() would not take for a path gets a folder before it
        is_plain = Path(path).suffix and path.partition(":")[0] not in _PREFIXES
        return path if is_plain or "/" in path else f"./{path}"


#: What of the code that files name is not executed: that of archives ("packed"), or "all". The
#: variable of the environment is for a whole program and its processes, and may also be "none".
UNOPENED = "SOFTDOCK_UNOPENED"
_unopened: ContextVar[str] = ContextVar("unopened", default="")


class UnopenedError(PluginError):
    """Code is not executed now."""


@contextmanager
def packed_code_unopened(*, all_code: bool = False) -> Iterator[None]:
    """Execute no Python file of an archive within: its components stay as they are declared.

    With ``all_code`` no ``FILE.py:CLASS`` and no ``MODULE:CLASS`` from anywhere. What the whole
    program has set (:func:`code_chosen`) comes first, but never loosens ``all_code``.
    """
    token = _unopened.set("all" if all_code else "packed")
    try:
        yield
    finally:
        _unopened.reset(token)


@contextmanager
def code_chosen(*, choice: bool | None, looks: bool) -> Iterator[None]:
    """Let a whole program, and the processes that it starts, execute code of files or leave it.

    choice: Whether all code is executed, or none; ``None``: that of archives is left by what only
        looks, unless the environment says otherwise.
    """
    before = os.environ.get(UNOPENED)
    if choice is not None:
        os.environ[UNOPENED] = "none" if choice else "all"
    elif looks and before is None:
        os.environ[UNOPENED] = "packed"
    try:
        yield
    finally:
        os.environ.pop(UNOPENED, None)
        if before is not None:
            os.environ[UNOPENED] = before


def _remaining_text() -> str:
    within, limit = _unopened.get(), os.environ.get(UNOPENED, "")
    if limit not in {"", "none", "packed", "all"}:
        raise DescriptionError(f"{UNOPENED}: expected none, packed or all, found '{limit}'")
    return "all" if within == "all" else limit or within


def stays_unopened(source: Source) -> bool:
    """Whether a source is code, and such code is not executed now."""
    match _remaining_text():
        case "packed":
            return source.packed
        case "all":
            file_name = source.location.partition("?")[0]
            return ":" in file_name and source.kind in {SourceKind.BLOCK, SourceKind.DEVICE}
    return False


def expect_opened(source: Source) -> None:
    """Raise UnopenedError if a source is code that is not executed now."""
    if stays_unopened(source):
        raise UnopenedError(f"{unopened_note(source)}; --code lets a command execute it")


def unopened_note(source: Source) -> str:
    """Say that code was not executed, and what does it."""
    location = " of the archive" if source.packed else ""
    return f"{source.short}{location} was not opened: it is code; softdock run opens it"
