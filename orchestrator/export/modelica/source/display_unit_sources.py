"""Sources without the display units that rumoca rejects, since none may stop a build."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export.modelica.source.class_place import ClassPlace

_LOGGER = logging.getLogger(__name__)
_Made = TypeVar("_Made")
_REJECTED = re.compile(
    r"invalid displayUnit for `(?P<name>[^`]*)`: (?P<why>.*) "
    r"\[(?P<file>[^\[\]\n]+):(?P<line>\d+):(?P<column>\d+)\]"
)
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')


def rejects_display_unit(error: ModelicaError) -> bool:
    """Whether a model was rejected for a displayUnit."""
    return _REJECTED.search(str(error)) is not None


def copied(place: ClassPlace, folder: Path) -> tuple[ClassPlace, dict[str, str]]:
    """Copy all files of a class into a folder, where they may be changed."""
    roots = [folder / str(number) / root.name for number, root in enumerate(place.roots)]
    originals: dict[str, str] = {}
    main = folder / "own" / place.file.name
    for file in place.files:
        target = folder / "own" / file.name
        for root, there in zip(place.roots, roots, strict=True):
            if file.is_relative_to(root):
                target = there / file.relative_to(root)
                break
        if file == place.file:
            main = target
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.read_bytes())
        originals[str(target)] = str(file)
    return ClassPlace(place.model, main, tuple(roots)), originals


def without_display_units(
    make: Callable[[], _Made],
    texts: Callable[[str], str],
    replace: Callable[[str, str], None],
    originals: Mapping[str, str],
) -> _Made:
    """Make something of sources, each time without one more displayUnit that was rejected."""
    while True:
        try:
            return make()
        except ModelicaError as error:
            found = _REJECTED.search(str(error))
            if found is None or found["file"] not in originals:
                raise
            text = texts(found["file"])
            blank = _blank(text, int(found["line"]), int(found["column"]))
            if blank == text:
                raise
            replace(found["file"], blank)
            _LOGGER.warning(
                "%s:%s: the displayUnit of '%s' is left out: %s",
                originals.get(found["file"], found["file"]),
                found["line"],
                found["name"],
                found["why"],
            )


def _blank(text: str, line: int, column: int) -> str:
    """The text with an empty string at a place; everything else stays where it is."""
    lines = text.splitlines(keepends=True)
    row = lines[line - 1] if line <= len(lines) else ""
    said = _TEXT.match(row, column - 1)
    if said is None or not said[1]:
        return text
    room = " " * len(said[1].encode())
    lines[line - 1] = f'{row[: said.start()]}""{room}{row[said.end() :]}'
    return "".join(lines)
