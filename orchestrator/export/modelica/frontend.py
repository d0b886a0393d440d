"""From Modelica sources to a flat model, by rumoca."""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.core.structs import Struct, field
from orchestrator.export.dae.explicit_ode import make_explicit
from orchestrator.export.modelica.flat.equation_units import warn_of_units
from orchestrator.export.modelica.flat.model import LOST, FlatModel
from orchestrator.export.modelica.flat.reader import read
from orchestrator.export.modelica.flat.structure_probe import structural_parameters
from orchestrator.export.modelica.front_end_process import (
    RUMOCA,
    FrontEndCrash,
    FrontEndRefusal,
    rumoca_version,
)
from orchestrator.export.modelica.modification_check import check_modifications
from orchestrator.export.modelica.rules import check_flat, check_sources
from orchestrator.export.modelica.source.changed_sources import (
    ELEMENT_EVENT,
    REWORDED,
    culprit,
)
from orchestrator.export.modelica.source.class_place import (
    REJECTED_UNIT,
    ClassPlace,
    copied,
    first_syntax_error,
    place_by_name,
    without_display_units,
)
from orchestrator.export.modelica.source.flat_text import PlainText
from orchestrator.export.modelica.source.instances import external_objects
from orchestrator.export.modelica.source.lookup import NotSpecialised
from orchestrator.export.modelica.source.parser import ClassLibrary
from orchestrator.export.modelica.source.specialised import Specialised, Specialiser
from orchestrator.export.modelica.source.text import (
    EMPTY,
    WRITTEN_IN,
    ModelicaText,
    SourceMap,
    classes_of,
    with_names,
)

_PLACED = re.compile(r"\.mo:\d+")
_QUOTED = re.compile(r"['`]([A-Za-z_][\w.]*)['`]")
_VARIABLE = re.compile(r"[\w.\[\],:]+")
_SHOWN = 3  # places of one name in a message
#: Calls that rumoca refuses without saying where, and what to write.
_CALLS = re.compile(r"\b(change|edge|der)\(\.\.\.\) must")
_INSTEAD = {
    "change": "it takes variables of the model only: for an input u declare Integer v = u, or"
    " one of its type, and write change(v)",
    "edge": "it takes variables of the model only: for an input u declare Boolean v = u and write"
    " edge(v)",
    "der": "it takes one variable: for an expression declare Real v = expression and write der(v)",
}
_WHOLE = (
    "elements are changed in when clauses where index and size are numbers, outside of loops; else"
    " write the whole array, d = {..} or reinit(v, {..})"
)
_ENDLESS = "loop whose end depends on values: write a for loop over a constant range"
#: What words of rumoca's own rooms mean.
_MEANT = {
    "expression shape mismatch": "sizes of arrays that it cannot prove to be equal",
    "missing source scope": "a name that it has lost",
    "function loop reduction": _ENDLESS,
    "statement without a checked DAE owner": _ENDLESS,
    "non-guarded nested return requires a checked control-flow owner": "return inside of a loop",
    "Flat semantic identity is missing": "it has lost what this belongs to",
}


def is_placed(text: str) -> bool:
    """Whether a message names a line."""
    return _PLACED.search(text) is not None


def words(text: str, files: Sequence[Path]) -> list[str]:
    """Rumoca's words without what it says twice, and the lines of names that it does not place."""
    said, _, related = text.strip().partition("\nRelated failures")
    news = [line for line in related.splitlines()[1:] if line.rpartition("]: ")[2] not in said]
    for own, meant in _MEANT.items():
        said = said.replace(own, meant)
    lines = [said, *news]
    if ELEMENT_EVENT.search(said):
        lines.append(_WHOLE)
    if not is_placed(text):
        texts = list(_texts(files))
        for name in dict.fromkeys(_CALLS.findall(text)):
            calls = [call for each in texts for call in _calls(name, each)][:_SHOWN]
            lines += [f"{call} ({_INSTEAD[name]})" for call in calls]
        for name in dict.fromkeys(_QUOTED.findall(text)):
            places = [place for each in texts for place in _places(name, each)][:_SHOWN]
            if places:
                lines.append(f"'{name}' stands at {', '.join(places)}")
    return lines


def _texts(files: Iterable[Path]) -> Iterator[ModelicaText]:
    for file in files:
        with suppress(ModelicaError):  # a sibling that is no text; rumoca has left it out as well
            yield ModelicaText(file)


def _calls(name: str, text: ModelicaText) -> Iterator[str]:
    """Say which calls stand where; of der() those of expressions, as it may have variables."""
    for line, words in text.calls_of(name):
        if name != "der" or not _VARIABLE.fullmatch(words.replace(" ", "")):
            yield f"{name}({words}) stands at {text.path}:{line}"


