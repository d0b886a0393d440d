"""Sources that are changed for rumoca: events, ranges, and statements left out in search of one.

rumoca takes ``d = {..}`` and ``reinit(v, {..})`` of whole arrays at events, and no elements; and it
counts a range as a scalar where a modifier has one.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from orchestrator.core.structs import Struct
from orchestrator.export.modelica.source.class_scope import ClassTree, SourcePlace
from orchestrator.export.modelica.source.parser import (
    SECTIONS,
    NotRead,
    blocks,
    parse_classes,
    parts,
)
from orchestrator.export.modelica.source.text import (
    CLASS_WORDS,
    ClassText,
    Token,
    classes_of,
    edited,
    nesting,
    tokens,
    windows,
)

#: rumoca's words about an element that changes in a when clause.
ELEMENT_EVENT = re.compile(
    r"reinit\(\) can only be applied to state variables: [\w.]+\[\d+\]"
    r"|`[\w.]+\[\d+\]` is not a discrete coordinate"
)
_COUNTED = re.compile(
    r"the front end counts \d+ equations for \d+ unknowns"
    r"|sizes of arrays that it cannot prove to be equal"
)
_ARRAY_TYPES = frozenset(("Real", "Integer", "Boolean"))


def with_listed_ranges(text: str) -> str:
    """Return a text with ``{i for i in 1:n}`` in the place of each modifier ``= 1:n``."""
    edits = []
    for equals, first, colon, last, end in windows(tokens(text), 5):
        plain = first.kind in {"name", "number"} and last.kind in {"name", "number"}
        if plain and (equals.text, colon.text) == ("=", ":") and end.text in {",", ")"}:
            edits += [(first.start, first.start, "{i_ for i_ in "), (last.end, last.end, "}")]
    return edited(text, edits)


class _Change(Struct):
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
    edits = [edit for definition in classes_of(text) for edit in _edits(definition, content)]
    return edited(text, edits)


def _edits(definition: ClassText, content: bytes) -> Iterator[tuple[int, int, str]]:
    sizes = dict(_sizes(definition.tokens))
    for branch in _branches(definition.tokens):
        changes = [
            change for change in _changes(branch) if change.index <= sizes.get(change.name, 0)
        ]
        for key in dict.fromkeys((change.name, change.reinit) for change in changes):
            same = [change for change in changes if (change.name, change.reinit) == key]
            if len({change.index for change in same}) < len(same):
                continue  # an element twice: rumoca says so
            yield from _whole_array_edits(same, sizes[key[0]], content)


def _whole_array_edits(
    same: Sequence[_Change], size: int, content: bytes
) -> Iterator[tuple[int, int, str]]:
    name, reinit = same[0].name, same[0].reinit
    values_given = {
        change.index: content[change.value[0].start : change.value[-1].end].decode()
        for change in same
    }
    keep_form = "{0}[{1}]" if reinit else "pre({0}[{1}])"
    values = ", ".join(values_given.get(i, keep_form.format(name, i)) for i in range(1, size + 1))
    statement = f"reinit({name}, {{{values}}});" if reinit else f"{name} = {{{values}}};"
    for change, new in zip(same, (statement, *[""] * (len(same) - 1)), strict=True):
        start, end = change.first.start, change.last.end
        lines = content[start:end].count(b"\n") - new.count("\n")
        yield start, end, new + "\n" * lines


def _sizes(listed: Sequence[Token]) -> Iterator[tuple[str, int]]:
    """Yield vectors that the class declares with a number as their size."""
    depth, is_value = 0, False
    for at, token in enumerate(listed[:-3]):
        if token.text in SECTIONS:
            return
        depth += nesting(token)
        if not depth:
            is_value = token.text not in {",", ";"} and (is_value or token.text == "=")
        opening, size, closing = listed[at + 1 : at + 4]
        if depth or is_value or (opening.text, closing.text) != ("[", "]"):
            continue
        if token.kind == "name" and size.text.isdecimal():
            name = listed[at + 4] if token.text in _ARRAY_TYPES else token
            yield name.text, int(size.text)


def _branches(listed: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield what stands between ``then`` and the next branch, or the end, of when equations."""
    section, depth, inside, begin = "", 0, 0, 0
    for at, token, opened in blocks(listed):
        depth += opened
        if token.text in SECTIONS and not depth:
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
    """Yield the changes in the branch itself, not in an ``if`` or ``for`` of it."""
    depth, first = 0, 0
    for at, token, opened in blocks(branch):
        depth += opened
        if token.text == ";":
            if not depth and (change := _change(branch[first : at + 1])):
                yield change
            first = at + 1


def _change(words: Sequence[Token]) -> _Change | None:
    texts = [token.text for token in words]
    reinit = texts[:2] == ["reinit", "("]
    name, *tokens_after = words[2:] if reinit else words
    after = texts[6:7] == [","] if reinit else texts[4:5] == ["="]
    shape = [token.text for token in tokens_after[:3]]
    if not (after and shape[0] == "[" and shape[1].isdecimal() and shape[2] == "]"):
        return None
    value = words[7:-2] if reinit else words[5:-1]
    return _Change(name.text, int(shape[1]), value, reinit, words[0], words[-1])


