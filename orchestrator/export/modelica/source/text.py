"""What rumoca does not tell of a Modelica file: classes, their lines, experiments, spans."""

from __future__ import annotations

import bisect
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from orchestrator.core.diagnostics import DescriptionError, ModelicaError
from orchestrator.core.structs import Struct

EMPTY: Mapping[str, str] = {}
#: Names of classes that are written for the front end begin like this, and are in this package.
WRITTEN = "softdock_"
WRITTEN_IN = "softdock_classes"
_WRITTEN_NAME = re.compile(rf"\b(?:{WRITTEN_IN}\.)?({WRITTEN}\d+_\w*)")


def with_names(value: Any, names: Mapping[str, str]) -> Any:
    """Return a text or tree of JSON with the names of the sources for those of written classes."""
    if isinstance(value, str):
        if WRITTEN not in value:
            return value
        return _WRITTEN_NAME.sub(lambda match: names.get(match[1], match[0]), value)
    if isinstance(value, dict):
        return {with_names(key, names): with_names(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [with_names(item, names) for item in value]
    return value


class SourceMap:
    """Resolves spans, which name their file only by a number.

    files: ``source_map["files"]`` of rumoca's "dae" tree: number, path and text of each file.
    renamed: Path there to the one to be shown, for text that came from no file.
    origins: Of a text that was written from others: where each line comes from.
    names: Names in such a text, and what they stand for.
    """

    def __init__(
        self,
        files: Any,
        renamed: Mapping[str, str],
        origins: Sequence[str] = (),
        names: Mapping[str, str] = EMPTY,
    ) -> None:
        self._origins, self._names_of = origins, names
        self._files = {
            number: (renamed.get(path, path), _line_ends(text)) for number, path, text in files
        }
        self._texts: dict[int, bytes] = {number: text.encode() for number, _, text in files}

    def locate(self, span: Mapping[str, int] | None) -> str:
        """``file:line`` of a span, or an empty string where it points to no file."""
        if not span or span["source"] not in self._files:
            return ""
        path, ends = self._files[span["source"]]
        line = bisect.bisect_left(ends, span["start"])
        return self._origins[line] if line < len(self._origins) else f"{path}:{line + 1}"

    def text_of(self, source: int) -> str:
        """The whole text of a file by its number."""
        return self._texts.get(source, b"").decode(errors="replace")

    def text(self, span: Mapping[str, int] | None) -> str:
        """What stands at a span, or an empty string where it points to no file."""
        if not span or span["source"] not in self._texts:
            return ""
        text = self._texts[span["source"]][span["start"] : span["end"]].decode(errors="replace")
        return str(with_names(text, self._names_of))


def _line_ends(text: str) -> list[int]:
    """Byte positions of the line ends: spans count bytes."""
    return [match.start() for match in re.finditer(rb"\n", text.encode())]


class Experiment(Struct):
    """What an importer may propose; None is what nobody has said.

    Without any word it runs from 0 to 1 s, and one without a stop time for 1 s.

    Attributes
    ----------
    start_time, stop_time, step_size
        In seconds; the step is that of communication.
    tolerance
        Relative tolerance of the integration.
    """

    start_time: float | None = None
    stop_time: float | None = None
    step_size: float | None = None
    tolerance: float | None = None

    def __post_init__(self) -> None:
        settings = {key: value for key, value in asdict(self).items() if value is not None}
        for key, value in settings.items():
            if not math.isfinite(value):
                raise DescriptionError(f"experiment.{key}: expected a finite number, got {value}")
        if self.step_size is not None and self.step_size <= 0:
            raise DescriptionError(
                f"experiment.step_size: expected a positive number of seconds, got {self.step_size}"
            )
        if self.tolerance is not None and not 0 < self.tolerance < 1:
            raise DescriptionError(
                f"experiment.tolerance: expected a number between 0 and 1, got {self.tolerance}"
            )

    def or_else(self, defaults: Experiment) -> Experiment:
        """Complete it by another one."""
        settings = {key: value for key, value in asdict(self).items() if value is not None}
        return Experiment(**{**asdict(defaults), **settings})

    @property
    def interval(self) -> tuple[float, float]:
        """Start and stop time in seconds, with the defaults filled in.

        Raises
        ------
        DescriptionError
            If it does not go forward.
        """
        start = 0.0 if self.start_time is None else self.start_time
        stop = start + 1.0 if self.stop_time is None else self.stop_time
        if stop <= start:
            raise DescriptionError(
                f"experiment: the stop time {stop} s is not after the start time {start} s"
            )
        return float(start), float(stop)


# Quoted names are one token; strings and comments may hold anything, also the word "end".
_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<text>"(?:[^"\\]|\\.)*")
    |(?P<name>[A-Za-z_]\w*|'(?:[^'\\]|\\.)*')
    |(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)
    |(?P<sign>.)""",
    re.DOTALL | re.VERBOSE,
)
OPENING, CLOSING = frozenset("([{"), frozenset(")]}")
CLASS_WORDS = frozenset(
    ("model", "block", "class", "package", "record", "connector", "type", "function", "operator")
)
_EXPORTED = frozenset(("model", "block", "class"))
_EXPERIMENT = {
    "StartTime": "start_time",
    "StopTime": "stop_time",
    "Tolerance": "tolerance",
    "Interval": "step_size",
}


class Token(Struct):
    """A word, number, string or sign; ``kind`` is the group of the pattern that found it.

    start, end: Where it stands in the file, in bytes of UTF-8 as rumoca counts.
    """

    kind: str
    text: str
    line: int
    start: int
    end: int


class ClassText(Struct):
    """A class: its name inside the file, such as ``Outer.Inner``, and its own tokens.

    word: ``model``, ``package`` and so on.
    partial: Other classes extend it; it cannot be exported.
    """

    name: str
    word: str
    line: int
    partial: bool
    tokens: list[Token]

    @property
    def is_model(self) -> bool:
        """Whether it can be the model of an FMU."""
        return self.word in _EXPORTED and not self.partial


def tokens(text: str) -> list[Token]:
    """All tokens of a Modelica text, without white space and comments."""
    tokens_read, line, start = [], 1, 0
    for match in _TOKEN.finditer(text):
        end = start + len(match.group().encode())
        if match.lastgroup != "skip":
            tokens_read.append(Token(str(match.lastgroup), match.group(), line, start, end))
        line += match.group().count("\n")
        start = end
    return tokens_read


def classes_of(text: str) -> tuple[ClassText, ...]:
    """All classes of a Modelica text."""
    return tuple(_classes(tokens(text)))


class ModelicaText:
    """The outline of one file.

    path: The file; it is read as UTF-8.
    source: Its text, if it is not what the file holds.
    Raises ModelicaError: if it cannot be read.
    """

    def __init__(self, path: Path, source: str | None = None) -> None:
        self.path = path
        try:
            self.source = path.read_text(encoding="utf-8-sig") if source is None else source
        except OSError as error:
            raise ModelicaError(f"'{path}' cannot be read: {error.strerror or error}") from error
        except UnicodeDecodeError as error:
            raise ModelicaError(f"'{path}' is not UTF-8 text: {error}") from error
        self.tokens = tokens(self.source)
        self.classes = tuple(_classes(self.tokens))

    @property
    def within(self) -> str:
        """Name of the enclosing package; empty at the top."""
        if not self.tokens or self.tokens[0].text != "within":
            return ""
        end = next((i for i, token in enumerate(self.tokens) if token.text == ";"), 1)
        return "".join(token.text for token in self.tokens[1:end])

    def lines_of(self, word: str) -> list[int]:
        """Lines on which a name stands, comments and strings left out; ``a.b`` may have blanks."""
        parts = re.split(r"(\.)", word)
        runs = windows(self.tokens, len(parts))
        return sorted({run[0].line for run in runs if [token.text for token in run] == parts})

    def calls_of(self, name: str) -> list[tuple[int, str]]:
        """Lines on which a function is called, and what is between the brackets."""
        calls = []
        for at, (token, bracket) in enumerate(pairwise(self.tokens)):
            if (token.text, bracket.text) == (name, "("):
                inside = self.tokens[at + 2 : closing(self.tokens, at + 1) - 1]
                words = " ".join(inner_token.text for inner_token in inside)
                calls.append((token.line, re.sub(r" (?=[\[\],.])|(?<=[\[.]) ", "", words)))
        return calls

    def experiment(self, name: str) -> Experiment:
        """``annotation(experiment(..))`` of a class of this file; what it leaves out is None."""
        class_tokens = next(
            (definition.tokens for definition in self.classes if definition.name == name), ()
        )
        return Experiment(**dict(self._arguments(_annotation(class_tokens, "experiment"))))

    def _arguments(self, inside: Sequence[Token]) -> Iterator[tuple[str, float]]:
        for argument in split(inside):
            key = _EXPERIMENT.get(argument[0].text)
            if key is None:
                continue  # NumberOfIntervals, and what tools add for themselves
            text = "".join(token.text for token in argument[2:])
            try:
                yield key, float(text)
            except ValueError:
                raise ModelicaError(
                    f"{self.path}:{argument[0].line}: experiment({argument[0].text} = {text}):"
                    " expected a number"
                ) from None


def _classes(listed: Sequence[Token]) -> Iterator[ClassText]:
    """Classes at their ends; a short one (``model A = B;``) ends with a semicolon."""
    stack: list[tuple[ClassText, str, tuple[str, ...]]] = []  # with the own name, and how it ends
    texts = [*(token.text for token in listed), "", ""]
    depth, partial = 0, False
    for at, token in enumerate(listed):
        depth += nesting(token)
        if stack and depth == 0 and tuple(texts[at : at + len(stack[-1][2])]) == stack[-1][2]:
            yield stack.pop()[0]
        elif token.text in CLASS_WORDS and depth == 0 and texts[at + 1] not in CLASS_WORDS:
            # "operator record R" is found at its second word.
            name = texts[at + 2] if texts[at + 1] == "extends" else texts[at + 1]
            full_name = ".".join([*(outer_name for _, outer_name, _ in stack), name])
            end = (";",) if texts[at + 2] == "=" else ("end", name)
            stack.append((ClassText(full_name, token.text, token.line, partial, []), name, end))
        elif stack:
            stack[-1][0].tokens.append(token)
        partial = token.text == "partial"


def _annotation(listed: Sequence[Token], name: str) -> Sequence[Token]:
    """Tokens inside ``annotation(.. name(..) ..)``."""
    for at, token in enumerate(listed):
        if token.text == "annotation":
            for argument in split(listed[at + 2 : closing(listed, at + 1) - 1]):
                if [token.text for token in argument[:2]] == [name, "("]:
                    return argument[2:-1]
    return ()


def nesting(token: Token) -> int:
    """By how many levels brackets open (1) or close (-1) at a token."""
    return (token.text in OPENING) - (token.text in CLOSING)


def closing(listed: Sequence[Token], at: int) -> int:
    """Place behind the brackets that open at a place; that of the end if none closes them."""
    depth = 0
    for position in range(at, len(listed)):
        depth += nesting(listed[position])
        if depth == 0:
            return position + 1
    return len(listed)


def windows(listed: Sequence[Token], size: int) -> Iterator[tuple[Token, ...]]:
    """All runs of a number of tokens."""
    return zip(*(listed[first:] for first in range(size)), strict=False)


def edited(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """The text with something else between places in bytes, which do not overlap."""
    content, at, pieces = text.encode(), 0, []
    for start, end, new in sorted(edits, key=lambda edit: edit[:2]):
        pieces += [content[at:start], new.encode()]
        at = end
    return b"".join([*pieces, content[at:]]).decode()


def split(inside: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Arguments between commas of the outermost level."""
    depth, begin = 0, 0
    for position, token in enumerate(inside):
        depth += nesting(token)
        if token.text == "," and depth == 0:
            yield inside[begin:position]
            begin = position + 1
    if begin < len(inside):
        yield inside[begin:]
