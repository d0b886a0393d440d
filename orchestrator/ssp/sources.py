"""Where an SSD stands, and the URIs by which it refers to FMUs, blocks and parameter files."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from lxml import etree

from orchestrator.errors import DescriptionError, SspError
from orchestrator.ssp.names import BLOCK_TYPE, FMU_TYPE
from orchestrator.system import Component, Connector, Source, SourceKind

_SUPPORTED = f"supported: type {FMU_TYPE} with a path to an .fmu, {BLOCK_TYPE} with block:NAME"


@dataclass(frozen=True, slots=True)
class Place:
    """Where an SSD stands.

    Parameters
    ----------
    label
        The SSD as the user knows it.
    folder
        The folder that relative sources start from.
    packed
        Whether the folder is an unpacked archive, which nothing may refer out of.
    """

    label: str
    folder: Path
    packed: bool = False

    def file(self, uri: str, *, inside: bool) -> Path:
        """Resolve a URI to a file.

        Parameters
        ----------
        uri
            Relative to the SSD, an absolute path, or ``file:``.
        inside
            Whether it must stay within the SSD's folder; in an archive it always must.

        Raises
        ------
        SspError
            If the URI is of another scheme, escapes, or an archive does not hold the file.
        """
        try:
            parts = urlsplit(uri)
            host = parts.netloc
        except ValueError as reason:
            raise SspError(f"source '{uri}' is not a URI: {reason}") from None
        if parts.scheme not in {"", "file"} or host not in {"", "localhost"}:
            raise SspError(f"source '{uri}': expected a file, relative to the .ssd")
        if parts.query or parts.fragment or not parts.path:
            raise SspError(f"source '{uri}': expected the plain path of a file")
        path = posixpath.normpath(unquote(parts.path))
        if "\0" in path:
            raise SspError(f"source '{uri}': a path cannot hold a null character")
        escapes = posixpath.isabs(path) or path.split("/")[0] == ".."
        if escapes and (inside or self.packed):
            outside = "archive" if self.packed else "folder of the .ssd"
            raise SspError(f"source '{uri}' is outside of the {outside}")
        found = (self.folder / path).resolve()
        if self.packed and not found.is_file():
            raise SspError(f"the archive has no '{path}'; it has: {self._content()}")
        return found

    def _content(self) -> str:
        names = (p.relative_to(self.folder) for p in self.folder.rglob("*") if p.is_file())
        return ", ".join(sorted(name.as_posix() for name in names)) or "nothing"


def read_source(element: etree._Element, place: Place) -> Source:
    """Read type and source of an ssd:Component."""
    kind = element.get("type", FMU_TYPE)
    uri = element.get("source", "")
    if kind == BLOCK_TYPE:
        scheme, colon, name = uri.partition(":")
        if not (colon and scheme == SourceKind.BLOCK and name):
            raise SspError(f"type {kind} with source '{uri}' is not supported; {_SUPPORTED}")
        return Source(SourceKind.BLOCK, unquote(name))
    if kind != FMU_TYPE or not unquote(uri).endswith(".fmu"):
        raise SspError(f"type {kind} with source '{uri}' is not supported; {_SUPPORTED}")
    return Source(SourceKind.FMU, str(place.file(uri, inside=False)))


def fmu_path(component: Component) -> Path:
    """Return the file of an FMU component, absolute and without links."""
    if not component.source.location.endswith(".fmu"):
        raise DescriptionError(
            f"component '{component.name}': expected a path that ends in .fmu,"
            f" found '{component.source.location}'"
        )
    return Path(component.source.location).resolve()


def relative_uri(path: Path, folder: Path) -> str:
    """Return the URI of a file relative to a folder."""
    return quote(Path(os.path.relpath(path, folder.resolve())).as_posix())


def block_uri(component: Component) -> str:
    """Return the source of a block component."""
    return f"{SourceKind.BLOCK}:{quote(component.source.location, safe='')}"


def unknown_end(
    connectors: Mapping[str, Mapping[str, Connector]], component: str, connector: str
) -> str | None:
    """Say what is wrong with the end of a connection, if anything.

    A component that declares no connectors at all takes them from its source later.
    """
    if component not in connectors:
        known = ", ".join(connectors) or "none"
        return f"no component '{component}' (known: {known})"
    declared = connectors[component]
    if declared and connector not in declared:
        return f"component '{component}' has no connector '{connector}'; it has: " + ", ".join(
            declared
        )
    return None
