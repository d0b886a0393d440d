"""From Modelica sources to a flat model, by rumoca."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from orchestrator.diagnostics import ModelicaError
from orchestrator.export.modelica.flat.model import FlatModel
from orchestrator.export.modelica.flat.structure_probe import structural_parameters
from orchestrator.export.modelica.modification_check import check_modifications
from orchestrator.export.modelica.source.class_library import ClassLibrary
from orchestrator.export.modelica.source.class_place import ClassPlace, place_by_name
from orchestrator.export.modelica.source.display_unit_sources import (
    copied,
    rejects_display_unit,
    without_display_units,
)
from orchestrator.export.modelica.source.input_events import (
    rejects_input_event,
    with_copied_inputs,
)
from orchestrator.export.modelica.source.source_map import SourceMap
from orchestrator.export.modelica.source.syntax_error import first_syntax_error
from orchestrator.export.modelica.source.text import ModelicaText

_LOGGER = logging.getLogger(__name__)
_QUOTED = re.compile(r"['`]([A-Za-z_][\w.]*)['`]")
_PLACED = re.compile(r"\.mo:\d+")
_UNBALANCED = re.compile(r"unbalanced model: (\d+) equations, (\d+) unknowns")
_INPUT = "input.mo"  # rumoca's name of a text that came from no file
_PROBE = "SoftdockProbe"
_VARIABLE = re.compile(r"[\w.\[\],:]+")
#: Calls that rumoca refuses without saying where, and what to write.
_CALLS = re.compile(r"\b(change|edge|der)\(\.\.\.\) must")
_INSTEAD = {
    "change": "it takes variables of the model only: for an input u declare Integer v = u, or"
    " one of its type, and write change(v)",
    "edge": "it takes variables of the model only: for an input u declare Boolean v = u and write"
    " edge(v)",
    "der": "it takes one variable: for an expression declare Real v = expression and write der(v)",
}
_SHOWN = 3  # places of one name in a message


@dataclass(frozen=True, slots=True)
class _Source:
    """How rumoca gets at a model: ``load`` it, or a class that extends it (``loads``)."""

    model: str
    title: str
    load: Callable[[], Any]
    load_probe: Callable[[str], Any]
    files: tuple[Path, ...]
    renamed: dict[str, str]


def flatten_place(place: ClassPlace) -> FlatModel:
    """Flatten a class.

    Raises
    ------
    ModelicaError
        If rumoca rejects it.
    """
    try:
        return _flatten(_source_of(place, {}))
    except ModelicaError as error:
        if not rejects_display_unit(error) and not rejects_input_event(error):
            raise
        rejected = error
    with TemporaryDirectory(prefix="softdock-") as folder:
        there, originals = copied(place, Path(folder))
        if rejects_input_event(rejected):
            text = there.file.read_text(encoding="utf-8")
            if (changed := with_copied_inputs(text, there.local_name)) == text:
                raise rejected
            _write(there.file, changed)
        return without_display_units(
            lambda: _flatten(_source_of(there, originals)),
            lambda file: Path(file).read_text(encoding="utf-8"),
            lambda file, text: _write(Path(file), text),
            originals,
        )


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")


def _source_of(place: ClassPlace, originals: dict[str, str]) -> _Source:
    import rumoca

    session = rumoca.Session(roots=[str(root) for root in place.roots])
    return _Source(
        place.model,
        f"'{place.model}' in '{originals.get(str(place.file), place.file)}'",
        lambda: session.load(str(place.file), model=place.model),
        lambda probe: session.loads(probe, model=_PROBE),
        (place.file, *(file for file in place.files if file != place.file)),
        originals,
    )


def flatten(model: str, *roots: Path) -> FlatModel:
    """Flatten a class of a package below the roots, by its qualified name."""
    return flatten_place(place_by_name(model, roots))


def flatten_source(model: str, source: str) -> FlatModel:
    """Flatten a class given as text."""
    texts = {_INPUT: source}
    return without_display_units(
        lambda: _flatten(_source_of_text(model, texts[_INPUT])),
        texts.__getitem__,
        texts.__setitem__,
        {_INPUT: "<text>"},
    )


def _source_of_text(model: str, source: str) -> _Source:
    import rumoca

    session = rumoca.Session(roots=[])
    return _Source(
        model,
        f"'{model}'",
        lambda: session.loads(source, model=model),
        lambda probe: session.loads(f"{source}\n{probe}", model=_PROBE),
        (),
        {_INPUT: "<text>"},
    )


def _flatten(source: _Source) -> FlatModel:
    try:
        loaded = _compile(source, source.load)
    except ModelicaError as error:
        counted = _UNBALANCED.search(str(error))
        if counted is None:
            raise
        _name_the_unbalanced(source)
        raise ModelicaError(
            f"model {source.title}: the front end counts {counted[1]} equations for {counted[2]}"
            " unknowns"
        ) from error
    tree = loaded.to_dict("flat")
    if tree["is_partial"]:
        raise ModelicaError(f"model {source.title} is partial; export a class that extends it")

    def flatten_with(modification: str) -> Any:
        probe = f"model {_PROBE} extends {source.model}({modification}); end {_PROBE};"
        return _compile(source, lambda: source.load_probe(probe)).to_dict("flat")

    suspected = frozenset(info.name for info in loaded.parameters if info.kind == "structural")
    files = loaded.to_dict("dae")["source_map"]["files"]
    sources = SourceMap(files, source.renamed)
    check_modifications(FlatModel(source.model, tree, frozenset(), sources), ClassLibrary(files))
    structural = structural_parameters(tree, suspected, flatten_with)
    return FlatModel(source.model, tree, structural, sources)


def _name_the_unbalanced(source: _Source) -> None:
    """Fail with names and lines: rumoca only counts, but it flattens a partial class as a rule."""
    from orchestrator.export.dae.explicit_ode import make_explicit
    from orchestrator.export.modelica.flat.reader import read

    probe = f"partial model {_PROBE} extends {source.model}; end {_PROBE};"
    try:
        loaded = _compile(source, lambda: source.load_probe(probe))
    except ModelicaError as error:
        _LOGGER.debug("'%s' cannot be flattened as a partial class: %s", source.model, error)
        return
    places = _source_map(source, loaded)
    make_explicit(read(FlatModel(source.model, loaded.to_dict("flat"), frozenset(), places)))


def _source_map(source: _Source, loaded: Any) -> SourceMap:
    return SourceMap(loaded.to_dict("dae")["source_map"]["files"], source.renamed)


def _compile(source: _Source, load: Callable[[], Any]) -> Any:
    import rumoca

    try:
        return load()
    except rumoca.RumocaError as error:
        own, others = source.files[:1], source.files[1:]
        lines = _syntax_errors(own) or (_syntax_errors(others) if "parse" in str(error) else [])
        lines = lines or _said(str(error), source)
        cause: BaseException = error
    except BaseException as error:
        if type(error).__module__ != "pyo3_runtime":
            raise
        # A panic of the Rust code; it is not even an Exception.
        lines, cause = [f"rumoca panicked, which is a fault of rumoca: {error}"], error
    listed = "\n".join(lines).replace("\n", "\n  ")
    raise ModelicaError(
        f"model {source.title} is not valid Modelica, or rumoca {rumoca.version()} cannot read"
        f" it:\n  {listed}"
    ) from cause


def _said(text: str, source: _Source) -> list[str]:
    """Rumoca's words without what it says twice, and the lines of names that it does not place."""
    said, _, related = text.strip().partition("\nRelated failures")
    news = [line for line in related.splitlines()[1:] if line.rpartition("]: ")[2] not in said]
    lines = [said, *news]
    if not _PLACED.search(text):
        for name in dict.fromkeys(_CALLS.findall(text)):
            lines += [f"{where} ({_INSTEAD[name]})" for where in _calls(name, source)[:_SHOWN]]
        for name in dict.fromkeys(_QUOTED.findall(text)):
            places = [place for file in source.files for place in _places(name, file)][:_SHOWN]
            if places:
                lines.append(f"'{name}' stands at {', '.join(places)}")
    return lines


def _calls(name: str, source: _Source) -> list[str]:
    """Say which calls stand where; of der() those of expressions, as it may have variables."""
    found = []
    for file in source.files:
        with suppress(ModelicaError):  # a sibling that is no text; rumoca has left it out as well
            found += [
                f"{name}({words}) stands at {file}:{line}"
                for line, words in ModelicaText(file).calls_of(name)
                if name != "der" or not _VARIABLE.fullmatch(words.replace(" ", ""))
            ]
    return found


def _places(name: str, file: Path) -> list[str]:
    """Where a file declares the class of that name, else where it says the name."""
    try:
        text = ModelicaText(file)
    except ModelicaError:  # a sibling that is no text; rumoca has left it out as well
        return []
    last = name.rpartition(".")[2]
    classes = [found.line for found in text.classes if found.name.rpartition(".")[2] == last]
    return [f"{file}:{line}" for line in classes or text.lines_of(name)]


def _syntax_errors(files: tuple[Path, ...]) -> list[str]:
    return [error for file in files if (error := first_syntax_error(file))]
