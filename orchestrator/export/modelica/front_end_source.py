"""A model as rumoca gets it, and what rumoca says of it."""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.core.structs import Struct, field
from orchestrator.export.modelica.front_end_process import (
    RUMOCA,
    FrontEndCrash,
    FrontEndRefusal,
    rumoca_version,
)
from orchestrator.export.modelica.source.changed_sources import (
    ELEMENT_EVENT,
    culprit,
)
from orchestrator.export.modelica.source.class_place import (
    first_syntax_error,
)
from orchestrator.export.modelica.source.instances import external_objects
from orchestrator.export.modelica.source.parser import ClassLibrary
from orchestrator.export.modelica.source.specialised import Specialised
from orchestrator.export.modelica.source.text import (
    ModelicaText,
    SourceMap,
    classes_of,
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
    message, _, related = text.strip().partition("\nRelated failures")
    news = [line for line in related.splitlines()[1:] if line.rpartition("]: ")[2] not in message]
    for term, meant in _MEANT.items():
        message = message.replace(term, meant)
    lines = [message, *news]
    if ELEMENT_EVENT.search(message):
        lines.append(_WHOLE)
    if not is_placed(text):
        texts = list(_texts(files))
        for name in dict.fromkeys(_CALLS.findall(text)):
            calls = [call for text in texts for call in _calls(name, text)][:_SHOWN]
            lines += [f"{call} ({_INSTEAD[name]})" for call in calls]
        for name in dict.fromkeys(_QUOTED.findall(text)):
            locations = [location for text in texts for location in _locations(name, text)][:_SHOWN]
            if locations:
                lines.append(f"'{name}' stands at {', '.join(locations)}")
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


def _locations(name: str, text: ModelicaText) -> list[str]:
    """Where a file declares the class of that name, else where it says the name."""
    last = name.rpartition(".")[2]
    lines = [
        definition.line for definition in text.classes if definition.name.rpartition(".")[2] == last
    ]
    while name and not lines:  # a flat name has the instance before that of the class
        lines, name = text.lines_of(name), name.partition(".")[2]
    return [f"{text.path}:{line}" for line in lines]


def _brief(texts: Sequence[str]) -> Iterator[str]:
    """Yield the first lines of a message; rumoca repeats whole declarations."""
    lines = [line.strip() for text in texts for line in text.splitlines() if line.strip()]
    lines_shown = lines if len(lines) <= _LINES else [*lines[: _LINES - 1], lines[-1]]
    for number, line in enumerate(lines_shown):
        if number == _LINES - 1:
            yield f"({len(lines) - _LINES} more lines)"
        yield line if len(line) <= _WIDTH else f"{line[:_WIDTH]} .."


_LOGGER = logging.getLogger(__name__)
_LINES, _WIDTH = 8, 300  # of a message of rumoca
UNBALANCED = re.compile(r"unbalanced model: (\d+) equations, (\d+) unknowns")
INPUT = "input.mo"  # rumoca's name of a text that came from no file
PROBE = "SoftdockProbe"
_SMALL = 2 << 20  # bytes of sources of which parts are left out on trial
_LARGEST = 4 << 20  # characters of one class
_ROOT = "Failed to load source root"
SESSIONS = itertools.count()
Json = Any


class FrontEndSource(Struct):
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
    session: int = field(default_factory=lambda: next(SESSIONS))

    def load(self) -> Json:
        """What rumoca makes of the model."""
        self.refuse_large()
        question = {"file": str(self.files[0])} if self.files else {"text": self.text}
        return self._compiled({**question, "model": self.model}, is_complete=True)

    def refuse_large(self) -> None:
        """Raise if the model has more text than one class may have."""
        name = re.escape(self.model.rpartition(".")[2])
        class_pattern = re.compile(rf"\b\w+\s+{name}\b.*?\bend\s+{name}\b", re.DOTALL)
        for written in class_pattern.finditer(self._text):
            if (size := len(written[0])) > _LARGEST:
                raise ModelicaError(
                    f"model {self.title} has {size / 1e6:.1f} MB of text, of at most"
                    f" {_LARGEST / 1e6:.1f}; write arrays and loops, or split it"
                )

    def load_probe(self, probe: str, *, is_complete: bool = False) -> Json:
        """What it makes of a class that extends it."""
        text = f"{self.text}\n{probe}" if self.text else probe
        return self._compiled({"text": text, "model": PROBE}, is_complete=is_complete)

    def _compiled(self, question: Mapping[str, str], *, is_complete: bool) -> Json:
        roots = [str(root) for root in self.roots]
        full_question = {**question, "session": self.session, "roots": roots, "whole": is_complete}
        try:
            return RUMOCA.ask(full_question)
        except FrontEndCrash as error:
            raise ModelicaError(
                f"the front end crashed on class {self.title}: {error}; this is a fault of rumoca"
                f" {rumoca_version()}: write what the class at {self.location} uses in another way,"
                " or leave parts of it out to find what it is"
            ) from error
        except FrontEndRefusal as error:
            if question["model"] == PROBE:  # a probe: its location is not reported
                raise ModelicaError(str(error)) from error
            raise self._refused(error) from error

    def refuse_syntax_error(self) -> None:
        """Raise if the file of the model has a syntax error."""
        if lines := _syntax_errors(self.files[:1]):
            raise self._unread(lines)

    def _refused(self, error: FrontEndRefusal) -> ModelicaError:
        own_files, others = self.files[:1], self.files[1:]
        lines = _syntax_errors(own_files) or (
            _syntax_errors(others) if "parse" in str(error) else []
        )
        return self._unread(lines or self._located_words(str(error)))

    def _unread(self, lines: Sequence[str]) -> ModelicaError:
        listed = "\n  ".join(_brief(lines))
        return ModelicaError(
            f"the front end (rumoca {rumoca_version()}) cannot read model {self.title}:\n  {listed}"
        )

    def _located_words(self, text: str) -> list[str]:
        """Rumoca's words with a place, if need be with that of what it rejects, by trying."""
        lines = words(text, self.files)
        links = [link for root in self.roots for link in _circles(root)] if _ROOT in text else []
        if links:
            listed = ", ".join(map(str, links[:_SHOWN]))
            return [f"links lead nowhere or in a circle: {listed}; remove them from the root"]
        if UNBALANCED.search(text) or any(is_placed(line) for line in lines):
            return lines  # or is probed in another way then
        return [*lines, f"this is about {self.foreign() or self._culprit(text) or self.location}"]

    def foreign(self) -> str:
        """The first external object of the model, which rumoca rejects by other words."""
        texts = [
            (number, str(file), file.read_text(encoding="utf-8-sig", errors="replace"))
            for number, file in enumerate(self.files)
        ]
        with suppress(ModelicaError):
            scope = ClassLibrary(texts).find(self.model)
            for location, name, kind in external_objects(scope) if scope else ():
                position = SourceMap(texts, self.renamed).locate(location.span)
                return f"{position}: '{name}' is an external object, {kind}: code without equations"
        return ""

    def _culprit(self, text: str) -> str:
        if not self.is_small:
            return ""
        expected = text.replace(self.model, "")

        def rejects(changed: str, model: str) -> bool:
            probe_question = {"text": changed, "session": next(SESSIONS), "whole": True}
            try:
                RUMOCA.ask(
                    {**probe_question, "model": model, "roots": [str(root) for root in self.roots]}
                )
            except FrontEndRefusal as error:
                return str(error).replace(model, "") == expected
            except FrontEndCrash:
                return False
            return False

        position = culprit(self._text, self.model, PROBE, rejects)
        return f"{self._file}:{position}" if position else ""

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
        file = str(self.files[0]) if self.files else INPUT
        return self.renamed.get(file, file)

    @property
    def location(self) -> str:
        """File and line of the class."""
        classes, model_name = classes_of(self._text), f".{self.model}"
        line = next(
            (
                definition.line
                for definition in classes
                if model_name.endswith(f".{definition.name}")
            ),
            1,
        )
        return f"{self._file}:{line}"


def _circles(root: Path) -> Iterator[Path]:
    """Symbolic links that lead to themselves, nowhere, or to a folder that they are in."""
    for link in sorted(root.rglob("*")):
        if link.is_symlink() and (not link.exists() or link.resolve() in link.absolute().parents):
            yield link


def _syntax_errors(files: tuple[Path, ...]) -> list[str]:
    return [error for file in files if (error := first_syntax_error(file))]