_REJECTED = re.compile(
    r"(change|edge)\(\.\.\.\) must name|pre\(`[^`]*`\) names an external input coordinate"
)
_OPERATORS = frozenset(("change", "edge", "pre"))
_DISCRETE = frozenset(("Integer", "Boolean"))
_COPY = "_at_events"


def with_copied_inputs(text: str, name: str) -> str:
    """Return a text in which a class takes ``change``, ``edge`` and ``pre`` of copies of inputs.

    The copies are variables of the class; lines stay where they are. Inputs that it inherits, or
    that are of other types than Integer and Boolean, are left as they are.
    """
    definition = next(
        (class_text for class_text in classes_of(text) if class_text.name == name), None
    )
    if definition is None:
        return text
    inputs = dict(_inputs(definition))
    uses = [
        name
        for operator, opening, name, closing in windows(definition.tokens, 4)
        if operator.text in _OPERATORS and (opening.text, closing.text) == ("(", ")")
        if name.text in inputs
    ]
    sections = [i for i, token in enumerate(definition.tokens) if token.text in SECTIONS]
    if not uses or not sections:
        return text
    before = definition.tokens[sections[0] - 1]
    section = before if before.text == "initial" else definition.tokens[sections[0]]
    copies = dict.fromkeys(token.text for token in uses)
    declared = "".join(f"{inputs[copy]} {copy}{_COPY} = {copy}; " for copy in copies)
    edits = [(token.end, token.end, _COPY) for token in uses]
    return edited(text, [*edits, (section.start, section.start, f"protected {declared}")])


def _inputs(definition: ClassText) -> Iterator[tuple[str, str]]:
    """Name and type of each scalar input that the class declares on its own."""
    for word, kind, name, after in windows(definition.tokens, 4):
        if word.text == "input" and kind.text in _DISCRETE and after.text != "[":
            yield name.text, kind.text


#: Words of rumoca about a model, and texts of its files in which that is said in other words, from
#: a text and the name of the model in it, if it is there.
REWORDED: tuple[tuple[re.Pattern[str], Callable[[str, str], str]], ...] = (
    (_REJECTED, with_copied_inputs),
    (ELEMENT_EVENT, lambda text, _: with_whole_arrays(text)),
    (_COUNTED, lambda text, _: with_listed_ranges(text)),
)
_SHOWN = 70


def culprit(text: str, model: str, probe: str, rejects: Callable[[str, str], bool]) -> str:
    """Find what has to be left out of a file for a model to be rejected no more."""
    try:
        within, (top, *_) = parse_classes(text, 0)
    except (NotRead, ValueError):
        return ""
    path = model.removeprefix(f"{within}.").split(".") if within else model.split(".")
    inner_tree = _inside(top, path[1:])
    if inner_tree is None or path[0] != top.name:
        return ""
    name = ".".join(filter(None, (within, probe, *path[1:])))

    def is_rejected(without: Sequence[SourcePlace]) -> bool:
        return rejects(_changed(text, top, inner_tree, probe, without), name)

    if not is_rejected(()):
        return ""
    for locations in (_statements(inner_tree), _values(inner_tree, text)):
        if locations and not is_rejected(locations):
            counts = range(1, len(locations) + 1)
            first_rejected = bisect_left(
                counts, 1, key=lambda n: int(not is_rejected(locations[:n]))
            )
            return _shown_line(text, locations[first_rejected])
    return ""


def _inside(tree: ClassTree, path: Sequence[str]) -> ClassTree | None:
    for name in path:
        declared = [e.declared for e in tree.elements if e.declared and e.declared.name == name]
        if not declared or declared[0] is None:
            return None
        tree = declared[0]
    return tree


def _changed(
    text: str, top: ClassTree, inner_tree: ClassTree, probe: str, without: Sequence[SourcePlace]
) -> str:
    """The text without some places, its outermost class renamed and the model partial."""
    content = text.encode()
    rooms = ((e.start, e.end, content[e.start : e.end]) for e in without)
    edits = [(at, end, re.sub(rb"[^\r\n]", b" ", room).decode()) for at, end, room in rooms]
    names = [
        name
        for word, name in pairwise(tokens(text))
        if name.text == top.name and word.text in CLASS_WORDS | {"end"}
    ]
    edits += [(name.start, name.end, probe) for name in (names[0], names[-1])]
    edits += (
        []
        if "partial" in inner_tree.prefixes
        else [(inner_tree.location.start, inner_tree.location.start, "partial ")]
    )
    return edited(text, edits)


def _statements(tree: ClassTree) -> list[SourcePlace]:
    return [statement for section in tree.sections for statement in parts(section)]


def _values(tree: ClassTree, text: str) -> list[SourcePlace]:
    """Values of components, each from its sign on."""
    content = text.encode()
    values = [element.value.location for element in tree.elements if element.value]
    return [SourcePlace(0, content.rfind(b"=", 0, value.start), value.end) for value in values]


def _shown_line(text: str, location: SourcePlace) -> str:
    content = text.encode()
    line = content.count(b"\n", 0, location.start) + 1
    statement = " ".join(content[location.start : location.end].decode().split())
    return f"{line}: {statement if len(statement) <= _SHOWN else statement[:_SHOWN] + ' ..'}"
