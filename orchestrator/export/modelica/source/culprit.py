"""Which statement or value a front end rejects, where it does not say: by leaving others out."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise

from orchestrator.export.modelica.source.parser import parse_classes
from orchestrator.export.modelica.source.statements import parts
from orchestrator.export.modelica.source.text import CLASS_WORDS, tokens
from orchestrator.export.modelica.source.token_cursor import NotRead
from orchestrator.export.modelica.source.tree import ClassTree, Place

_SHOWN = 70


def culprit(text: str, model: str, probe: str, rejects: Callable[[str, str], bool]) -> str:
    """Find what has to be left out of a file for a model to be rejected no more."""
    try:
        within, (top, *_) = parse_classes(text, 0)
    except (NotRead, ValueError):
        return ""
    path = model.removeprefix(f"{within}.").split(".") if within else model.split(".")
    own = _inside(top, path[1:])
    if own is None or path[0] != top.name:
        return ""
    name = ".".join(filter(None, (within, probe, *path[1:])))

    def is_rejected(without: Sequence[Place]) -> bool:
        return rejects(_changed(text, top, own, probe, without), name)

    if not is_rejected(()):
        return ""
    for places in (_statements(own), _values(own, text)):
        if places and not is_rejected(places):
            counts = range(1, len(places) + 1)
            least = bisect_left(counts, 1, key=lambda n: int(not is_rejected(places[:n])))
            return _shown(text, places[least])
    return ""


def _inside(tree: ClassTree, path: Sequence[str]) -> ClassTree | None:
    for name in path:
        found = [e.declared for e in tree.elements if e.declared and e.declared.name == name]
        if not found or found[0] is None:
            return None
        tree = found[0]
    return tree


def _changed(
    text: str, top: ClassTree, own: ClassTree, probe: str, without: Sequence[Place]
) -> str:
    """The text without some places, its outermost class renamed and the model partial."""
    content = bytearray(text.encode())
    for place in without:
        room = content[place.start : place.end]
        content[place.start : place.end] = bytes(c if c in b"\r\n" else 32 for c in room)
    names = [
        name
        for word, name in pairwise(tokens(text))
        if name.text == top.name and word.text in CLASS_WORDS | {"end"}
    ]
    edits = [(name.start, name.end, probe) for name in (names[0], names[-1])]
    edits += [] if "partial" in own.prefixes else [(own.place.start, own.place.start, "partial ")]
    for start, end, new in sorted(edits, reverse=True):
        content[start:end] = new.encode()
    return content.decode()


def _statements(tree: ClassTree) -> list[Place]:
    return [place for section in tree.sections for place in parts(section)]


def _values(tree: ClassTree, text: str) -> list[Place]:
    """Values of components, each from its sign on."""
    content = text.encode()
    values = [element.value.place for element in tree.elements if element.value]
    return [Place(0, content.rfind(b"=", 0, each.start), each.end) for each in values]


def _shown(text: str, place: Place) -> str:
    content = text.encode()
    line = content.count(b"\n", 0, place.start) + 1
    said = " ".join(content[place.start : place.end].decode().split())
    return f"{line}: {said if len(said) <= _SHOWN else said[:_SHOWN] + ' ..'}"
