"""Where Modelica classes lie, and sources without the display units that rumoca rejects."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from orchestrator.core.diagnostics import ModelicaError, counted
from orchestrator.core.structs import Struct
from orchestrator.export.modelica.front_end_process import RUMOCA, FrontEndCrash, FrontEndRefusal
from orchestrator.export.modelica.source.text import ModelicaText

_PLACE = re.compile(r"\[input\.mo:(\d+):(\d+)\]")


def first_syntax_error(file: Path) -> str:
    """``file:line:column: message``; empty if there is none. rumoca's own failure tells no line."""
    text = file.read_text(encoding="utf-8", errors="replace")
    try:
        diagnostics = RUMOCA.ask({"checked": text})["found"]
    except (FrontEndCrash, FrontEndRefusal) as error:
        return f"{file}: the front end cannot read it: {error}"
    for diagnostic in diagnostics:
        match = _PLACE.search(diagnostic)
        message = diagnostic.partition("\u00d7")[2].partition("\u256d")[0]
        if match:
            return f"{file}:{match[1]}:{match[2]}: {' '.join(message.split())}"
    return ""


class ClassPlace(Struct):
    """A class, its file, and the folders in which all that it uses is looked for.

    roots: Folders of packages, or packages themselves.
    """

    model: str
    file: Path
    roots: tuple[Path, ...]

    @property
    def files(self) -> tuple[Path, ...]:
        """All ``.mo`` files that may matter, sorted; the siblings of a file that is in no root."""
        paths = {path for root in self.roots for path in root.rglob("*.mo")}
        if self.file not in paths:
            paths |= set(self.file.parent.glob("*.mo"))
        return tuple(sorted(path for path in paths if path.is_file()))  # no links to themselves

    def relative_name(self, file: Path) -> str:
        """A file's name without the place of its root on this machine."""
        for root in self.roots:
            if file.is_relative_to(root):
                return file.relative_to(root.parent).as_posix()
        return file.name

    @property
    def local_name(self) -> str:
        """Name of the class inside its file."""
        within = ModelicaText(self.file).within
        return self.model.removeprefix(f"{within}.") if within else self.model


def place_by_name(model: str, roots: Sequence[Path]) -> ClassPlace:
    """Find a class below the roots: in its own file, or the nearest one of an enclosing class."""
    folders = _folders(model, roots)
    parts = model.split(".")
    for length in range(len(parts), 0, -1):
        for candidate in _candidates(parts[:length], folders):
            # A class inside a file of a package is only plausible if the file mentions it.
            if length == len(parts) or ModelicaText(candidate).lines_of(parts[length]):
                return ClassPlace(model, candidate, folders)
    nearest = _nearest_folder(parts, folders)
    siblings = sorted(path.stem for path in nearest.glob("*.mo"))
    listed = ", ".join(name for name in siblings if name != "package") or "no class at all"
    below = ", ".join(f"'{root}'" for root in folders)
    raise ModelicaError(
        f"model '{model}': no such class below {below}; the nearest existing package '{nearest}'"
        f" holds {listed}"
    )


def place_in_file(file: Path, model: str | None, roots: Sequence[Path]) -> ClassPlace:
    """Find the class that a file is about, and its package from ``within`` and the folders."""
    file = file.resolve()
    text = ModelicaText(file)
    within = f"{text.within}." if text.within else ""
    models = [definition for definition in text.classes if definition.is_model]
    outermost = [definition for definition in text.classes if "." not in definition.name]
    if model is None and len(outermost) == 1 and outermost[0].is_model:
        models = outermost
    if model is not None:
        models = [
            definition
            for definition in models
            if f".{within}{definition.name}".endswith(f".{model}")
        ]
    if len(models) != 1:
        held = [
            f"{within}{definition.name} (line {definition.line})"
            for definition in text.classes
            if definition.is_model
        ]
        listed = f"; it holds {', '.join(held)}" if held else _other_content(text)
        noun = f"model '{model}'" if model else "model"
        number = counted(len(models), noun) if models and not model else f"no {noun}"
        if model and models:
            number = f"{len(models)} models that end in '{model}'"
        raise ModelicaError(
            f"{file}: this file has {number} that can be built{listed}"
            + ("" if model or not held else "; choose one with --model")
        )
    folders = _folders(model or models[0].name, roots)
    package = _outermost_package(file, text) if within else None
    if package and not any(file.is_relative_to(folder) for folder in folders):
        folders = (package, *folders)
    return ClassPlace(within + models[0].name, file, folders)


