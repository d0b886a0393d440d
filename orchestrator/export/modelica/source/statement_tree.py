"""Trees of the expressions and statements of Modelica texts (Modelica 3.6, appendix A)."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.core.structs import Struct, replace
from orchestrator.export.modelica.source.text import Token

_RELATIONS = frozenset(("<", "<=", ">", ">=", "==", "<>"))
_SUMS = frozenset(("+", "-", ".+", ".-"))
_PRODUCTS = frozenset(("*", "/", ".*", "./"))
_POWERS = frozenset(("^", ".^"))
_JOINED = frozenset(("<=", ">=", "==", "<>", ":=", ".+", ".-", ".*", "./", ".^"))


class NoTree(Exception):  # noqa: N818 - it never leaves the room
    """A text that is no expression or statement."""


class Part(Struct):
    """One part of a name, with its subscripts."""

    name: str
    subscripts: tuple[Node, ...] = ()


class Node(Struct, dict=True):
    """An expression or a statement.

    kind: ``number``, ``text``, ``truth``, ``name``, ``call``, ``named`` (an argument), ``function``
        (a partial application), ``binary``, ``unary``, ``if``, ``array``, ``matrix``, ``row``,
        ``range``, ``tuple``, ``loop`` (of a comprehension), ``comprehension``, ``end`` (with the
        array, and the dimension as its word), ``index`` (an expression and its subscripts),
        ``field`` (of an expression), ``colon`` or ``nothing``; of statements ``assign``,
        ``choice``, ``block``, ``for``, ``while``, ``when``, ``return`` and ``break``.
    word: The operator, the literal or the name of an argument or loop variable.
    inside: What it is made of.
    parts: Those of a name, or of the name of the function that is called.
    start, end: Where it stands in the file, in bytes.
    """

    kind: str
    word: str = ""
    inside: tuple[Node, ...] = ()
    parts: tuple[Part, ...] = ()
    start: int = 0
    end: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The parts of its name; the first of a global one begins with a dot."""
        return tuple(part.name for part in self.parts)


def expression_of(tokens: Sequence[Token]) -> Node:
    """The tree of one expression.

    Raises NoTree: if the tokens are no expression.
    """
    reader = _Reader(tokens)
    node = reader.expression()
    reader.expect_end()
    return node


def statements_of(tokens: Sequence[Token]) -> tuple[Node, ...]:
    """The trees of the statements of an algorithm.

    Raises NoTree: if the tokens are no statements.
    """
    reader = _Reader(tokens)
    statements = reader.statements()
    reader.expect_end()
    return statements


