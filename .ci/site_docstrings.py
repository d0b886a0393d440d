"""An extension of Griffe: docstrings as the site shows them.

Docstrings are numpydoc, whose tables, roles and literal blocks are reStructuredText; the site is
Markdown. And a class may be made of functions that stand in files of their own (``add =
building.add``): these are its methods. A struct is made as a dataclass is, which Griffe knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import griffe

_RULE = re.compile(r"^ *=+( =+)+ *$")
_STRUCTS = "orchestrator.core.structs."
_ROLE = re.compile(r":(?:class|func|meth|mod|attr|data):`~?([^`]+)`")


class SiteDocstrings(griffe.Extension):
    """Turns docstrings into Markdown, and functions that a class takes over into its methods."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Translate the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = _markdown(obj.docstring.value)

    def on_class_members(self, *, cls: griffe.Class, **_: object) -> None:
        """Let a struct count as a dataclass, whose signature is made of its fields."""
        if any(getattr(base, "canonical_path", "").startswith(_STRUCTS) for base in cls.bases):
            _as_dataclass(cls)

    def on_class(self, *, cls: griffe.Class, loader: griffe.GriffeLoader, **_: object) -> None:
        """Replace the attributes of a class that are functions of other files."""
        for name, member in list(cls.members.items()):
            if member.is_alias or not member.is_attribute:
                continue
            if isinstance(member.value, griffe.ExprName | griffe.ExprAttribute):
                found = _function(member.value.canonical_path, loader)
                if found is not None:
                    cls.set_member(name, griffe.Alias(name, found))


def _as_dataclass(struct: griffe.Class) -> None:
    made: griffe.Expr = griffe.ExprName("dataclass", parent="dataclasses")
    if "kw_only" in struct.keywords:
        made = griffe.ExprCall(made, [griffe.ExprKeyword("kw_only", struct.keywords["kw_only"])])
    struct.decorators.append(griffe.Decorator(made, lineno=None, endlineno=None))
    for member in struct.members.values():
        value = member.value if member.is_attribute else None
        if isinstance(value, griffe.ExprCall) and value.canonical_path == f"{_STRUCTS}field":
            value.function = griffe.ExprName("field", parent="dataclasses")


def _function(path: str, loader: griffe.GriffeLoader) -> griffe.Function | None:
    try:
        found = loader.modules_collection[path]
        found = found.final_target if found.is_alias else found
    except (KeyError, griffe.AliasResolutionError):
        return None
    return found if isinstance(found, griffe.Function) else None


def _markdown(text: str) -> str:
    text = _ROLE.sub(r"``\1``", text)
    text = re.sub(r"^( *)::$", r"\1", text, flags=re.MULTILINE)
    text = re.sub(r"::$", ":", text, flags=re.MULTILINE)
    return "\n".join(_with_tables(text.splitlines()))


def _with_tables(lines: list[str]) -> Iterator[str]:
    """Yield lines with every simple table of reStructuredText as one of Markdown."""
    rules = [i for i, line in enumerate(lines) if _RULE.match(line)]
    done = 0
    for top, below, end in zip(rules[::3], rules[1::3], rules[2::3], strict=False):
        starts = [m.start() for m in re.finditer(r"(?<!=)=", lines[top])]
        yield from lines[done:top]
        yield from _rows(lines[top + 1 : below], starts)
        yield _row(["---"] * len(starts))
        yield from _rows(lines[below + 1 : end], starts)
        done = end + 1
    yield from lines[done:]


def _rows(lines: list[str], starts: list[int]) -> Iterator[str]:
    rows: list[list[str]] = []
    for line in lines:
        cells = [line[a:b].strip() for a, b in pairwise([*starts, None])]
        if cells[0] or not rows:
            rows.append(cells)
        else:  # what a row goes on with
            rows[-1] = [" ".join(filter(None, pair)) for pair in zip(rows[-1], cells, strict=True)]
    yield from map(_row, rows)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