def _places(name: str, text: ModelicaText) -> list[str]:
    """Where a file declares the class of that name, else where it says the name."""
    last = name.rpartition(".")[2]
    lines = [found.line for found in text.classes if found.name.rpartition(".")[2] == last]
    while name and not lines:  # a flat name has the instance before that of the class
        lines, name = text.lines_of(name), name.partition(".")[2]
    return [f"{text.path}:{line}" for line in lines]


_LOGGER = logging.getLogger(__name__)
_UNBALANCED = re.compile(r"unbalanced model: (\d+) equations, (\d+) unknowns")
_INPUT = "input.mo"  # rumoca's name of a text that came from no file
_PROBE = "SoftdockProbe"
_SMALL = 2 << 20  # bytes of sources of which parts are left out on trial
_LARGEST = 4 << 20  # characters of one class
_ROOT = "Failed to load source root"
_SESSIONS = itertools.count()
Json = Any


class _Source(Struct):
    """How rumoca gets at a model, and at a class that extends it: by its files or its text.

    written: What the text is, if it was written in place of the sources.
    origins: File and line from which each line of it comes.
    """

    model: str
    title: str
    renamed: dict[str, str]
    roots: tuple[Path, ...] = ()
    files: tuple[Path, ...] = ()
    text: str = ""
    written: Specialised | None = None
    origins: tuple[str, ...] = ()
    session: int = field(default_factory=lambda: next(_SESSIONS))

    def load(self) -> Json:
        """What rumoca makes of the model."""
        name = re.escape(self.model.rpartition(".")[2])
        whole = re.compile(rf"\b\w+\s+{name}\b.*?\bend\s+{name}\b", re.DOTALL)
        for written in whole.finditer(self._text):
            if (size := len(written[0])) > _LARGEST:
                raise ModelicaError(
                    f"model {self.title} has {size / 1e6:.1f} MB of text, of at most"
                    f" {_LARGEST / 1e6:.1f}; write arrays and loops, or split it"
                )
        question = {"file": str(self.files[0])} if self.files else {"text": self.text}
        return self._compiled({**question, "model": self.model}, whole=True)

    def load_probe(self, probe: str, *, whole: bool = False) -> Json:
        """What it makes of a class that extends it."""
        text = f"{self.text}\n{probe}" if self.text else probe
        return self._compiled({"text": text, "model": _PROBE}, whole=whole)

    def _compiled(self, question: Mapping[str, str], *, whole: bool) -> Json:
        roots = [str(root) for root in self.roots]
        given = {**question, "session": self.session, "roots": roots, "whole": whole}
        try:
            return RUMOCA.ask(given)
        except FrontEndCrash as error:
            raise ModelicaError(
                f"the front end crashed on class {self.title}: {error}; this is a fault of rumoca"
                f" {rumoca_version()}: write what the class at {self.place} uses in another way,"
                " or leave parts of it out to find what it is"
            ) from error
        except FrontEndRefusal as error:
            if question["model"] == _PROBE:  # asked by the way: nobody is told where that is
                raise ModelicaError(str(error)) from error
            raise self._refused(error) from error

    def _refused(self, error: FrontEndRefusal) -> ModelicaError:
        own, others = self.files[:1], self.files[1:]
        lines = _syntax_errors(own) or (_syntax_errors(others) if "parse" in str(error) else [])
        listed = "\n".join(lines or self._said(str(error))).replace("\n", "\n  ")
        return ModelicaError(
            f"model {self.title} is not valid Modelica, or rumoca {rumoca_version()} cannot read"
            f" it:\n  {listed}"
        )

    def _said(self, text: str) -> list[str]:
        """Rumoca's words with a place, if need be with that of what it rejects, by trying."""
        lines = words(text, self.files)
        links = [link for root in self.roots for link in _circles(root)] if _ROOT in text else []
        if links:
            listed = ", ".join(map(str, links[:_SHOWN]))
            return [f"links lead nowhere or in a circle: {listed}; remove them from the root"]
        if _UNBALANCED.search(text) or any(is_placed(line) for line in lines):
            return lines  # or is asked in another way then
        return [*lines, f"this is about {self.foreign() or self._culprit(text) or self.place}"]

    def foreign(self) -> str:
        """The first external object of the model, which rumoca rejects by other words."""
        texts = [
            (number, str(file), file.read_text(encoding="utf-8-sig", errors="replace"))
            for number, file in enumerate(self.files)
        ]
        with suppress(ModelicaError):
            scope = ClassLibrary(texts).find(self.model)
            for place, name, kind in external_objects(scope) if scope else ():
                where = SourceMap(texts, self.renamed).locate(place.span)
                return f"{where}: '{name}' is an external object, {kind}: code without equations"
        return ""

    def _culprit(self, text: str) -> str:
        if not self.is_small:
            return ""
        wanted = text.replace(self.model, "")

        def rejects(changed: str, model: str) -> bool:
            given = {"text": changed, "session": next(_SESSIONS), "whole": True}
            try:
                RUMOCA.ask({**given, "model": model, "roots": [str(root) for root in self.roots]})
            except FrontEndRefusal as error:
                return str(error).replace(model, "") == wanted
            except FrontEndCrash:
                return False
            return False

        found = culprit(self._text, self.model, _PROBE, rejects)
        return f"{self._file}:{found}" if found else ""

    @property
    def is_small(self) -> bool:
        """Whether it can be flattened many times on trial."""
        return sum(file.stat().st_size for file in self.files) <= _SMALL

    @property
    def _text(self) -> str:
        if self.files:
            return self.files[0].read_text(encoding="utf-8-sig", errors="replace")
        return self.text

    @property
    def _file(self) -> str:
        file = str(self.files[0]) if self.files else _INPUT
        return self.renamed.get(file, file)

    @property
    def place(self) -> str:
        """File and line of the class."""
        classes, whole = classes_of(self._text), f".{self.model}"
        line = next((each.line for each in classes if whole.endswith(f".{each.name}")), 1)
        return f"{self._file}:{line}"


