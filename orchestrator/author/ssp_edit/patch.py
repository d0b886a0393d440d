"""Changes of an XML file that leave all the rest of its text as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import itemgetter
from typing import TypeAlias

from lxml import etree

from orchestrator.author.ssp_edit.fragment import Style, escaped, fragment
from orchestrator.author.ssp_edit.markup import Markup
from orchestrator.core.diagnostics import SspError
from orchestrator.core.ssp.common.names import children

_ATTRIBUTE = re.compile(rb"(\s+)([^\s=]+)\s*=\s*(\"[^\"]*\"|'[^']*')")
#: What is put in: text in UTF-8 as it stood elsewhere, or an element of another document.
New: TypeAlias = "bytes | etree._Element"  # noqa: SLF001 - lxml's own name of its type


class Patch:
    """Changes that are collected and then made at once.

    Parameters
    ----------
    markup
        The file; it is not changed.
    """

    def __init__(self, markup: Markup) -> None:
        self._markup = markup
        self._attributes: dict[etree._Element, dict[str, str | None]] = {}
        self._removed: list[etree._Element] = []
        self._new: dict[etree._Element, list[tuple[etree._Element | None, New, int]]] = {}
        self._style = _style(markup)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is to be changed."""
        return not (self._attributes or self._removed or self._new)

    def set(self, element: etree._Element, name: str, value: str | None) -> None:
        """Give an attribute a value, or take it away."""
        self._attributes.setdefault(element, {})[name] = value

    def remove(self, element: etree._Element) -> None:
        """Take an element out, with the line that it stands in."""
        self._removed.append(element)

    def insert(
        self, parent: etree._Element, new: New, before: etree._Element | None, rank: int = 0
    ) -> None:
        """Put something into an element, before one of its children or behind the last.

        What comes into one place stands there by rank, and by the order of the calls.
        """
        self._new.setdefault(parent, []).append((before, new, rank))

    def result(self) -> bytes:
        """Return the changed file."""
        text = self._markup.text
        gone = [self._markup.span(element) for element in self._removed]
        pieces = [(start, end, i, new) for i, (start, end, new) in enumerate(self._splices())]
        done: list[bytes] = []
        position = 0
        for start, end, _, new in sorted(pieces):
            inside = any(g.start < start and end < g.end for g in gone)
            if inside:
                continue
            if start < position:
                raise SspError(f"{self._markup.label}: two changes meet in one place; make one")
            done += [text[position:start], new]
            position = end
        return self._markup.encoded(b"".join([*done, text[position:]]))

    def _splices(self) -> Iterator[tuple[int, int, bytes]]:
        for element, attributes in self._attributes.items():
            yield from self._tag(element, attributes)
        for element in self._removed:
            span = self._markup.span(element)
            gap = self._markup.gap_before(span.start)
            yield span.start - len(gap), span.end, b""
        for parent, every in self._new.items():
            yield from self._inserted(parent, every)

    def _tag(
        self, element: etree._Element, changes: dict[str, str | None]
    ) -> Iterator[tuple[int, int, bytes]]:
        span = self._markup.span(element)
        tag = self._markup.text[span.start : span.opened]
        left, last = dict(changes), len(tag) - (2 if tag.endswith(b"/>") else 1)
        behind = len(tag[:last].rstrip())
        for found in _ATTRIBUTE.finditer(tag):
            name = found[2].decode()
            if name not in left:
                continue
            value = left.pop(name)
            if value is None:
                yield span.start + found.start(), span.start + found.end(), b""
            else:
                begin, end = found.span(3)
                yield span.start + begin, span.start + end, _quoted(value)
        added = b"".join(
            b" " + name.encode() + b"=" + _quoted(value)
            for name, value in left.items()
            if value is not None
        )
        if added:
            yield span.start + behind, span.start + behind, added

    def _inserted(
        self, parent: etree._Element, every: list[tuple[etree._Element | None, New, int]]
    ) -> Iterator[tuple[int, int, bytes]]:
        margin, inner = self._margins(parent)
        newline = self._style.newline
        lead = (newline + inner).encode() if newline else b""
        last: list[bytes] = []
        for before, new, _ in sorted(every, key=itemgetter(2)):
            text = new if isinstance(new, bytes) else self._fragment(parent, new, inner)
            if before is None:
                last.append(lead + text)
            else:
                # In front of the white space before it, which goes with it if it is removed.
                start = self._markup.span(before).start
                start -= len(self._markup.gap_before(start))
                yield start, start, lead + text
        if not last:
            return
        span, text = self._markup.span(parent), self._markup.text
        tail = (newline + margin).encode() if newline else b""
        if span.is_empty_tag:
            name = re.match(rb"<([^\s/>]+)", text[span.start : span.end])
            closing = b"</" + (name[1] if name else b"") + b">"
            yield span.opened - 2, span.opened, b">" + b"".join(last) + tail + closing
            return
        gap = self._markup.gap_before(span.closing)
        if span.closing - len(gap) < span.opened:
            gap = text[span.opened : span.closing]
        position = span.closing - len(gap)
        yield position, position, b"".join(last) + (b"" if gap else tail)

    def _fragment(self, parent: etree._Element, new: etree._Element, inner: str) -> bytes:
        prefixes: dict[str, str | None] = {}
        for prefix, uri in parent.nsmap.items():
            if uri not in prefixes or prefix == parent.prefix:
                prefixes[uri] = prefix
        return fragment(new, prefixes, self._style, inner).encode()

    def _margins(self, parent: etree._Element) -> tuple[str, str]:
        """White space before a parent's line and before those of its children."""
        inside = children(parent)
        own = _margin(self._markup, parent)
        if inside and (found := self._markup.gap_before(self._markup.span(inside[0]).start)):
            return own, found.decode().rpartition("\n")[2]
        return own, own + self._style.indent


def _quoted(value: str) -> bytes:
    return f'"{escaped(value)}"'.encode()


def _margin(markup: Markup, element: etree._Element) -> str:
    gap = markup.gap_before(markup.span(element).start).decode()
    return gap.rpartition("\n")[2] if "\n" in gap else ""


def _style(markup: Markup) -> Style:
    """Find out how a file is laid out from its first lines."""
    first = next(iter(children(markup.root)), None)
    if first is None:
        return Style()
    gap = markup.gap_before(markup.span(first).start).decode()
    if "\n" not in gap:
        return Style(newline="", indent="")
    newline = "\r\n" if "\r\n" in gap else "\n"
    indent = gap.rpartition("\n")[2].removeprefix(_margin(markup, markup.root))
    return Style(newline, indent)