class _Reader:
    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._arrays: list[Node] = []  # those whose subscripts are read
        self._dimensions: list[int] = []

    @property
    def _next(self) -> str:
        return self._sign(self._at)[0]

    def _sign(self, at: int) -> tuple[str, int]:
        """A token with what belongs to it: ``<=`` is two tokens of the text; and how many."""
        if at >= len(self._tokens):
            return "", 0
        token = self._tokens[at]
        if token.kind == "sign" and at + 1 < len(self._tokens):
            after = self._tokens[at + 1]
            pair = token.text + after.text
            if pair in _JOINED and after.start == token.end:
                return pair, 2
        return token.text, 1

    @property
    def _start(self) -> int:
        if self._at >= len(self._tokens):
            raise NoTree("the end")
        return self._tokens[self._at].start

    def _node(self, start: int, kind: str, word: str = "", *inside: Node, **more: object) -> Node:
        end = self._tokens[self._at - 1].end
        return Node(kind, word, inside, start=start, end=end, **more)  # type: ignore[arg-type]

    def _take(self, *texts: str) -> str:
        text, count = self._sign(self._at)
        if text not in texts or not text:
            return ""
        self._at += count
        return text

    def _expect(self, text: str) -> None:
        if not self._take(text):
            raise NoTree(f"'{self._next}' in place of '{text}'")

    def expect_end(self) -> None:
        if self._at < len(self._tokens):
            raise NoTree(f"'{self._next}'")

    def _word(self) -> str:
        if self._at >= len(self._tokens) or self._tokens[self._at].kind != "name":
            raise NoTree(f"'{self._next}' in place of a name")
        self._at += 1
        return self._tokens[self._at - 1].text

    # Expressions, from the weakest operator to the strongest.

    def expression(self) -> Node:
        start = self._start
        if self._next == "if":
            return self._conditional()
        first = self._or()
        if not self._take(":"):
            return first
        second = self._or()
        if not self._take(":"):
            return self._node(start, "range", "", first, second)
        return self._node(start, "range", "", first, second, self._or())

    def _conditional(self) -> Node:
        start, inside = self._start, []
        self._expect("if")
        while True:
            inside.append(self.expression())
            self._expect("then")
            inside.append(self.expression())
            if not self._take("elseif"):
                break
        self._expect("else")
        return self._node(start, "if", "", *inside, self.expression())

    def _or(self) -> Node:
        start, node = self._start, self._and()
        while self._take("or"):
            node = self._node(start, "binary", "or", node, self._and())
        return node

    def _and(self) -> Node:
        start, node = self._start, self._not()
        while self._take("and"):
            node = self._node(start, "binary", "and", node, self._not())
        return node

    def _not(self) -> Node:
        start = self._start
        if self._take("not"):
            return self._node(start, "unary", "not", self._relation())
        return self._relation()

    def _relation(self) -> Node:
        start, node = self._start, self._sum()
        if sign := self._take(*_RELATIONS):
            return self._node(start, "binary", sign, node, self._sum())
        return node

    def _sum(self) -> Node:
        start = self._start
        sign = self._take(*_SUMS)
        node = self._product()
        if sign:
            node = self._node(start, "unary", sign, node)
        while sign := self._take(*_SUMS):
            node = self._node(start, "binary", sign, node, self._product())
        return node

    def _product(self) -> Node:
        start, node = self._start, self._power()
        while sign := self._take(*_PRODUCTS):
            node = self._node(start, "binary", sign, node, self._power())
        return node

    def _power(self) -> Node:
        start, node = self._start, self._primary()
        if sign := self._take(*_POWERS):
            return self._node(start, "binary", sign, node, self._primary())
        return node

    def _primary(self) -> Node:
        start, token = self._start, self._tokens[self._at]
        opened = {"(": self._bracketed, "{": self._braces, "[": self._matrix}.get(token.text)
        kind = {"number": "number", "text": "text"}.get(token.kind)
        kind = "truth" if token.text in {"true", "false"} else kind
        if kind or opened or token.text == "end":
            self._at += 1
        if kind:
            return self._node(start, kind, token.text)
        if opened:
            return self._accessed(start, opened(start))
        if token.text == "end" and self._arrays:
            return self._node(start, "end", str(self._dimensions[-1]), self._arrays[-1])
        return self._accessed(start, self._reference())

    def _accessed(self, start: int, node: Node) -> Node:
        """An expression with the subscripts and members after it: ``f(x)[1]``, ``(f(x)).y``."""
        while True:
            if self._take("["):
                subscripts = self._subscripts(node)
                if node.kind == "name":
                    *before, last = node.parts
                    last = replace(last, subscripts=last.subscripts + subscripts)
                    node = self._node(start, "name", parts=(*before, last))
                else:
                    node = self._node(start, "index", "", node, *subscripts)
            elif self._is_member:
                self._at += 1
                node = self._node(start, "field", self._word(), node)
            else:
                return node

    def _subscripts(self, array: Node) -> tuple[Node, ...]:
        self._arrays.append(array)
        self._dimensions.append(1)
        subscripts = self._arguments("]")
        self._arrays.pop()
        self._dimensions.pop()
        return subscripts

    @property
    def _is_member(self) -> bool:
        after = self._at + 1
        return (
            self._next == "." and after < len(self._tokens) and self._tokens[after].kind == "name"
        )

    def _bracketed(self, start: int) -> Node:
        inside: list[Node] = []
        is_tuple = False
        while not self._take(")"):
            if self._take(","):
                inside.append(self._node(start, "nothing"))
                is_tuple = True
                continue
            inside.append(self.expression())
            if self._next == ",":
                self._at += 1
                is_tuple = True
                if self._next == ")":
                    inside.append(self._node(start, "nothing"))
        if is_tuple or len(inside) != 1:
            return self._node(start, "tuple", "", *inside)
        return inside[0]

    def _braces(self, start: int) -> Node:
        inside = self._arguments("}")
        if len(inside) == 1 and inside[0].kind == "comprehension":
            return inside[0]
        return self._node(start, "array", "", *inside)

    def _matrix(self, start: int) -> Node:
        rows: list[Node] = []
        row: list[Node] = []
        while True:
            row.append(self.expression())
            if self._take(","):
                continue
            rows.append(self._node(row[0].start, "row", "", *row))
            row = []
            if self._take("]"):
                return self._node(start, "matrix", "", *rows)
            self._expect(";")

    def _reference(self) -> Node:
        start, kind = self._start, "function" if self._take("function") else "call"
        parts = self._name()
        if self._take("("):
            return self._node(start, kind, "", *self._arguments(")"), parts=parts)
        return self._node(start, "name", parts=parts)

    def _name(self) -> tuple[Part, ...]:
        start = self._start
        parts: list[Part] = []
        dot = "." if self._take(".") else ""
        while True:
            name = f"{dot}{self._word()}"
            dot = ""
            subscripts: tuple[Node, ...] = ()
            if self._take("["):
                array = self._node(start, "name", parts=(*parts, Part(name)))
                subscripts = self._subscripts(array)
            parts.append(Part(name, subscripts))
            if not self._is_member:
                return tuple(parts)
            self._at += 1

    def _arguments(self, closing: str) -> tuple[Node, ...]:
        inside: list[Node] = []
        while not self._take(closing):
            inside.append(self._argument(closing))
            if self._next != closing:
                self._expect(",")
            if closing == "]":
                self._dimensions[-1] += 1
        return tuple(inside)

    def _argument(self, closing: str) -> Node:
        start = self._start
        if closing == "]" and self._take(":"):
            return self._node(start, "colon")
        token = self._tokens[self._at]
        if token.kind == "name" and self._sign(self._at + 1)[0] == "=":
            self._at += 2
            return self._node(start, "named", token.text, self.expression())
        node = self.expression()
        if self._take("for"):
            return self._node(start, "comprehension", "", node, *self._loops())
        return node

    def _loops(self) -> tuple[Node, ...]:
        loops = []
        while True:
            start, name = self._start, self._word()
            range_ = (self.expression(),) if self._take("in") else ()
            loops.append(self._node(start, "loop", name, *range_))
            if not self._take(","):
                return tuple(loops)

    # Statements.

    def statements(self) -> tuple[Node, ...]:
        nodes: list[Node] = []
        while self._next and self._next not in {"end", "else", "elseif", "elsewhen"}:
            nodes.append(self._statement())
            self._skip_comment()
            self._expect(";")
        return tuple(nodes)

    def _skip_comment(self) -> None:
        while self._at < len(self._tokens) and (
            self._tokens[self._at].kind == "text" or self._next == "+"
        ):
            self._at += 1
        if self._take("annotation"):
            self._expect("(")
            depth = 1
            while depth:
                text = self._next
                depth += (text in {"(", "[", "{"}) - (text in {")", "]", "}"})
                self._at += 1

    def _statement(self) -> Node:
        start = self._start
        if word := self._take("if", "when", "while"):
            return self._branches(start, word)
        if self._take("for"):
            loops = self._loops()
            self._expect("loop")
            return self._closed(start, "for", (*loops, self._block(self.statements())))
        if word := self._take("return", "break"):
            return self._node(start, word)
        target = self._primary()
        if self._take(":="):
            return self._node(start, "assign", "", target, self.expression())
        return target

    def _branches(self, start: int, word: str) -> Node:
        """Conditions and blocks by turns; a last block alone is that of ``else``."""
        inside: list[Node] = []
        while True:
            inside.append(self.expression())
            self._expect("loop" if word == "while" else "then")
            inside.append(self._block(self.statements()))
            if not self._take("elseif", "elsewhen"):
                break
        if self._take("else"):
            inside.append(self._block(self.statements()))
        return self._closed(start, word, tuple(inside))

    def _block(self, inside: tuple[Node, ...]) -> Node:
        return self._node(inside[0].start if inside else 0, "block", "", *inside)

    def _closed(self, start: int, word: str, inside: tuple[Node, ...]) -> Node:
        self._expect("end")
        self._expect(word)
        kind = "choice" if word == "if" else word
        return self._node(start, kind, "", *inside)