def flatten_place(place: ClassPlace) -> FlatModel:
    """Flatten a class; what the front end does not take, and other words say, is said in those."""
    texts = [
        (number, str(file), text)
        for number, file in enumerate(place.files)
        if (text := _read(file)) is not None
    ]
    title = f"'{place.model}' in '{place.file}'"
    try:
        return _in_plain_classes(place.model, title, texts, lambda: _flatten(_source_of(place, {})))
    except ModelicaError as error:
        known = (REJECTED_UNIT, *(rejection for rejection, _ in REWORDED))
        if not any(rejection.search(str(error)) for rejection in known):
            raise
        rejected = error
    with TemporaryDirectory(prefix="softdock-") as folder:
        there, originals = copied(place, Path(folder))
        for _ in REWORDED:
            _reword(there, originals, rejected)
            try:
                return without_display_units(
                    lambda: _flatten(_source_of(there, originals)),
                    lambda file: Path(file).read_text(encoding="utf-8"),
                    lambda file, text: Path(file).write_text(text, encoding="utf-8"),
                    originals,
                )
            except ModelicaError as error:
                rejected = error
        raise rejected


def _read(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):  # a sibling that is no text; rumoca leaves it out as well
        return None


def _in_plain_classes(
    model: str,
    title: str,
    texts: Sequence[tuple[int, str, str]],
    flattened: Callable[[], FlatModel],
) -> FlatModel:
    """Flatten a model; in plain classes if it uses classes in several ways, or loses something."""
    scope = ClassLibrary(texts).find(model)
    if scope is None:
        return flattened()
    specialiser = Specialiser({number: text for number, _, text in texts})
    sources = SourceMap(texts, {})
    written: Specialised | ModelicaError
    try:
        written = specialiser.write(scope.expand())
    except NotSpecialised as error:
        if error.invalid:
            check_sources(model, scope, sources)
            where = sources.locate(error.place.span)
            raise ModelicaError(f"{model} is not valid Modelica:\n  {where}: {error}") from error
        written = ModelicaError(
            f"{model}: the front end cannot tell apart the uses of functions, packages and classes"
            f" in this model because of {sources.locate(error.place.span)}: {error}"
        )
    except RecursionError as error:
        where = sources.locate(scope.tree.place.span)
        raise ModelicaError(
            f"{model} at {where}: the classes that it uses are defined by each other in a circle"
        ) from error
    if not specialiser.is_needed:
        try:
            return flattened()
        except ModelicaError as error:
            if isinstance(written, ModelicaError) or LOST not in str(error):
                raise
    check_sources(model, scope, sources)
    if isinstance(written, ModelicaError):
        raise written
    paths = {number: path for number, path, _ in texts}
    origins = tuple(f"{paths[source]}:{line}" for source, line in written.lines)
    source = _Source(written.model, title, {}, text=written.text, written=written, origins=origins)
    try:
        return _flatten(source)
    except ModelicaError as error:
        raise ModelicaError(_as_written(str(error), source)) from error


_OWN_LINE = re.compile(rf"(?<![\w/]){re.escape(_INPUT)}:(\d+)(:\d+)?")


def _as_written(text: str, source: _Source) -> str:
    """A message with the lines and names of the sources."""
    text = _OWN_LINE.sub(lambda found: source.origins[int(found[1]) - 1], text)
    return str(with_names(text, source.written.names if source.written else EMPTY))


