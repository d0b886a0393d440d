"""The statements and equations of a section."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.export.modelica.source.tree import Place, Section

_BLOCKS = frozenset(("if", "for", "when", "while"))
_BRANCHES = _BLOCKS | {"else", "elseif", "elsewhen"}
_OPENING = frozenset(("then", "else", "loop"))


def parts(section: Section) -> Iterator[Place]:
    """Statements and equations of a section, blocks as a whole."""
    depth, begin, first = 0, 0, ""
    for at, token in enumerate(section.tokens):
        first = first or token.text
        before = section.tokens[at - 1].text if at else ""
        if token.text in _BLOCKS and first in {token.text, "end"}:
            depth += -1 if before == "end" else 1
        if token.text == ";" and depth == 0:
            yield Place(section.source, section.tokens[begin].start, token.end)
            begin = at + 1
        if token.text == ";" or (token.text in _OPENING and first in _BRANCHES):
            first = ""
