"""Where an SSD stands, the URIs by which it refers to files, and what its sources have."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from lxml import etree

from orchestrator.core.diagnostics import DescriptionError, LoadError, SoftdockError, SspError
from orchestrator.core.files.archive import MOST_XML_BYTES, open_archive, read_entry
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.codes import refusal
from orchestrator.core.ssp.common.names import (
    BLOCK_TYPE,
    DEFINITION_TYPE,
    DEVICE_TYPE,
    FMU_TYPE,
    LOG_TYPE,
    MAIN_SSD,
    PACKAGE_TYPE,
    TWIN_TYPE,
)
from orchestrator.core.structs import Struct
from orchestrator.core.system import Component, Connection, Connector, Source, SourceKind
from orchestrator.core.system.source import names_fmu

_SUPPORTED = (
    f"supported: type {FMU_TYPE} with a path to an .fmu, {DEFINITION_TYPE}, {PACKAGE_TYPE},"
    f" {BLOCK_TYPE} with block:NAME, block:FILE.py:CLASS or block:MODULE:CLASS"
)
_OWN = {
    BLOCK_TYPE: SourceKind.BLOCK,
    DEVICE_TYPE: SourceKind.DEVICE,
    LOG_TYPE: SourceKind.LOG,
    TWIN_TYPE: SourceKind.TWIN,
}
_OWN_TYPES = {kind: mime for mime, kind in _OWN.items()}


def file_bytes(path: Path) -> bytes:
    """Read a file of at most 256 MiB, or raise RefusalError."""
    try:
        if path.stat().st_size > MOST_XML_BYTES:
            raise refusal(codes.LIMIT, f"is larger than {MOST_XML_BYTES} bytes", file=str(path))
        return path.read_bytes()
    except (OSError, ValueError) as reason:
        text = getattr(reason, "strerror", None) or reason
        raise refusal(codes.UNREADABLE, f"cannot be read: {text}", file=str(path)) from None


class Place(Struct):
    """Where an SSD stands.

    label: The SSD as the user knows it.
    folder: The folder that relative sources start from.
    packed: Whether it is in an unpacked archive, which nothing may refer out of.
    root: Folder of that archive, if it is not ``folder``.
    """

    label: str
    folder: Path
    packed: bool = False
    root: Path | None = None

    def file(self, uri: str, *, inside: bool) -> Path:
        """Resolve a URI to a file."""
        path = path_of(uri)
        resolved = (self.folder / path).resolve()
        border = (self.root or self.folder) if self.packed else self.folder
        if (inside or self.packed) and not resolved.is_relative_to(border.resolve()):
            outside = "archive" if self.packed else "folder of the .ssd"
            raise refusal(codes.URI, f"source '{uri}' is outside of the {outside}")
        if self.packed and not resolved.is_file():
            raise refusal(
                codes.UNREADABLE, f"the archive has no '{path}'; it has: {self._content()}"
            )
        return resolved

    def file_name(self, source: str, path: Path) -> str:
        """Say what a file is called that a source of this place leads to."""
        return f"{self.label} ({source})" if self.packed else str(path)

    def _content(self) -> str:
        folder = self.root or self.folder
        names = (p.relative_to(folder) for p in folder.rglob("*") if p.is_file())
        listed = sorted(name.as_posix() for name in names)
        more = f" and {len(listed) - 20} more" if len(listed) > 20 else ""
        return (", ".join(listed[:20]) or "nothing") + more


def path_of(uri: str) -> str:
    """Return the path of a URI of a file, normalised."""
    try:
        parts = urlsplit(uri)
        host = parts.netloc
    except ValueError as reason:
        raise refusal(codes.URI, f"source '{uri}' is not a URI: {reason}") from None
    if parts.scheme not in {"", "file"} or host not in {"", "localhost"}:
        raise refusal(
            codes.SCHEME, f"source '{uri}' is not supported: expected a file, relative to the .ssd"
        )
    if parts.query or parts.fragment or not parts.path:
        raise refusal(codes.URI, f"source '{uri}': expected the plain path of a file")
    path = posixpath.normpath(unquote(parts.path))
    if "\0" in path:
        raise refusal(codes.URI, f"source '{uri}': a path cannot hold a null character")
    return path


def inside_of(container: Path, uri: str) -> bytes:
    """Read what a URI says that starts from inside of an FMU or an archive."""
    path = path_of(uri)
    if posixpath.isabs(path) or path.split("/")[0] == "..":
        raise refusal(codes.URI, f"source '{uri}' is outside of {container}")
    with open_archive(container, SspError) as archive:
        return read_entry(container, archive, path, SspError)


def read_source(element: etree._Element, location: Place) -> Source:
    """Read type and source of an ssd:Component that is no system."""
    kind = element.get("type", FMU_TYPE)
    uri = element.get("source", "")
    if kind in _OWN:
        scheme, colon, name = uri.partition(":")
        if colon and scheme == _OWN[kind] and name:
            source = Source(_OWN[kind], unquote(name))
            if source.file is None:
                if location.packed:
                    expect_packable(source)
                return source
            has_query = source.kind in {SourceKind.LOG, SourceKind.TWIN}
            path = name.partition("?")[0] if has_query else name.rpartition(":")[0]
            file = location.file(path, inside=False)
            source = source.with_file(file)
            if source.inner is not None:
                source = source.around(source.inner.resolved(location.folder))
            return replace(source, packed=location.packed)
    elif kind == FMU_TYPE and uri and names_fmu(unquote(uri)):
        return Source(SourceKind.FMU, str(location.file(uri, inside=False)))
    raise refusal(
        codes.COMPONENT_TYPE, f"type {kind} with source '{uri}' is not supported; {_SUPPORTED}"
    )


def expect_packable(source: Source) -> None:
    """Refuse a block of a module, which is whatever Python finds where the archive is read."""
    if source.kind is SourceKind.BLOCK and source.file is None and ":" in source.location:
        raise refusal(
            codes.URI,
            f"source '{source}' is a module outside of the archive: an archive holds the code of"
            " its blocks; pack the file, block:FILE.py:CLASS, or register the block, block:NAME",
        )


def file_path(component: Component) -> Path:
    """Return the file of a component, an FMU or a block's, absolute and without links."""
    source = component.source.without_class()
    is_fmu = source.kind is SourceKind.FMU
    if source.file is None or (is_fmu and not names_fmu(source.location)):
        raise DescriptionError(
            f"component '{component.name}': expected a path that ends in .fmu,"
            f" found '{source.location}'"
        )
    return source.file.resolve()


