"""Sources in which arrays are said as rumoca takes them.

It takes ``d = {..}`` and ``reinit(v, {..})`` of whole arrays at events, and no elements; and it
counts a range as a scalar where a modifier has one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export.modelica.source.text import ClassText, Token, classes_of, tokens

#: rumoca's words about an element that changes in a when clause.
ELEMENT_EVENT = re.compile(
    r"reinit\(\) can only be applied to state variables: [\w.]+\[\d+\]"
    r"|`[\w.]+\[\d+\]` is not a discrete coordinate"
)
_COUNTED = re.compile(
    r"the front end counts \d+ equations for \d+ unknowns"
    r"|sizes of arrays that it cannot prove to be equal"
)
_SECTIONS = frozenset(("equation", "algorithm"))
_BLOCKS = frozenset(("if", "for", "while", "when"))
_BRANCHES = _BLOCKS | {"else", "elseif", "elsewhen"}
_OPENING = frozenset(("then", "else", "loop"))
_ARRAY_TYPES = frozenset(("Real", "Integer", "Boolean"))


def rejects_element_event(error: ModelicaError) -> bool:
    """Whether a model was rejected for an element that changes in a when clause."""
    return ELEMENT_EVENT.search(str(error)) is not None


def rejects_range(error: ModelicaError) -> bool:
    """Whether a model was rejected for its number of equations."""
    return _COUNTED.search(str(error)) is not None


def with_listed_ranges(text: str) -> str:
    """Return a text with ``{i for i in 1:n}`` in the place of each modifier ``= 1:n``."""
    listed, content = tokens(text), text.encode()
    for words in reversed(list(zip(*(listed[i:] for i in range(5)), strict=False))):
        equals, first, colon, last, end = words
        plain = first.kind in {"name", "number"} and last.kind in {"name", "number"}
        if plain and (equals.text, colon.text) == ("=", ":") and end.text in {",", ")"}:
            values = content[first.start : last.end]
            new = b"{i_ for i_ in " + values + b"}"
            content = content[: first.start] + new + content[last.end :]
    return content.decode()


@dataclass(frozen=True, slots=True)
class _Change:
    """``name[index] = value`` or ``reinit(name[index], value)``, from a token to its semicolon."""

    name: str
    index: int
    value: Sequence[Token]
    reinit: bool
    first: Token
    last: Token


def with_whole_arrays(text: str) -> str:
    """Return a text whose when equations change whole arrays; lines stay where they are.

    That is done where size and index are numbers: elements that a clause does not name get the
    values that they have. Others are left as they are.
    """
    content = text.encode()
    edits = [edit for each in classes_of(text) for edit in _edits(each, content)]
    for start, end, new in sorted(edits, reverse=True):
        lines = content[start:end].count(b"\n") - new.count(b"\n")
        content = content[:start] + new + b"\n" * lines + content[end:]
    return content.decode()


def _edits(found: ClassText, content: bytes) -> Iterator[tuple[int, int, bytes]]:
    sizes = dict(_sizes(found.tokens))
    for branch in _branches(found.tokens):
        changes = [each for each in _changes(branch) if each.index <= sizes.get(each.name, 0)]
        for key in dict.fromkeys((each.name, each.reinit) for each in changes):
            same = [each for each in changes if (each.name, each.reinit) == key]
            if len({each.index for each in same}) < len(same):
                continue  # an element twice: rumoca says so
            yield from _whole(same, sizes[key[0]], content)


def _whole(same: Sequence[_Change], size: int, content: bytes) -> Iterator[tuple[int, int, bytes]]:
    name, reinit = same[0].name, same[0].reinit
    given: Mapping[int, bytes] = {
        each.index: content[each.value[0].start : each.value[-1].end] for each in same
    }
    kept = "{0}[{1}]" if reinit else "pre({0}[{1}])"
    values = [given.get(i, kept.format(name, i).encode()) for i in range(1, size + 1)]
    listed = b"{" + b", ".join(values) + b"}"
    whole = b"reinit(%s, %s);" if reinit else b"%s = %s;"
    yield same[0].first.start, same[0].last.end, whole % (name.encode(), listed)
    for each in same[1:]:
        yield each.first.start, each.last.end, b""


def _sizes(listed: Sequence[Token]) -> Iterator[tuple[str, int]]:
    """Yield vectors that the class declares with a number as their size."""
    depth, is_value = 0, False
    for at, token in enumerate(listed[:-3]):
        if token.text in _SECTIONS:
            return
        depth += (token.text in "([{") - (token.text in ")]}")
        if not depth:
            is_value = token.text not in {",", ";"} and (is_value or token.text == "=")
        opening, size, closing = listed[at + 1 : at + 4]
        if depth or is_value or (opening.text, closing.text) != ("[", "]"):
            continue
        if token.kind == "name" and size.text.isdecimal():
            name = listed[at + 4] if token.text in _ARRAY_TYPES else token
            yield name.text, int(size.text)


def _blocks(listed: Sequence[Token]) -> Iterator[tuple[int, Token, int]]:
    """Yield tokens with their numbers, and by how much blocks open (1) or close (-1) there.

    A conditional expression is none: its ``if`` does not begin a statement.
    """
    first = ""
    for at, token in enumerate(listed):
        first = first or token.text
        opens = token.text in _BLOCKS and first in {token.text, "end"}
        yield at, token, (0 if not opens else 1 if first == token.text else -1)
        if token.text in {";", *_SECTIONS} or (token.text in _OPENING and first in _BRANCHES):
            first = ""


def _branches(listed: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield what stands between ``then`` and the next branch, or the end, of when equations."""
    section, depth, inside, begin = "", 0, 0, 0
    for at, token, opened in _blocks(listed):
        depth += opened
        if token.text in _SECTIONS and not depth:
            section = token.text
        elif opened > 0 and token.text == "when" and not inside and section == "equation":
            inside = depth
        elif inside and depth == inside - 1:
            yield listed[begin : at - 1]
            inside = 0
        elif inside == depth and token.text == "elsewhen":
            yield listed[begin:at]
        if inside == depth and token.text == "then" and _begins(listed, at):
            begin = at + 1


def _begins(listed: Sequence[Token], at: int) -> bool:
    """Whether a ``then`` is that of a clause, whose condition has no ``if`` of its own."""
    words = [token.text for token in listed[:at]]
    last = max((i for i, word in enumerate(words) if word in {"when", "elsewhen", ";"}), default=0)
    return words[last] != ";" and "if" not in words[last:]


def _changes(branch: Sequence[Token]) -> Iterator[_Change]:
    """Yield those that stand in the branch itself, not in an ``if`` or ``for`` of it."""
    depth, first = 0, 0
    for at, token, opened in _blocks(branch):
        depth += opened
        if token.text == ";":
            if not depth and (change := _change(branch[first : at + 1])):
                yield change
            first = at + 1


def _change(words: Sequence[Token]) -> _Change | None:
    texts = [token.text for token in words]
    reinit = texts[:2] == ["reinit", "("]
    name, *rest = words[2:] if reinit else words
    after = texts[6:7] == [","] if reinit else texts[4:5] == ["="]
    shape = [token.text for token in rest[:3]]
    if not (after and shape[0] == "[" and shape[1].isdecimal() and shape[2] == "]"):
        return None
    value = words[7:-2] if reinit else words[5:-1]
    return _Change(name.text, int(shape[1]), value, reinit, words[0], words[-1])
