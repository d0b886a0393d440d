"""From Modelica sources to a flat model, by rumoca."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.core.structs import Struct, replace
from orchestrator.export.dae.explicit_ode import make_explicit
from orchestrator.export.modelica.flat.equation_units import warn_of_units
from orchestrator.export.modelica.flat.model import LOST, FlatModel
from orchestrator.export.modelica.flat.reader import read
from orchestrator.export.modelica.flat.structure_probe import structural_parameters
from orchestrator.export.modelica.front_end_source import (
    INPUT,
    PROBE,
    SESSIONS,
    UNBALANCED,
    FrontEndSource,
    words,
)
from orchestrator.export.modelica.function_check import function_findings
from orchestrator.export.modelica.modification_check import check_modifications
from orchestrator.export.modelica.rules import INVALID, check_flat, check_sources
from orchestrator.export.modelica.source.changed_sources import (
    REWORDED,
)
from orchestrator.export.modelica.source.class_place import (
    REJECTED_UNIT,
    ClassPlace,
    copied,
    place_by_name,
    without_display_units,
)
from orchestrator.export.modelica.source.class_scope import ClassScope
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
    with_names,
)

Json = Any
_LOGGER = logging.getLogger(__name__)


def flatten_place(location: ClassPlace) -> FlatModel:
    """Flatten a class; rewrite what the front end refuses in words that it accepts."""
    texts = [
        (number, str(file), text)
        for number, file in enumerate(_unrepeated(location))
        if (text := _read(file)) is not None
    ]
    title = f"'{location.model}' in '{location.file}'"
    source = _source_of(location, {})
    source.refuse_syntax_error()
    source.refuse_large()
    plain = _PlainModel.of(location.model, title, texts)
    if plain is not None and (plain.is_needed or len(texts) < len(location.files)):
        return plain.flatten()
    if plain is not None and plain.written is not None and not source.is_small:
        with suppress(ModelicaError):  # the plain classes are read in 2 s, a large library in 30 s
            return plain.flatten()
    try:
        return _flatten_reworded(location, source)
    except ModelicaError as error:
        return _flatten_plain(plain, error)


#: Errors of rumoca after it accepted the model as valid, or in other files than the model's own.
_UNABLE = re.compile(rf"failed in (Flatten|ToDae)|parse error|{re.escape(LOST)}")


def _flatten_plain(plain: _PlainModel | None, error: ModelicaError) -> FlatModel:
    """Flatten a model as plain classes, since the front end does not take it as it is."""
    if plain is None or not _UNABLE.search(str(error)):
        raise error
    if plain.written is None:
        reason = f"Softdock cannot rewrite the model for the front end because of {plain.failure}"
        raise ModelicaError(f"{error}\n  {reason}") from error
    try:
        return plain.flatten()
    except ModelicaError as second:
        raise (second if INVALID in str(second) or LOST in str(error) else error) from second


def _flatten_reworded(location: ClassPlace, source: FrontEndSource) -> FlatModel:
    try:
        return _flatten(source)
    except ModelicaError as error:
        rejections = (REJECTED_UNIT, *(rejection for rejection, _ in REWORDED))
        if not any(rejection.search(str(error)) for rejection in rejections):
            raise
        rejected = error
    with TemporaryDirectory(prefix="softdock-") as folder:
        there, originals = copied(location, Path(folder))
        for _ in REWORDED:
            _reword(there, originals, rejected)
            try:
                return without_display_units(
                    lambda: _flatten(_source_of(there, originals)),
                    lambda file: Path(file).read_text(encoding="utf-8"),
                    lambda file, text: Path(file).write_text(text, encoding="utf-8", newline="\n"),
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


def _unrepeated(location: ClassPlace) -> Iterator[Path]:
    """Yield the files of a class, without others that have a class of its name: copies of it."""
    outline = ModelicaText(location.file)
    own_names = {definition.name for definition in outline.classes if "." not in definition.name}
    for file in location.files:
        if (
            file != location.file
            and file.parent == location.file.parent
            and file.name != "package.mo"
        ):
            with suppress(ModelicaError):
                sibling = ModelicaText(file)
                twice = own_names & {
                    definition.name for definition in sibling.classes if "." not in definition.name
                }
                if twice and sibling.within == outline.within:
                    _LOGGER.warning("'%s' has a class %s as well; it is left out", file, min(twice))
                    continue
        yield file


class _PlainModel(Struct):
    """A model in plain classes.

    is_needed: It uses functions, packages or classes in several ways.
    """

    model: str
    title: str
    scope: ClassScope
    sources: SourceMap
    origins: tuple[str, ...]
    written: Specialised | None
    failure: str
    is_needed: bool

    @classmethod
    def of(
        cls, model: str, title: str, texts: Sequence[tuple[int, str, str]]
    ) -> _PlainModel | None:
        """Write a model; None if it is not found in the texts.

        Raises ModelicaError: if it is no valid Modelica.
        """
        scope = ClassLibrary(texts).find(model)
        if scope is None:
            return None
        specialiser = Specialiser({number: text for number, _, text in texts})
        sources, paths = SourceMap(texts, {}), {number: path for number, path, _ in texts}
        written, failure = None, ""
        try:
            written = specialiser.write(scope.expand())
        except NotSpecialised as error:
            position = sources.locate(error.location.span)
            failure = f"{position}: {error}"
            if error.invalid:
                check_sources(model, scope, sources)
                raise ModelicaError(f"{model}{INVALID}:\n  {failure}") from error
        except RecursionError as error:
            position = sources.locate(scope.tree.location.span)
            raise ModelicaError(
                f"{model} at {position}: the classes that it uses are defined by each other in a"
                " circle"
            ) from error
        lines = written.lines if written is not None else ()
        origins = tuple(f"{paths[source]}:{line}" for source, line in lines)
        needed = specialiser.is_needed
        return cls(model, title, scope, sources, origins, written, failure, needed)

    def _refuse_foreign(self) -> None:
        """Name an external object, which rumoca rejects in other words."""
        for location, name, kind in external_objects(self.scope):
            raise ModelicaError(
                f"the front end cannot read model {self.title}:\n  "
                f"{self.sources.locate(location.span)}: '{name}' is an external object, {kind}:"
                " code"
                " without equations"
            )

    def flatten(self) -> FlatModel:
        """Flatten it; rewrite what the front end refuses in words that it accepts."""
        check_sources(self.model, self.scope, self.sources)
        if self.written is None:
            raise ModelicaError(
                f"{self.model}: the front end cannot tell apart the uses of functions, packages and"
                f" classes in this model because of {self.failure}"
            )
        texts = {INPUT: self.written.text}
        source = FrontEndSource(
            self.written.model,
            self.title,
            {},
            text=self.written.text,
            written=self.written,
            origins=self.origins,
        )

        def make() -> FlatModel:
            return _flatten(replace(source, text=texts[INPUT], session=next(SESSIONS)))

        while True:
            try:
                return without_display_units(
                    make,
                    texts.__getitem__,
                    texts.__setitem__,
                    {INPUT: self.title},
                    lambda _, line: self.origins[line - 1],
                )
            except ModelicaError as error:
                changed = texts[INPUT]
                for rejection, reworded in REWORDED:
                    if rejection.search(str(error)):
                        changed = reworded(changed, self.written.model)
                if changed == texts[INPUT]:
                    self._refuse_foreign()
                    raise ModelicaError(_as_written(str(error), source)) from error
                texts[INPUT] = changed


_OWN_LINE = re.compile(rf"(?<![\w/]){re.escape(INPUT)}:(\d+)(:\d+)?")


def _as_written(text: str, source: FrontEndSource) -> str:
    """A message with the lines and names of the sources."""
    text = _OWN_LINE.sub(lambda match: source.origins[int(match[1]) - 1], text)
    return str(with_names(text, source.written.names if source.written else EMPTY))


def _reword(there: ClassPlace, originals: Mapping[str, str], rejected: ModelicaError) -> None:
    """Change copies of the sources; raise what rejected them if there are no other words."""
    changed = REJECTED_UNIT.search(str(rejected)) is not None
    for rejection, reworded in REWORDED:
        for file in map(Path, originals) if rejection.search(str(rejected)) else ():
            text = file.read_text(encoding="utf-8-sig")
            new = reworded(text, there.local_name if file == there.file else "")
            if new != text:
                file.write_text(new, encoding="utf-8", newline="\n")
                changed = True
    if not changed:
        raise rejected


def _source_of(location: ClassPlace, originals: dict[str, str]) -> FrontEndSource:
    return FrontEndSource(
        location.model,
        f"'{location.model}' in '{originals.get(str(location.file), location.file)}'",
        originals,
        location.roots,
        (location.file, *(file for file in location.files if file != location.file)),
    )


def flatten(model: str, *roots: Path) -> FlatModel:
    """Flatten a class of a package below the roots, by its qualified name."""
    return flatten_place(place_by_name(model, roots))


def flatten_source(model: str, source: str, title: str = "<text>") -> FlatModel:
    """Flatten a class given as text; messages name it as ``shown``."""
    texts, originals = {INPUT: source}, {INPUT: title}

    def make() -> FlatModel:
        source = FrontEndSource(model, f"'{model}'", originals, text=texts[INPUT])
        plain = _PlainModel.of(model, source.title, [(0, title, texts[INPUT])])
        if plain is not None and plain.is_needed:
            return plain.flatten()
        try:
            return _flatten(source)
        except ModelicaError as error:
            if REJECTED_UNIT.search(str(error)):
                raise
            return _flatten_plain(plain, error)

    return without_display_units(make, texts.__getitem__, texts.__setitem__, originals)


def flatten_flat(flat: PlainText, title: str) -> FlatModel:
    """Take a flat class of another front end, in its own names."""
    try:
        model = flatten_source(flat.model, flat.text, title)
    except ModelicaError as error:
        raise ModelicaError(flat.original(str(error))) from error
    tree = flat.original(model.tree)
    tree["top_level_connectors"] = sorted({*tree["top_level_connectors"], *flat.directed})
    structural = frozenset(map(flat.original, model.structural))
    return FlatModel(flat.title, tree, structural, model.sources)


def _flatten(source: FrontEndSource) -> FlatModel:
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
        probe = f"model {PROBE} extends {source.model}({modification}); end {PROBE};"
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
        bare.expect_none(function_findings(bare, scope), LOST)
    if unbalanced is not None:  # rumoca counts wrong where it has ghosts of outer variables
        make_explicit(read(bare))  # raises with names and lines
    warn_of_units(bare)
    suspected = frozenset(loaded["suspected"])
    structural = structural_parameters(tree, suspected, flatten_with, is_small=source.is_small)
    return FlatModel(title, with_names(tree, names) if names else tree, structural, sources)


def _of_unbalanced(source: FrontEndSource, error: ModelicaError) -> Json:
    """What rumoca makes, as a partial class, of a model whose equations it only counts."""
    counted = UNBALANCED.search(str(error))
    if counted is None:
        raise error
    try:
        return source.load_probe(
            f"partial model {PROBE} extends {source.model}; end {PROBE};", is_complete=True
        )
    except ModelicaError as second:
        detail = f"; {source.foreign() or words(str(second).replace(PROBE, source.model), ())[0]}"
    raise ModelicaError(
        f"model {source.title} at {source.location}: the front end counts {counted[1]} equations"
        " for"
        f" {counted[2]} unknowns{detail}"
    ) from error
