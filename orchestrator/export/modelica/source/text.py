"""What rumoca does not tell of a Modelica file: classes, their lines, experiments, spans."""

from __future__ import annotations

import bisect
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.core.diagnostics import DescriptionError, ModelicaError


class SourceMap:
    """Resolves spans, which name their file only by a number.

    files: ``source_map["files"]`` of rumoca's "dae" tree: number, path and text of each file.
    renamed: Path there to the one to be shown, for text that came from no file.
    """

    def __init__(self, files: Any, renamed: Mapping[str, str]) -> None:
        self._files = {
            number: (renamed.get(path, path), _line_ends(text)) for number, path, text in files
        }
        self._texts: dict[int, bytes] = {number: text.encode() for number, _, text in files}

    def locate(self, span: Mapping[str, int] | None) -> str:
        """``file:line`` of a span, or an empty string where it points to no file."""
        if not span or span["source"] not in self._files:
            return ""
        path, ends = self._files[span["source"]]
        return f"{path}:{bisect.bisect_left(ends, span['start']) + 1}"

    def text(self, span: Mapping[str, int] | None) -> str:
        """What stands at a span, or an empty string where it points to no file."""
        if not span or span["source"] not in self._texts:
            return ""
        return self._texts[span["source"]][span["start"] : span["end"]].decode(errors="replace")


def _line_ends(text: str) -> list[int]:
    """Byte positions of the line ends: spans count bytes."""
    return [found.start() for found in re.finditer(rb"\n", text.encode())]


@dataclass(frozen=True, slots=True)
class Experiment:
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
        given = {key: value for key, value in asdict(self).items() if value is not None}
        for key, value in given.items():
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

    def or_else(self, other: Experiment) -> Experiment:
        """Complete it by another one."""
        said = {key: value for key, value in asdict(self).items() if value is not None}
        return Experiment(**{**asdict(other), **said})

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


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number, string or sign; ``kind`` is the group of the pattern that found it.

    start, end: Where it stands in the file, in bytes of UTF-8 as rumoca counts.
    """

    kind: str
    text: str
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ClassText:
    """A class: its name inside the file, such as ``Outer.Inner``, and its own tokens.

    word: ``model``, ``package`` and so on.
    partial: Other classes extend it; it cannot be exported.
    """

    name: str
    word: str
    line: int
    partial: bool
    tokens: Sequence[Token]

    @property
    def is_model(self) -> bool:
        """Whether it can be the model of an FMU."""
        return self.word in _EXPORTED and not self.partial


def tokens(text: str) -> list[Token]:
    """All tokens of a Modelica text, without white space and comments."""
    found, line, start = [], 1, 0
    for match in _TOKEN.finditer(text):
        end = start + len(match.group().encode())
        if match.lastgroup != "skip":
            found.append(Token(str(match.lastgroup), match.group(), line, start, end))
        line += match.group().count("\n")
        start = end
    return found


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
        parts = word.split(".")
        wanted = [piece for part in parts for piece in (part, ".")][:-1]
        texts = [token.text for token in self.tokens]
        return sorted(
            {self.tokens[i].line for i in range(len(texts)) if texts[i : i + len(wanted)] == wanted}
        )

    def calls_of(self, name: str) -> list[tuple[int, str]]:
        """Lines on which a function is called, and what is between the brackets."""
        found = []
        for start, token in enumerate(self.tokens[:-1]):
            if token.text != name or self.tokens[start + 1].text != "(":
                continue
            depth, words = 1, []
            for inside in self.tokens[start + 2 :]:
                depth += (inside.text == "(") - (inside.text == ")")
                if depth == 0:
                    break
                words.append(inside.text)
            found.append((token.line, re.sub(r" (?=[\[\],.])|(?<=[\[.]) ", "", " ".join(words))))
        return found

    def experiment(self, name: str) -> Experiment:
        """``annotation(experiment(..))`` of a class of this file; what it leaves out is None."""
        own = next((found.tokens for found in self.classes if found.name == name), ())
        return Experiment(**dict(self._arguments(_annotation(own, "experiment"))))

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


@dataclass(slots=True)
class _Open:
    """A class whose end has not been read; a short one (``model A = B;``) ends with a semicolon."""

    name: str
    word: str
    line: int
    partial: bool
    short: bool
    tokens: list[Token] = field(default_factory=list)


def _classes(listed: Sequence[Token]) -> Iterator[ClassText]:
    stack: list[_Open] = []
    depth, partial = 0, False
    for position, token in enumerate(listed):
        depth += (token.text in "([{") - (token.text in ")]}")
        following = _text(listed, position + 1)
        if stack and depth == 0 and _ends(stack[-1], token.text, following):
            name = ".".join(entry.name for entry in stack)
            top = stack.pop()
            yield ClassText(name, top.word, top.line, top.partial, top.tokens)
        elif token.text in CLASS_WORDS and depth == 0 and following not in CLASS_WORDS:
            # "operator record R" is found at its second word.
            name = _text(listed, position + 2) if following == "extends" else following
            short = _text(listed, position + 2) == "="
            stack.append(_Open(name, token.text, token.line, partial, short))
        elif stack:
            stack[-1].tokens.append(token)
        partial = token.text == "partial"


def _ends(top: _Open, text: str, following: str) -> bool:
    return text == ";" if top.short else (text == "end" and following == top.name)


def _text(listed: Sequence[Token], position: int) -> str:
    return listed[position].text if position < len(listed) else ""


def _annotation(listed: Sequence[Token], name: str) -> Sequence[Token]:
    """Tokens inside ``annotation(.. name(..) ..)``; one of a component lies deeper, in no class."""
    depth = 0
    start: int | None = None
    for position, token in enumerate(listed):
        if token.text in "([{":
            depth += 1
            words = [t.text for t in listed[max(0, position - 2) : position]]
            if depth == 2 and words[-1:] == [name] and words[:1] in (["("], [","]):
                start = position + 1
        elif token.text in ")]}":
            depth -= 1
            if start is not None and depth == 1:
                return listed[start:position]
    return ()


def split(inside: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Arguments between commas of the outermost level."""
    depth, begin = 0, 0
    for position, token in enumerate(inside):
        depth += (token.text in "([{") - (token.text in ")]}")
        if token.text == "," and depth == 0:
            yield inside[begin:position]
            begin = position + 1
    if begin < len(inside):
        yield inside[begin:]
