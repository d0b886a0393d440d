"""What a Modelica class declares, and a place in the tokens of its text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from orchestrator.export.modelica.source.text import Token


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A stretch of a source file, in bytes; ``source`` is rumoca's number of the file."""

    source: int
    start: int
    end: int

    def meets(self, span: object) -> bool:
        """Whether a span of rumoca's flat model lies here, in part at least."""
        return (
            isinstance(span, dict)
            and span["source"] == self.source
            and span["start"] < self.end
            and span["end"] > self.start
        )

    @property
    def span(self) -> dict[str, int]:
        """As rumoca writes it."""
        return {"source": self.source, "start": self.start, "end": self.end}


@dataclass(frozen=True, slots=True)
class Value:
    """What stands behind ``=``."""

    tokens: Sequence[Token]
    place: SourcePlace

    @property
    def text(self) -> str:
        """Its tokens, without blanks."""
        return "".join(token.text for token in self.tokens)


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a modification: ``a(k = 2)``, ``a.b = 3`` or ``redeclare ..``."""

    path: tuple[str, ...]
    place: SourcePlace
    value: Value | None = None
    inner: tuple[Argument, ...] = ()
    redeclared: Element | None = None


class ElementKind(Enum):
    """What an element of a class is."""

    EXTENDS = "extends"
    COMPONENT = "component"
    CLASS = "class"
    IMPORT = "import"


@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """One element of a class.

    name: Of the component or class; of an import the name that it gives, ``*`` for all.
    type_name: Class that is extended, imported, or of which the component is.
    conditional, is_array: Whether instances of it may be missing, and whether there may be several.
    dims: What stands between commas of its subscripts: of an array component those behind its type
        come last.
    constraint, constraint_name: Arguments and class of ``constrainedby C(..)``; None and empty
        without such a clause.
    protected: It stands in a protected section.
    declared: The class, of an element that is one.
    """

    kind: ElementKind
    name: str
    place: SourcePlace
    type_name: str = ""
    arguments: tuple[Argument, ...] = ()
    value: Value | None = None
    prefixes: frozenset[str] = frozenset()
    conditional: bool = False
    is_array: bool = False
    constraint: tuple[Argument, ...] | None = None
    declared: ClassTree | None = None
    dims: tuple[str, ...] = ()
    constraint_name: str = ""
    protected: bool = False


@dataclass(frozen=True, slots=True)
class CodeSection:
    """Equations or statements as they are written; ``word`` is ``equation`` or ``algorithm``."""

    word: str
    initial: bool
    tokens: Sequence[Token]
    source: int


@dataclass(slots=True, eq=False)
class ClassTree:
    """A class as it is written; a short one, ``model A = B(..)``, extends what it names.

    word: ``model``, ``package``, ``function`` and so on.
    builtin: An enumeration, or what else has no elements.
    literals: What stands between the brackets of an enumeration.
    """

    name: str
    word: str
    place: SourcePlace
    prefixes: frozenset[str] = frozenset()
    elements: list[Element] = field(default_factory=list)
    sections: list[CodeSection] = field(default_factory=list)
    builtin: bool = False
    short: bool = False
    literals: Sequence[Token] = ()

    def extends(self) -> list[Element]:
        """Bases, in order."""
        return [element for element in self.elements if element.kind is ElementKind.EXTENDS]


_BLOCKS = frozenset(("if", "for", "when", "while"))
_BRANCHES = _BLOCKS | {"else", "elseif", "elsewhen"}
_OPENING = frozenset(("then", "else", "loop"))


def parts(section: CodeSection) -> Iterator[SourcePlace]:
    """Statements and equations of a section, blocks as a whole."""
    depth, begin, first = 0, 0, ""
    for at, token in enumerate(section.tokens):
        first = first or token.text
        before = section.tokens[at - 1].text if at else ""
        if token.text in _BLOCKS and first in {token.text, "end"}:
            depth += -1 if before == "end" else 1
        if token.text == ";" and depth == 0:
            yield SourcePlace(section.source, section.tokens[begin].start, token.end)
            begin = at + 1
        if token.text == ";" or (token.text in _OPENING and first in _BRANCHES):
            first = ""


OPENING, CLOSING = frozenset("([{"), frozenset(")]}")


class NotRead(Exception):  # noqa: N818 - it never leaves the room
    """What rumoca reads and this parser does not."""


class Cursor:
    """Reads tokens one after the other.

    listed: All tokens of the text.
    source: rumoca's number of the file.
    """

    def __init__(self, listed: Sequence[Token], source: int) -> None:
        self._tokens = listed
        self._at = 0
        self._source = source

    @property
    def next(self) -> str:
        """The text of the token that comes; empty at the end."""
        return self._tokens[self._at].text if self._at < len(self._tokens) else ""

    def ahead(self, count: int = 1) -> str:
        """The text of a token further on."""
        place = self._at + count
        return self._tokens[place].text if place < len(self._tokens) else ""

    def advance(self) -> Token:
        """Read one token."""
        if self._at >= len(self._tokens):
            raise NotRead("the end of the file")
        self._at += 1
        return self._tokens[self._at - 1]

    def take(self, text: str) -> bool:
        """Read a token if it is this one."""
        if self.next != text:
            return False
        self._at += 1
        return True

    def expect(self, text: str) -> None:
        """Read this token."""
        if not self.take(text):
            raise NotRead(f"'{self.next}' in place of '{text}'")

    def identifier(self) -> str:
        """Read a name without dots."""
        token = self.advance()
        if token.kind != "name":
            raise NotRead(f"'{token.text}' in place of a name")
        return token.text

    def name(self) -> str:
        """Read a name; a dot before ``*`` or ``{`` is left."""
        parts = ["." if self.take(".") else "", self.identifier()]
        while self.next == "." and self.ahead() not in {"*", "{"}:
            self.advance()
            parts += [".", self.identifier()]
        return "".join(parts)

    def since(self, begin: int) -> SourcePlace:
        """Where the tokens from one to here stand."""
        first, last = self._tokens[begin], self._tokens[max(begin, self._at - 1)]
        return SourcePlace(self._source, first.start, last.end)

    def strings(self) -> None:
        """Read a comment, which may be a sum of strings."""
        while self._at < len(self._tokens) and (
            self._tokens[self._at].kind == "text" or self.next == "+"
        ):
            self.advance()

    def brackets(self) -> Sequence[Token]:
        """Read what is in brackets."""
        begin = self._at
        self.skip_brackets()
        return self._tokens[begin + 1 : self._at - 1]

    def skip_brackets(self) -> None:
        """Pass over brackets and all in them."""
        depth = 0
        while True:
            text = self.advance().text
            depth += (text in OPENING) - (text in CLOSING)
            if depth == 0:
                return

    def skip_to(self, *wanted: str) -> None:
        """Pass over all that is not one of these, and over brackets as a whole."""
        while self.next not in wanted:
            if self.next in OPENING:
                self.skip_brackets()
            else:
                self.advance()
