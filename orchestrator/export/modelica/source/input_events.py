"""Sources in which events of inputs are events of copies, as rumoca asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export.modelica.source.text import ClassText, Token, classes_of

_REJECTED = re.compile(
    r"(change|edge)\(\.\.\.\) must name|pre\(`[^`]*`\) names an external input coordinate"
)
_OPERATORS = frozenset(("change", "edge", "pre"))
_DISCRETE = frozenset(("Integer", "Boolean"))
_SECTIONS = frozenset(("equation", "algorithm"))
_COPY = "_at_events"


def rejects_input_event(error: ModelicaError) -> bool:
    """Whether a model was rejected for ``change``, ``edge`` or ``pre`` of an input."""
    return _REJECTED.search(str(error)) is not None


def with_copied_inputs(text: str, name: str) -> str:
    """Return a text in which a class takes ``change``, ``edge`` and ``pre`` of copies of inputs.

    The copies are variables of the class; lines stay where they are. Inputs that it inherits, or
    that are of other types than Integer and Boolean, are left as they are.
    """
    found = next((each for each in classes_of(text) if each.name == name), None)
    if found is None:
        return text
    inputs = dict(_inputs(found))
    uses = [token for token in _uses(found.tokens) if token.text in inputs]
    sections = [i for i, token in enumerate(found.tokens) if token.text in _SECTIONS]
    if not uses or not sections:
        return text
    before = found.tokens[sections[0] - 1]
    section = before if before.text == "initial" else found.tokens[sections[0]]
    copies = dict.fromkeys(token.text for token in uses)
    declared = "".join(f"{inputs[each]} {each}{_COPY} = {each}; " for each in copies)
    content = text.encode()
    for token in reversed(uses):
        content = content[: token.end] + _COPY.encode() + content[token.end :]
    at = section.start
    return (content[:at] + f"protected {declared}".encode() + content[at:]).decode()


def _inputs(found: ClassText) -> Iterator[tuple[str, str]]:
    """Name and type of each scalar input that the class declares on its own."""
    for word, kind, name, after in zip(*(found.tokens[i:] for i in range(4)), strict=False):
        if word.text == "input" and kind.text in _DISCRETE and after.text != "[":
            yield name.text, kind.text


def _uses(listed: Sequence[Token]) -> Iterator[Token]:
    for operator, opening, name, closing in zip(*(listed[i:] for i in range(4)), strict=False):
        if operator.text in _OPERATORS and (opening.text, closing.text) == ("(", ")"):
            yield name
