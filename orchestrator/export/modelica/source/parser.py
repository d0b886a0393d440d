"""Reads the declarations of Modelica classes, and keeps those of all files by their full names."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import PurePath

from orchestrator.core.structs import replace
from orchestrator.export.modelica.source.class_scope import (
    Argument,
    Changes,
    ClassScope,
    ClassTree,
    CodeSection,
    Element,
    ElementKind,
    SourcePlace,
    Value,
)
from orchestrator.export.modelica.source.text import (
    CLASS_WORDS,
    CLOSING,
    OPENING,
    Token,
    nesting,
    split,
    tokens,
)

SECTIONS = frozenset(("equation", "algorithm"))
_BLOCKS = frozenset(("if", "for", "when", "while"))
_BRANCHES = _BLOCKS | {"else", "elseif", "elsewhen"}
_OPENING = frozenset(("then", "else", "loop"))


def blocks(listed: Sequence[Token]) -> Iterator[tuple[int, Token, int]]:
    """Yield tokens with their numbers, and by how much blocks open (1) or close (-1) there.

    A conditional expression is none: its ``if`` does not begin a statement.
    """
    first = ""
    for at, token in enumerate(listed):
        first = first or token.text
        opens = token.text in _BLOCKS and first in {token.text, "end"}
        yield at, token, (0 if not opens else 1 if first == token.text else -1)
        if token.text in {";", *SECTIONS} or (token.text in _OPENING and first in _BRANCHES):
            first = ""


def parts(section: CodeSection) -> Iterator[SourcePlace]:
    """Statements and equations of a section, blocks as a whole."""
    depth, begin = 0, 0
    for at, token, opened in blocks(section.tokens):
        depth += opened
        if token.text == ";" and depth == 0:
            yield SourcePlace(section.source, section.tokens[begin].start, token.end)
            begin = at + 1


_CLASS_PREFIXES = frozenset(
    ("encapsulated", "partial", "expandable", "pure", "impure", "final", "replaceable", "redeclare")
)
_PREFIXES = frozenset(
    (
        "flow",
        "stream",
        "discrete",
        "parameter",
        "constant",
        "input",
        "output",
        "final",
        "inner",
        "outer",
        "replaceable",
        "redeclare",
        "each",
    )
)


class NotRead(Exception):  # noqa: N818 - it never leaves the room
    """What rumoca reads and this parser does not."""


def parse_classes(text: str, source: int) -> tuple[str, list[ClassTree]]:
    """Read a file."""
    parser = _Parser(tokens(text), source)
    return parser.within(), list(parser.classes())


class _Parser:
    """Goes down the grammar of Modelica 3.6, appendix A; ``source`` is the number of a file."""

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
        index = self._at + count
        return self._tokens[index].text if index < len(self._tokens) else ""

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
        depth = nesting(self.advance())
        while depth:
            depth += nesting(self.advance())

    def skip_to(self, *words: str) -> None:
        """Pass over all that is not one of these, and over brackets as a whole."""
        while self.next not in words:
            if self.next in OPENING:
                self.skip_brackets()
            else:
                self.advance()

    def within(self) -> str:
        if not self.take("within"):
            return ""
        name = "" if self.next == ";" else self.name()
        self.expect(";")
        return name

    def classes(self) -> Iterator[ClassTree]:
        while self.next:
            element = self._element()
            self.expect(";")
            if element[0].declared is None:
                raise NotRead(self.next)
            yield element[0].declared

    def _element(self, *, alone: bool = False) -> list[Element]:
        """A class, or the components of one clause; without the semicolon. ``alone``: only one."""
        begin, prefixes = self._at, self._words(_PREFIXES | _CLASS_PREFIXES)
        declared = self._class(begin, prefixes) if self.next in CLASS_WORDS else None
        elements = [] if declared else list(self._components(begin, prefixes, alone=alone))
        name, constraint = "", None
        if self.take("constrainedby"):
            name, constraint = self.name(), self._arguments()
        comment, evaluated = self._comment()
        if declared:
            kind, location = ElementKind.CLASS, self.since(begin)
            elements = [
                Element(kind, declared.name, location, prefixes=prefixes, declared=declared)
            ]
        return [
            replace(
                element,
                constraint=constraint,
                constraint_name=name,
                comment=element.comment or comment,
                evaluated=element.evaluated or evaluated,
            )
            for element in elements
        ]

    def _words(self, keywords: frozenset[str]) -> frozenset[str]:
        words = set()
        while self.next in keywords:
            words.add(self.advance().text)
        return frozenset(words)

    def _components(
        self, begin: int, prefixes: frozenset[str], *, alone: bool
    ) -> Iterator[Element]:
        type_name = self.name()
        dims = self._subscripts()
        yield self._component(begin, type_name, prefixes, dims)
        while not alone and self.take(","):
            yield self._component(self._at, type_name, prefixes, dims)

    def _component(
        self, begin: int, type_name: str, prefixes: frozenset[str], sizes: tuple[Value, ...]
    ) -> Element:
        name = self.identifier()
        sizes = (*self._subscripts(), *sizes)
        arguments, value = self._modification()
        condition = self._expression() if self.take("if") else None
        comment, evaluated = self._comment() if self.next != "constrainedby" else ("", False)
        return Element(
            ElementKind.COMPONENT,
            name,
            self.since(begin),
            type_name,
            arguments,
            value,
            prefixes,
            conditional=condition is not None,
            is_array=bool(sizes),
            dims=_texts(sizes),
            sizes=sizes,
            condition=condition,
            comment=comment,
            evaluated=evaluated,
        )

    def _class(self, begin: int, prefixes: frozenset[str]) -> ClassTree:
        word = self.advance().text
        while self.next in CLASS_WORDS:  # operator record, operator function
            prefixes |= {word}
            word = self.advance().text
        extends, name = self.take("extends"), self.identifier()
        tree = ClassTree(name, word, self.since(begin), prefixes)
        if extends:
            base = Element(ElementKind.EXTENDS, "", self.since(begin), name, self._arguments())
            tree.elements.append(base)
            tree.extending = True
        if not extends and self.take("="):
            self._short(tree)
        else:
            self._composition(tree)
        tree.location = self.since(begin)
        return tree

    def _short(self, tree: ClassTree) -> None:
        tree.short = True
        if self.next in {"enumeration", "der"}:
            tree.derivative = self.advance().text == "der"
            tree.literals = self.brackets()
            tree.builtin = True
            return
        prefixes, begin = self._words(_PREFIXES), self._at
        name, sizes, arguments = self.name(), self._subscripts(), self._arguments()
        location, dims = self.since(begin), _texts(sizes)
        base = Element(ElementKind.EXTENDS, "", location, name, arguments, dims=dims, sizes=sizes)
        tree.elements.append(replace(base, prefixes=prefixes))

    def _composition(self, tree: ClassTree) -> None:
        begin = self._at
        self.strings()
        tree.comment = " ".join(token.text for token in self._tokens[begin : self._at])
        protected = False
        while True:
            if self.take("end"):
                self.identifier()
                return
            if self.next in {"public", "protected"}:
                protected = self.advance().text == "protected"
            elif self.next in SECTIONS or (self.next == "initial" and self.ahead() in SECTIONS):
                tree.sections.append(self._section())
            elif self.next in {"annotation", "external"}:
                self._closing(tree)
            else:
                tree.elements += [
                    replace(element, protected=protected) for element in self._member()
                ]
                self.expect(";")

    def _closing(self, tree: ClassTree) -> None:
        """An external clause or the annotation of a class."""
        begin, word = self._at, self.next
        self.skip_to(";")
        self.advance()
        if word == "external":
            tree.external = self.since(begin)
            clause = self._tokens[begin : self._at]
            if clause[1].text == '"builtin"':
                names = [token.text for token, after in pairwise(clause) if after.text == "("]
                tree.builtin_function = names[0] if names else tree.name
        else:
            tree.annotation = self._tokens[begin + 2 : self._at - 2]

    def _member(self) -> list[Element]:
        begin = self._at
        if self.take("extends"):
            name, arguments = self.name(), self._arguments()
            self._comment()
            return [Element(ElementKind.EXTENDS, "", self.since(begin), name, arguments)]
        if self.take("import"):
            return list(self._imports(begin))
        return self._element()

    def _imports(self, begin: int) -> Iterator[Element]:
        alias = ""
        if self.ahead() == "=":
            alias = self.identifier()
            self.advance()
        name = self.name()
        listed, targets = [alias or name.rpartition(".")[2]], [name]
        if self.take("."):
            if self.take("*"):
                listed = ["*"]
            else:
                listed = [token.text for token in self.brackets() if token.kind == "name"]
                targets = [f"{name}.{item}" for item in listed]
        self._comment()
        for item_name, target in zip(listed, targets, strict=True):
            yield Element(ElementKind.IMPORT, item_name, self.since(begin), target)

    def _modification(self) -> tuple[tuple[Argument, ...], Value | None]:
        arguments = self._arguments()
        if self.next == ":" and self.ahead() == "=":
            self.advance()
        return arguments, self._expression() if self.take("=") else None

    def _arguments(self) -> tuple[Argument, ...]:
        if not self.take("("):
            return ()
        arguments: list[Argument] = []
        while not self.take(")"):
            arguments.append(self._argument())
            if self.next != ")":
                self.expect(",")
        return tuple(arguments)

    def _argument(self) -> Argument:
        begin, ahead = self._at, 0
        while self.ahead(ahead) in {"each", "final"}:
            ahead += 1
        if self.ahead(ahead) in {"redeclare", "replaceable"}:
            (element,) = self._element(alone=True)
            return Argument((element.name,), self.since(begin), redeclared=element)
        prefixes = frozenset(self.advance().text for _ in range(ahead))
        path = tuple(self.name().split("."))
        inner, value = self._modification()
        location = self.since(begin)
        self.strings()
        return Argument(path, location, value, inner, prefixes=prefixes)

    def _expression(self) -> Value:
        """Up to what cannot belong to it: a comma or bracket outside, a comment, a condition."""
        begin, operand = self._at, False
        while self.next and self.next not in {",", ";", "annotation", "constrainedby"}:
            token = self._tokens[self._at]
            if token.text in CLOSING or (operand and (token.kind == "text" or token.text == "if")):
                break
            if token.text in OPENING:
                self.skip_brackets()
                operand = True
                continue
            self.advance()
            words = {"and", "or", "not", "if", "then", "else", "elseif"}
            operand = token.kind != "sign" and token.text not in words
        if begin == self._at:
            raise NotRead(f"'{self.next}' in place of an expression")
        return Value(tuple(self._tokens[begin : self._at]), self.since(begin))

    def _subscripts(self) -> tuple[Value, ...]:
        if self.next != "[":
            return ()
        listed = map(tuple, split(self.brackets()))
        return tuple(
            Value(subscript, SourcePlace(self._source, subscript[0].start, subscript[-1].end))
            for subscript in listed
        )

    def _comment(self) -> tuple[str, bool]:
        """The description, and whether the annotation says that a parameter is evaluated."""
        begin = self._at
        self.strings()
        comment = " ".join(token.text for token in self._tokens[begin : self._at])
        if not self.take("annotation"):
            return comment, False
        words = [token.text for token in self.brackets()]
        return comment, ["Evaluate", "=", "true"] in [
            words[at : at + 3] for at in range(len(words))
        ]

    def _section(self) -> CodeSection:
        """Statements up to the end of the class or the next declarations."""
        initial = self.take("initial")
        word = self.advance().text
        begin = self._at
        stops = ("end", "public", "protected", "annotation", "external", *SECTIONS, "initial")
        self.skip_to(*stops)
        while self._is_inside(begin):
            self._at += 2 if self.next == "end" else 1
            self.skip_to(*stops)
        return CodeSection(word, initial, self._tokens[begin : self._at], self._source)

    def _is_inside(self, begin: int) -> bool:
        """Whether the section that began there goes on with what is usually an end of one."""
        if self.next == "annotation":  # of a statement; that of the class stands alone
            return self._at > begin and self._tokens[self._at - 1].text != ";"
        return (self.next == "end" and self.ahead() in _BLOCKS) or (
            self.next == "initial" and self.ahead() == "("
        )


def _texts(sizes: Sequence[Value]) -> tuple[str, ...]:
    return tuple(size.text for size in sizes)


_LOGGER = logging.getLogger(__name__)
_WITHIN = re.compile(r"\ufeff?\s*(?:(?://[^\n]*\n|/\*.*?\*/)\s*)*within\s+([\w.]+)\s*;", re.DOTALL)


class ClassLibrary:
    """Classes by name; a file of a package is read when something in it is needed.

    files: Number, path and text of each file, as rumoca's source map lists them.
    """

    def __init__(self, files: Iterable[tuple[int, str, str]]) -> None:
        self._unread: dict[str, list[tuple[int, str, str]]] = {}
        self._trees: dict[str, tuple[ClassTree, str]] = {}
        self._scopes: dict[str, ClassScope | None] = {}
        for number, path, text in files:
            within = _WITHIN.match(text)
            if within is None:
                self._read(number, path, text)
            else:
                file_path = PurePath(path)
                name = file_path.parent.name if file_path.name == "package.mo" else file_path.stem
                self._unread.setdefault(f"{within[1]}.{name}", []).append((number, path, text))

    def find(self, name: str) -> ClassScope | None:
        """The class of that full name; None if there is none."""
        if name not in self._scopes:
            self._scopes[name] = None  # against a name that is looked for while it is looked for
            self._scopes[name] = self._read_scope(name)
        return self._scopes[name]

    def _read_scope(self, name: str) -> ClassScope | None:
        for entry in self._unread.pop(name, []):
            self._read(*entry)
        if name in self._trees:
            tree, within = self._trees[name]
            outer = self.find(within) if within else None
            return ClassScope(tree, outer, Changes(), self.find)
        within, _, last = name.rpartition(".")
        outer = self.find(within) if within else None
        return outer.local(last) if outer is not None else None

    def _read(self, number: int, path: str, text: str) -> None:
        try:
            within, trees = parse_classes(text, number)
        except NotRead as error:
            _LOGGER.warning("'%s': the modifications in it were not checked: %s", path, error)
            return
        for tree in trees:
            self._trees[f"{within}.{tree.name}" if within else tree.name] = (tree, within)
