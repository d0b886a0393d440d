"""From Modelica sources to a flat model, by rumoca."""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export.modelica.flat.equation_units import warn_of_units
from orchestrator.export.modelica.flat.model import FlatModel
from orchestrator.export.modelica.flat.structure_probe import structural_parameters
from orchestrator.export.modelica.front_end.process import (
    RUMOCA,
    FrontEndCrash,
    FrontEndRefusal,
    rumoca_version,
)
from orchestrator.export.modelica.modification_check import check_modifications
from orchestrator.export.modelica.rejection import class_extends, is_placed, words
from orchestrator.export.modelica.rules.check import check_rules
from orchestrator.export.modelica.source.class_library import ClassLibrary
from orchestrator.export.modelica.source.class_place import ClassPlace, place_by_name
from orchestrator.export.modelica.source.culprit import culprit
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
from orchestrator.export.modelica.source.text import classes_of

_LOGGER = logging.getLogger(__name__)
_UNBALANCED = re.compile(r"unbalanced model: (\d+) equations, (\d+) unknowns")
_INPUT = "input.mo"  # rumoca's name of a text that came from no file
_PROBE = "SoftdockProbe"
_SMALL = 2 << 20  # bytes of sources of which parts are left out on trial
_SESSIONS = itertools.count()
Json = Any


@dataclass(frozen=True, slots=True)
class _Source:
    """How rumoca gets at a model, and at a class that extends it.

    Attributes
    ----------
    question, prefix
        What loads the model; text that a class that extends it stands behind.
    """

    model: str
    title: str
    roots: tuple[Path, ...]
    question: Mapping[str, str]
    prefix: str
    files: tuple[Path, ...]
    renamed: dict[str, str]
    session: int = field(default_factory=lambda: next(_SESSIONS))

    def load(self) -> Json:
        """What rumoca makes of the model."""
        return self._compiled({**self.question, "model": self.model}, whole=True)

    def load_probe(self, probe: str, *, whole: bool = False) -> Json:
        """What it makes of a class that extends it."""
        return self._compiled({"text": self.prefix + probe, "model": _PROBE}, whole=whole)

    def _compiled(self, question: Mapping[str, str], *, whole: bool) -> Json:
        roots = [str(root) for root in self.roots]
        given = {**question, "session": self.session, "roots": roots, "whole": whole}
        try:
            return RUMOCA.ask(given)
        except FrontEndCrash as error:
            raise ModelicaError(
                f"the front end crashed on class {self.title}: {error}; this is a fault of rumoca"
                f" {rumoca_version()}: {self._cause()}"
            ) from error
        except FrontEndRefusal as error:
            raise self._refused(error, is_probe=question["model"] == _PROBE) from error

    def _cause(self) -> str:
        lines = class_extends(self._text)
        if lines:
            return (
                f"it does not survive 'extends' of what an element redeclares, at {self._file}:"
                f"{lines[0]}; write a class of another name that extends it, and redeclare to that"
            )
        return (
            f"write what the class at {self.place} uses in another way, or leave parts of it out to"
            " find what it is"
        )

    def _refused(self, error: FrontEndRefusal, *, is_probe: bool) -> ModelicaError:
        own, others = self.files[:1], self.files[1:]
        lines = _syntax_errors(own) or (_syntax_errors(others) if "parse" in str(error) else [])
        listed = "\n".join(lines or self._said(str(error), is_probe=is_probe)).replace("\n", "\n  ")
        return ModelicaError(
            f"model {self.title} is not valid Modelica, or rumoca {rumoca_version()} cannot read"
            f" it:\n  {listed}"
        )

    def _said(self, text: str, *, is_probe: bool) -> list[str]:
        """Rumoca's words with a place, if need be with that of what it rejects, by trying."""
        lines = words(text, self.files)
        if is_probe or _UNBALANCED.search(text) or any(is_placed(line) for line in lines):
            return lines  # of what is only asked by the way, or is asked in another way then
        return [*lines, f"this is about {self._culprit(text) or self.place}"]

    def _culprit(self, text: str) -> str:
        if sum(file.stat().st_size for file in self.files) > _SMALL:
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
    def _text(self) -> str:
        if self.files:
            return self.files[0].read_text(encoding="utf-8-sig", errors="replace")
        return self.question["text"]

    @property
    def _file(self) -> str:
        file = str(self.files[0]) if self.files else _INPUT
        return self.renamed.get(file, file)

    @property
    def place(self) -> str:
        """File and line of the class."""
        named = [each.line for each in classes_of(self._text) if self._is(each.name)]
        return f"{self._file}:{named[0] if named else 1}"

    def _is(self, name: str) -> bool:
        return f".{self.model}".endswith(f".{name}")


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
    return _Source(
        place.model,
        f"'{place.model}' in '{originals.get(str(place.file), place.file)}'",
        place.roots,
        {"file": str(place.file)},
        "",
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
    question = {"text": source}
    return _Source(model, f"'{model}'", (), question, f"{source}\n", (), {_INPUT: "<text>"})


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

    sources = SourceMap(files, source.renamed)
    library, bare = ClassLibrary(files), FlatModel(source.model, tree, frozenset(), sources)
    check_modifications(bare, library)
    check_rules(bare, library)
    if unbalanced is not None:
        _check_balance(bare)
    warn_of_units(bare)
    structural = structural_parameters(tree, frozenset(loaded["suspected"]), flatten_with)
    return FlatModel(source.model, tree, structural, sources)


def _of_unbalanced(source: _Source, error: ModelicaError) -> Json:
    """What rumoca makes of a model whose equations it only counts, as a partial class.

    The error is raised again if it is another one.
    """
    counted = _UNBALANCED.search(str(error))
    if counted is None:
        raise error
    try:
        return source.load_probe(
            f"partial model {_PROBE} extends {source.model}; end {_PROBE};", whole=True
        )
    except ModelicaError as second:
        _LOGGER.debug("'%s' cannot be flattened as a partial class: %s", source.model, second)
    raise ModelicaError(
        f"model {source.title} at {source.place}: the front end counts {counted[1]} equations for"
        f" {counted[2]} unknowns"
    ) from error


def _check_balance(flat: FlatModel) -> None:
    """Fail with names and lines: rumoca counts wrong where it has ghosts of outer variables."""
    from orchestrator.export.dae.explicit_ode import make_explicit
    from orchestrator.export.modelica.flat.reader import read

    make_explicit(read(flat))


def _syntax_errors(files: tuple[Path, ...]) -> list[str]:
    return [error for file in files if (error := first_syntax_error(file))]
