"""Sources in which modifiers are given arrays instead of ranges, which rumoca counts as scalars."""

from __future__ import annotations

import re

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export.modelica.source.text import tokens

_REJECTED = re.compile(
    r"the front end counts \d+ equations for \d+ unknowns"
    r"|sizes of arrays that it cannot prove to be equal"
)
_ENDS = frozenset((",", ")"))


def rejects_range(error: ModelicaError) -> bool:
    """Whether a model was rejected for its number of equations."""
    return _REJECTED.search(str(error)) is not None


def with_listed_ranges(text: str) -> str:
    """Return a text with ``{i for i in 1:n}`` in the place of each modifier ``= 1:n``."""
    listed, content = tokens(text), text.encode()
    for words in reversed(list(zip(*(listed[i:] for i in range(5)), strict=False))):
        equals, first, colon, last, end = words
        plain = first.kind in {"name", "number"} and last.kind in {"name", "number"}
        if plain and (equals.text, colon.text) == ("=", ":") and end.text in _ENDS:
            values = content[first.start : last.end]
            new = b"{i_ for i_ in " + values + b"}"
            content = content[: first.start] + new + content[last.end :]
    return content.decode()
