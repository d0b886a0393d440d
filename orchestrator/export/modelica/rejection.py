"""What rumoca says of a class that it rejects, with the places that it leaves out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export.modelica.source.text import CLASS_WORDS, ModelicaText, tokens

_PLACED = re.compile(r"\.mo:\d+")
_QUOTED = re.compile(r"['`]([A-Za-z_][\w.]*)['`]")
_VARIABLE = re.compile(r"[\w.\[\],:]+")
_SHOWN = 3  # places of one name in a message
#: Calls that rumoca refuses without saying where, and what to write.
_CALLS = re.compile(r"\b(change|edge|der)\(\.\.\.\) must")
_INSTEAD = {
    "change": "it takes variables of the model only: for an input u declare Integer v = u, or"
    " one of its type, and write change(v)",
    "edge": "it takes variables of the model only: for an input u declare Boolean v = u and write"
    " edge(v)",
    "der": "it takes one variable: for an expression declare Real v = expression and write der(v)",
}
#: What words of rumoca's own rooms mean.
_MEANT = {
    "expression shape mismatch": "sizes of arrays that it cannot prove to be equal",
    "missing source scope": "a name that it has lost",
    "Flat semantic identity is missing": "it has lost what this belongs to",
}


def is_placed(text: str) -> bool:
    """Whether a message names a line."""
    return _PLACED.search(text) is not None


def class_extends(text: str) -> list[int]:
    """Lines of elements that extend what they redeclare, ``redeclare model extends B``."""
    return [
        word.line
        for word, after in pairwise(tokens(text))
        if word.text in CLASS_WORDS and after.text == "extends"
    ]


def words(text: str, files: Sequence[Path]) -> list[str]:
    """Rumoca's words without what it says twice, and the lines of names that it does not place."""
    said, _, related = text.strip().partition("\nRelated failures")
    news = [line for line in related.splitlines()[1:] if line.rpartition("]: ")[2] not in said]
    for own, meant in _MEANT.items():
        said = said.replace(own, meant)
    lines = [said, *news]
    if not is_placed(text):
        for name in dict.fromkeys(_CALLS.findall(text)):
            lines += [f"{where} ({_INSTEAD[name]})" for where in _calls(name, files)[:_SHOWN]]
        for name in dict.fromkeys(_QUOTED.findall(text)):
            places = [place for file in files for place in _places(name, file)][:_SHOWN]
            if places:
                lines.append(f"'{name}' stands at {', '.join(places)}")
    return lines


def _calls(name: str, files: Sequence[Path]) -> list[str]:
    """Say which calls stand where; of der() those of expressions, as it may have variables."""
    found = []
    for file in files:
        with suppress(ModelicaError):  # a sibling that is no text; rumoca has left it out as well
            found += [
                f"{name}({words}) stands at {file}:{line}"
                for line, words in ModelicaText(file).calls_of(name)
                if name != "der" or not _VARIABLE.fullmatch(words.replace(" ", ""))
            ]
    return found


def _places(name: str, file: Path) -> list[str]:
    """Where a file declares the class of that name, else where it says the name."""
    try:
        text = ModelicaText(file)
    except ModelicaError:  # a sibling that is no text; rumoca has left it out as well
        return []
    last = name.rpartition(".")[2]
    lines = [found.line for found in text.classes if found.name.rpartition(".")[2] == last]
    while name and not lines:  # a flat name has the instance before that of the class
        lines, name = text.lines_of(name), name.partition(".")[2]
    return [f"{file}:{line}" for line in lines]