def packed_block(component: Component) -> dict[str, Path]:
    """Return the files that go into an archive with a block, by their paths in a folder.

    The file itself, and files of its folder that it imports: an archive must hold what it runs.
    """
    from orchestrator.core.simunits import files_at  # heavy, and seldom wanted

    folder = file_path(component).parent
    files = files_at(component.source.without_class())
    return {file.relative_to(folder).as_posix(): file for file in files}


def relative_uri(path: Path, folder: Path) -> str:
    """Return the URI of a file relative to a folder."""
    try:
        return quote(Path(os.path.relpath(path, folder.resolve())).as_posix())
    except ValueError:  # of Windows
        raise SspError.in_file(
            path, f"lies on another drive than {folder}; an .ssd names files of its own drive"
        ) from None


def own_source(source: Source, file_uri: str | None) -> tuple[str, str]:
    """Return MIME type and URI of a source that is ours: a block, a device, a log, a twin."""
    if source.kind in {SourceKind.LOG, SourceKind.TWIN}:
        _, mark, query = source.location.partition("?")
        return _OWN_TYPES[source.kind], f"{source.kind}:{file_uri}{mark}{quote(query, safe='=&:/')}"
    module, colon, name = source.location.rpartition(":")
    head = f"{quote(module, safe='')}{colon}" if file_uri is None else f"{file_uri}:"
    return _OWN_TYPES[source.kind], f"{source.kind}:{head}{quote(name, safe='')}"


EXPERIMENT_FILE = "experiment.toml"
SYSTEM_FILE = "system.toml"
#: What a folder stands for; the first that is there.
_STANDS_FOR = (EXPERIMENT_FILE, MAIN_SSD, SYSTEM_FILE)


def main_file(target: Path) -> Path:
    """Return the file of a target: itself, or that of a folder.

    A folder stands for the ``experiment.toml`` in it, else for its ``SystemStructure.ssd``, else
    for its ``system.toml``.
    """
    if target.is_dir():
        candidate = next((target / name for name in _STANDS_FOR if (target / name).is_file()), None)
        if candidate is None:
            *others, last = _STANDS_FOR
            raise LoadError.in_file(target, f"expected {', '.join(others)} or {last} in it")
        return candidate
    if not target.is_file():
        raise LoadError.in_file(target, "no such file or folder")
    return target


def system_path(path: Path, variant: str | None) -> Path:
    """Return the .toml, .ssd or .ssp file of a path, or a folder that has an .ssd.

    A folder stands for its ``SystemStructure.ssd`` or another variant, else for its
    ``system.toml``.
    """
    if path.is_dir() and variant is None and not (path / MAIN_SSD).is_file():
        inside = path / SYSTEM_FILE
        path = inside if inside.is_file() else path
    if path.suffix == ".toml":
        if variant is not None:
            raise LoadError.in_file(path, f"a .toml file has no variants, found '{variant}'")
    elif path.is_file() and path.suffix.lower() not in {".ssd", ".ssp"}:
        raise LoadError.in_file(path, "expected a .toml, .ssd or .ssp file, or a folder with one")
    return path


def interface_of(source: Source) -> Mapping[str, Connector] | None:
    """Return the connectors that a component's source has; ``None`` if it cannot be opened.

    Resolving the system reports why it cannot.
    """
    if source.kind not in {SourceKind.FMU, SourceKind.BLOCK}:
        return None
    from orchestrator.core.simunits import component_of  # heavy, and seldom wanted

    try:
        return component_of(source, runnable=False).connectors
    except SoftdockError:
        return None


def with_connected(
    components: Mapping[str, Component], lines: Iterable[Connection]
) -> dict[str, Component]:
    """Return components with the connectors that connections end at, where the source has them.

    One that declares none at all gets all of them when it is resolved, and is left as it is.
    """
    completed = dict(components)
    for end in (end for line in lines for end in line.ends):
        component = completed.get(end.component)
        if component is None or not component.connectors or end.connector in component.connectors:
            continue
        connector = (interface_of(component.source) or {}).get(end.connector)
        if connector is not None:
            plain = replace(connector, start=None, description="")
            connectors = {**component.connectors, end.connector: plain}
            completed[end.component] = replace(component, connectors=connectors)
    return completed
