"""Elements written as text, to stand in a file among others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lxml import etree

_TEXT = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"}
_ATTRIBUTE = {**_TEXT, '"': "&quot;", "\t": "&#9;", "\n": "&#10;"}


@dataclass(frozen=True, slots=True)
class Style:
    """How a file is laid out.

    Parameters
    ----------
    newline
        Between elements; empty: they stand in one line.
    indent
        White space by which a child stands further in than its parent.
    """

    newline: str = "\n"
    indent: str = "  "


def escaped(text: str) -> str:
    """Write a text as the value of an attribute in double quotes."""
    return "".join(_ATTRIBUTE.get(character, character) for character in text)


def fragment(
    element: etree._Element, prefixes: Mapping[str, str | None], style: Style, margin: str
) -> str:
    """Write an element with all that is in it.

    Parameters
    ----------
    element
        From another document, in a namespace as all that is in it.
    prefixes
        Those that are known where it will stand, by namespace; ``None`` for the default one.
    style, margin
        Layout, and the white space that its own line begins with.
    """
    return _written(element, dict(prefixes), style, margin)


def _written(
    element: etree._Element, prefixes: dict[str, str | None], style: Style, margin: str
) -> str:
    namespace, _, local = str(element.tag)[1:].rpartition("}")
    declared = ""
    if namespace not in prefixes:
        prefix: str = str(element.prefix or "ns")
        while prefix in prefixes.values():
            prefix += "_"
        prefixes = {**prefixes, namespace: prefix}
        declared = f' xmlns:{prefix}="{escaped(namespace)}"'
    known = prefixes[namespace]
    tag = f"{known}:{local}" if known else local
    every = ((str(key), str(text)) for key, text in element.attrib.items())
    attributes = "".join(f' {key}="{escaped(text)}"' for key, text in every)
    start = f"<{tag}{declared}{attributes}"
    children = [child for child in element if isinstance(child.tag, str)]
    if children:
        between = style.newline + margin + style.indent if style.newline else ""
        inner = margin + style.indent
        inside = "".join(between + _written(child, prefixes, style, inner) for child in children)
        after = style.newline + margin if style.newline else ""
        return f"{start}>{inside}{after}</{tag}>"
    text = "".join(_TEXT.get(character, character) for character in element.text or "")
    return f"{start}>{text}</{tag}>" if text.strip() else f"{start}/>"
