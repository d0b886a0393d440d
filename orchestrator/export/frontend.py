"""From Modelica sources to a flat model, by rumoca."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from orchestrator.errors import ModelicaError
from orchestrator.export.flat_model import FlatModel
from orchestrator.export.source_map import SourceMap
from orchestrator.export.structure_probe import structural_parameters

_PLACE = re.compile(r"\[input\.mo:(\d+):(\d+)\]")


def modelica_files(root: Path) -> tuple[Path, ...]:
    """All ``.mo`` files below a folder, sorted."""
    return tuple(sorted(path for path in root.rglob("*.mo") if path.is_file()))


def class_file(model: str, root: Path) -> Path:
    """File that holds a class: its own, or the nearest one of an enclosing class.

    Raises
    ------
    ModelicaError
        If the folder does not exist or holds nothing of that name.
    """
    if not root.is_dir():
        raise ModelicaError(
            f"model '{model}': the Modelica root '{root}' is not a folder; expected the folder that"
            f" contains the package '{model.partition('.')[0]}'"
        )
    parts = model.split(".")
    for length in range(len(parts), 0, -1):
        place = root.joinpath(*parts[:length])
        for candidate in (place.with_suffix(".mo"), place / "package.mo"):
            # A class inside a package.mo is only plausible if the package file mentions it.
            if candidate.is_file() and (
                length == len(parts) or parts[length] in candidate.read_text(encoding="utf-8")
            ):
                return candidate
    siblings = sorted(path.stem for path in _nearest_folder(parts, root).glob("*.mo"))
    listed = ", ".join(name for name in siblings if name != "package") or "no class at all"
    raise ModelicaError(
        f"model '{model}': no such class below '{root}'; the nearest existing package"
        f" '{_nearest_folder(parts, root)}' holds {listed}"
    )


def _nearest_folder(parts: list[str], root: Path) -> Path:
    for length in range(len(parts) - 1, -1, -1):
        folder = root.joinpath(*parts[:length])
        if folder.is_dir():
            return folder
    return root


def flatten(model: str, root: Path) -> FlatModel:
    """Flatten a class of a package below ``root``.

    Raises
    ------
    ModelicaError
        If the class does not exist or rumoca rejects it.
    """
    path = class_file(model, root)
    session = _session(root)
    loaded = _compile(model, path, lambda: session.load(str(path), model=model), root)
    texts = {str(file.relative_to(root)): _read(file) for file in modelica_files(root)}

    def flatten_with(modification: str) -> Any:
        probe = f"model SoftdockProbe extends {model}({modification}); end SoftdockProbe;"
        return _tree(_compile(model, path, lambda: session.loads(probe, model="SoftdockProbe")))

    return _flat_model(model, loaded, texts, flatten_with)


def flatten_source(model: str, source: str) -> FlatModel:
    """Flatten a class given as text."""
    session = _session(None)
    place = Path("<text>")
    loaded = _compile(model, place, lambda: session.loads(source, model=model))

    def flatten_with(modification: str) -> Any:
        probe = f"{source}\nmodel SoftdockProbe extends {model}({modification}); end SoftdockProbe;"
        return _tree(_compile(model, place, lambda: session.loads(probe, model="SoftdockProbe")))

    return _flat_model(model, loaded, {str(place): source}, flatten_with)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelicaError(f"'{path}' cannot be read as UTF-8 text: {error}") from error


def _session(root: Path | None) -> Any:
    import rumoca

    return rumoca.Session(roots=[str(root)] if root is not None else [])


def _compile(model: str, place: Path, load: Callable[[], Any], root: Path | None = None) -> Any:
    import rumoca

    try:
        return load()
    except rumoca.RumocaError as error:
        text = str(error).strip()
        cause: BaseException = error
        lines = [text, *_syntax_errors(root)] if root is not None else [text]
    except BaseException as error:
        if type(error).__module__ != "pyo3_runtime":
            raise
        # A panic of the Rust code; it is not even an Exception.
        lines, cause = [f"rumoca panicked, which is a fault of rumoca: {error}"], error
    listed = "\n".join(lines).replace("\n", "\n  ")
    raise ModelicaError(
        f"model '{model}' in '{place}' is not valid Modelica, or rumoca {rumoca.version()} cannot"
        f" read it:\n  {listed}"
    ) from cause


def _syntax_errors(root: Path) -> list[str]:
    """``file:line:column: message`` of each file's first syntax error (rumoca tells no line)."""
    import rumoca

    found = []
    for file in modelica_files(root):
        for diagnostic in rumoca.validate_source(_read(file))[:1]:
            place = _PLACE.search(diagnostic.message)
            message = diagnostic.message.partition("\u00d7")[2].partition("\n")[0].strip()
            if place:
                found.append(f"{file}:{place[1]}:{place[2]}: {message}")
    return found


def _tree(loaded: Any) -> Any:
    return loaded.to_dict("flat")


def _flat_model(
    model: str, loaded: Any, texts: dict[str, str], flatten_with: Callable[[str], Any]
) -> FlatModel:
    tree = _tree(loaded)
    if tree["is_partial"]:
        raise ModelicaError(f"model '{model}' is partial; export a class that extends it")
    suspected = frozenset(info.name for info in loaded.parameters if info.kind == "structural")
    structural = structural_parameters(tree, suspected, flatten_with)
    return FlatModel(model, tree, structural, SourceMap(tree, texts))