def _reword(there: ClassPlace, originals: Mapping[str, str], rejected: ModelicaError) -> None:
    """Change copies of the sources; raise what rejected them if there are no other words."""
    changed = REJECTED_UNIT.search(str(rejected)) is not None
    for rejection, reworded in REWORDED:
        for file in map(Path, originals) if rejection.search(str(rejected)) else ():
            text = file.read_text(encoding="utf-8-sig")
            new = reworded(text, there.local_name if file == there.file else "")
            if new != text:
                file.write_text(new, encoding="utf-8")
                changed = True
    if not changed:
        raise rejected


def _source_of(place: ClassPlace, originals: dict[str, str]) -> _Source:
    return _Source(
        place.model,
        f"'{place.model}' in '{originals.get(str(place.file), place.file)}'",
        originals,
        place.roots,
        (place.file, *(file for file in place.files if file != place.file)),
    )


def flatten(model: str, *roots: Path) -> FlatModel:
    """Flatten a class of a package below the roots, by its qualified name."""
    return flatten_place(place_by_name(model, roots))


def flatten_source(model: str, source: str, shown: str = "<text>") -> FlatModel:
    """Flatten a class given as text; messages name it as ``shown``."""
    texts, originals = {_INPUT: source}, {_INPUT: shown}

    def make() -> FlatModel:
        source = _Source(model, f"'{model}'", originals, text=texts[_INPUT])
        listed = [(0, shown, texts[_INPUT])]
        return _in_plain_classes(model, source.title, listed, lambda: _flatten(source))

    return without_display_units(make, texts.__getitem__, texts.__setitem__, originals)


def flatten_flat(flat: PlainText, shown: str) -> FlatModel:
    """Take a flat class of another front end, in its own names."""
    try:
        model = flatten_source(flat.model, flat.text, shown)
    except ModelicaError as error:
        raise ModelicaError(flat.original(str(error))) from error
    tree = flat.original(model.tree)
    tree["top_level_connectors"] = sorted({*tree["top_level_connectors"], *flat.directed})
    structural = frozenset(map(flat.original, model.structural))
    return FlatModel(flat.title, tree, structural, model.sources)


def _circles(root: Path) -> Iterator[Path]:
    """Symbolic links that lead to themselves, nowhere, or to a folder that they are in."""
    for link in sorted(root.rglob("*")):
        if link.is_symlink() and (not link.exists() or link.resolve() in link.absolute().parents):
            yield link


def _flatten(source: _Source) -> FlatModel:
    unbalanced = None
    try:
        loaded = source.load()
    except ModelicaError as error:
        unbalanced = error
        loaded = _of_unbalanced(source, error)
    tree, files = loaded["flat"], loaded["files"]
    if tree["is_partial"] and unbalanced is None:
        raise ModelicaError(f"model {source.title} is partial; export a class that extends it")

    def flatten_with(modification: str) -> Json:
        probe = f"model {_PROBE} extends {source.model}({modification}); end {_PROBE};"
        return source.load_probe(probe)["flat"]

    names = source.written.names if source.written else EMPTY
    sources = SourceMap(files, source.renamed, source.origins, names)
    title = str(with_names(source.model, names))
    bare = FlatModel(title, tree, frozenset(), sources)
    for name, inputs in (source.written.derivatives if source.written else EMPTY).items():
        for full in {name, f"{WRITTEN_IN}.{name}"} & tree["functions"].keys():
            tree["functions"][full]["derivative_by"] = inputs
    scope = ClassLibrary(files).find(source.model)
    if scope is not None:
        check_modifications(bare, scope)
        check_sources(title, scope, sources)
        check_flat(bare, scope)
    if unbalanced is not None:  # rumoca counts wrong where it has ghosts of outer variables
        make_explicit(read(bare))  # raises with names and lines
    warn_of_units(bare)
    suspected = frozenset(loaded["suspected"])
    structural = structural_parameters(tree, suspected, flatten_with, is_small=source.is_small)
    return FlatModel(title, with_names(tree, names) if names else tree, structural, sources)


def _of_unbalanced(source: _Source, error: ModelicaError) -> Json:
    """What rumoca makes, as a partial class, of a model whose equations it only counts."""
    counted = _UNBALANCED.search(str(error))
    if counted is None:
        raise error
    try:
        return source.load_probe(
            f"partial model {_PROBE} extends {source.model}; end {_PROBE};", whole=True
        )
    except ModelicaError as second:
        told = f"; {source.foreign() or words(str(second).replace(_PROBE, source.model), ())[0]}"
    raise ModelicaError(
        f"model {source.title} at {source.place}: the front end counts {counted[1]} equations for"
        f" {counted[2]} unknowns{told}"
    ) from error


def _syntax_errors(files: tuple[Path, ...]) -> list[str]:
    return [error for file in files if (error := first_syntax_error(file))]