def _other_content(text: ModelicaText) -> str:
    """What a file without models holds instead."""
    if error := first_syntax_error(text.path):
        return f": {error}"
    others = [
        f"{'partial ' if definition.partial else ''}{definition.word} {definition.name} (line"
        f" {definition.line})"
        for definition in text.classes
    ]
    return f"; it holds {', '.join(others) or 'no class at all'}, expected a model or block"


def _outermost_package(file: Path, text: ModelicaText) -> Path:
    folder = file.parent.parent if file.name == "package.mo" else file.parent
    package_folder = folder
    for name in reversed(text.within.split(".")):
        if folder.name != name or not (folder / "package.mo").is_file():
            raise ModelicaError(
                f"{file}:{text.tokens[0].line}: the file says 'within {text.within}', but"
                f" '{folder}' is not the folder of package '{name}' (expected {name}/package.mo)"
            )
        package_folder, folder = folder, folder.parent
    return package_folder


def _folders(model: str, roots: Sequence[Path]) -> tuple[Path, ...]:
    for root in roots:
        if not root.is_dir():
            raise ModelicaError(
                f"model '{model}': the Modelica root '{root}' is not a folder; expected the folder"
                f" that contains the package '{model.partition('.')[0]}' or one that it uses"
            )
    return tuple(dict.fromkeys(root.resolve() for root in roots))


def _candidates(parts: Sequence[str], roots: Sequence[Path]) -> Iterator[Path]:
    for root in roots:
        base = root.parent if (root / "package.mo").is_file() else root
        path = base.joinpath(*parts)
        for candidate in (path.with_suffix(".mo"), path / "package.mo"):
            if candidate.is_file() and candidate.is_relative_to(root):
                yield candidate


def _nearest_folder(parts: Sequence[str], roots: Sequence[Path]) -> Path:
    lengths = range(len(parts) - 1, -1, -1)
    folders = (root.joinpath(*parts[:length]) for length in lengths for root in roots)
    return next((folder for folder in folders if folder.is_dir()), roots[0])


_LOGGER = logging.getLogger(__name__)
_Made = TypeVar("_Made")
#: rumoca's words about a displayUnit.
REJECTED_UNIT = re.compile(
    r"invalid displayUnit for `(?P<name>[^`]*)`: (?P<why>.*) "
    r"\[(?P<file>[^\[\]\n]+):(?P<line>\d+):(?P<column>\d+)\]"
)
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')


def copied(location: ClassPlace, folder: Path) -> tuple[ClassPlace, dict[str, str]]:
    """Copy all files of a class into a folder, where they may be changed."""
    roots = [folder / str(number) / root.name for number, root in enumerate(location.roots)]
    originals: dict[str, str] = {}
    main = folder / "own" / location.file.name
    for file in location.files:
        target = folder / "own" / file.name
        for root, there in zip(location.roots, roots, strict=True):
            if file.is_relative_to(root):
                target = there / file.relative_to(root)
                break
        if file == location.file:
            main = target
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.read_bytes())
        originals[str(target)] = str(file)
    return ClassPlace(location.model, main, tuple(roots)), originals


def without_display_units(
    make: Callable[[], _Made],
    texts: Callable[[str], str],
    replace: Callable[[str, str], object],
    originals: Mapping[str, str],
    located: Callable[[str, int], str] | None = None,
) -> _Made:
    """Make something of sources, each time without one more displayUnit that was rejected.

    located: Says where a line of a file comes from, if not from there.
    """
    while True:
        try:
            return make()
        except ModelicaError as error:
            match = REJECTED_UNIT.search(str(error))
            if match is None or match["file"] not in originals:
                raise
            text = texts(match["file"])
            blank = _blank(text, int(match["line"]), int(match["column"]))
            if blank == text:
                raise
            replace(match["file"], blank)
            position = f"{originals.get(match['file'], match['file'])}:{match['line']}"
            _LOGGER.warning(
                "%s: the displayUnit of '%s' is left out: %s",
                located(match["file"], int(match["line"])) if located else position,
                match["name"],
                match["why"],
            )


def _blank(text: str, line: int, column: int) -> str:
    """The text with an empty string at a place; everything else stays where it is."""
    lines = text.splitlines(keepends=True)
    row = lines[line - 1] if line <= len(lines) else ""
    match = _TEXT.match(row, column - 1)
    if match is None or not match[1]:
        return text
    room = " " * len(match[1].encode())
    lines[line - 1] = f'{row[: match.start()]}""{room}{row[match.end() :]}'
    return "".join(lines)
