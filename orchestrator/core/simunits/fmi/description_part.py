"""A part of a model description that was read without FMPy."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Final

from lxml import etree

#: The texts of XML Schema that say yes.
TRUE: Final = frozenset({"true", "1"})


class Part(SimpleNamespace):
    """A part of a model description; its fields are called as in the standard and in FMPy.

    Each is equal to itself alone.
    """

    __eq__ = object.__eq__
    __hash__ = object.__hash__  # type: ignore[assignment]


def copied(element: etree._Element, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields with what an element says of them, each of the type that it has."""
    said = {}
    for name, usual in fields.items():
        text = element.get(name)
        if text is None:
            said[name] = usual
        elif isinstance(usual, bool):
            said[name] = text in TRUE
        else:
            said[name] = text if usual is None else type(usual)(text)
    return said
