"""What a Modelica class declares: bases, components, classes inside, and how each is modified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from orchestrator.export.modelica.source.text import Token


@dataclass(frozen=True, slots=True)
class Place:
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
    place: Place

    @property
    def text(self) -> str:
        """Its tokens, without blanks."""
        return "".join(token.text for token in self.tokens)


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a modification: ``a(k = 2)``, ``a.b = 3`` or ``redeclare ..``."""

    path: tuple[str, ...]
    place: Place
    value: Value | None = None
    inner: tuple[Argument, ...] = ()
    redeclared: Element | None = None


class Kind(Enum):
    """What an element of a class is."""

    EXTENDS = "extends"
    COMPONENT = "component"
    CLASS = "class"
    IMPORT = "import"


@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """One element of a class.

    Attributes
    ----------
    name
        Of the component or class; of an import the name that it gives, ``*`` for all.
    type_name
        Class that is extended, imported, or of which the component is.
    conditional, is_array
        Whether instances of it may be missing, and whether there may be several.
    dims
        What stands between commas of its subscripts: of an array component those behind its type
        come last.
    constraint, constraint_name
        Arguments and class of ``constrainedby C(..)``; None and empty without such a clause.
    protected
        It stands in a protected section.
    declared
        The class, of an element that is one.
    """

    kind: Kind
    name: str
    place: Place
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
class Section:
    """Equations or statements as they are written; ``word`` is ``equation`` or ``algorithm``."""

    word: str
    initial: bool
    tokens: Sequence[Token]
    source: int


@dataclass(slots=True, eq=False)
class ClassTree:
    """A class as it is written; a short one, ``model A = B(..)``, extends what it names.

    Attributes
    ----------
    word
        ``model``, ``package``, ``function`` and so on.
    builtin
        An enumeration, or what else has no elements.
    literals
        What stands between the brackets of an enumeration.
    """

    name: str
    word: str
    place: Place
    prefixes: frozenset[str] = frozenset()
    elements: list[Element] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    builtin: bool = False
    short: bool = False
    literals: Sequence[Token] = ()

    def extends(self) -> list[Element]:
        """Bases, in order."""
        return [element for element in self.elements if element.kind is Kind.EXTENDS]
