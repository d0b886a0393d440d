"""Changes of an XML file that leave all the rest of its text as it is."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import TypeAlias
from xml.parsers import expat

from lxml import etree

from orchestrator.core.diagnostics import SspError
from orchestrator.core.files.archive import parse_xml
from orchestrator.core.ssp.common.names import children
from orchestrator.core.structs import Struct

_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_ATTRIBUTE_TEXT = _TEXT | str.maketrans({'"': "&quot;", "\t": "&#9;", "\n": "&#10;"})


class Style(Struct):
    """How a file is laid out.

    newline: Between elements; empty: they stand in one line.
    indent: White space by which a child stands further in than its parent.
    """

    newline: str = "\n"
    indent: str = "  "

    def line(self, margin: str) -> str:
        """Return what stands before something on a line of its own."""
        return self.newline + margin if self.newline else ""


def _quoted(value: str) -> str:
    """Write the value of an attribute."""
    return f'"{value.translate(_ATTRIBUTE_TEXT)}"'


def _written(
    element: etree._Element, prefixes: Mapping[str, str | None], style: Style, margin: str
) -> str:
    """Write an element with all that is in it."""
    namespace, _, local = str(element.tag)[1:].rpartition("}")
    declared = ""
    if namespace not in prefixes:
        prefix: str = str(element.prefix or "ns")
        while prefix in prefixes.values():
            prefix += "_"
        prefixes = {**prefixes, namespace: prefix}
        declared = f" xmlns:{prefix}={_quoted(namespace)}"
    namespace_prefix = prefixes[namespace]
    tag = f"{namespace_prefix}:{local}" if namespace_prefix else local
    attributes = "".join(f" {k!s}={_quoted(str(text))}" for k, text in element.attrib.items())
    start = f"<{tag}{declared}{attributes}"
    if every := children(element):
        inner = margin + style.indent
        inside = (style.line(inner) + _written(child, prefixes, style, inner) for child in every)
        return f"{start}>{''.join(inside)}{style.line(margin)}</{tag}>"
    text = (element.text or "").translate(_TEXT)
    return f"{start}>{text}</{tag}>" if text.strip() else f"{start}/>"


#: Byte order marks and the encodings that they stand for; the mark stays a character of the text.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class TextSpan(Struct):
    """Where an element stands, in bytes of the text in UTF-8.

    start, end: The whole element.
    opened: Behind its start tag.
    closing: Before its end tag; ``end`` if it is written as ``<a/>``.
    """

    start: int
    opened: int
    closing: int
    end: int


class Markup:
    """The text of an XML file with its tree.

    content: The file.
    label: The file as the user knows it.
    Raises SspError: if it is not well-formed, declares a document type, or its encoding does not
        come back as it was.
    """

    def __init__(self, content: bytes, label: str) -> None:
        self.label = label
        self.root = parse_xml(content, label, SspError)
        self._encoding = _encoding(content, self.root)
        try:
            self.text = content.decode(self._encoding).encode()
            same = self.text.decode().encode(self._encoding) == content
        except (UnicodeError, LookupError):
            same = False
        if not same:
            raise SspError(
                f"{label}: its encoding {self._encoding} cannot be kept while it is edited; save it"
                " as UTF-8 first"
            )
        # Elements are kept: lxml would make new objects for them otherwise.
        self._elements = list(self.root.iter("*"))
        self._spans = dict(zip(self._elements, _spans(self.text), strict=True))

    def span(self, element: etree._Element) -> TextSpan:
        """Return where an element stands."""
        return self._spans[element]

    def source(self, element: etree._Element) -> bytes:
        """Return the text of an element as it stands in the file, in UTF-8."""
        span = self._spans[element]
        return self.text[span.start : span.end]

    def gap_before(self, position: int) -> bytes:
        """Return the white space that ends at a position."""
        start = position
        while start and self.text[start - 1 : start].isspace():
            start -= 1
        return self.text[start:position]

    def encoded(self, text: bytes) -> bytes:
        """Return another text, in UTF-8, in the encoding of the file."""
        try:
            return text.decode().encode(self._encoding)
        except UnicodeError as error:
            raise SspError(
                f"{self.label}: its encoding {self._encoding} cannot hold the change: {error}"
            ) from None


def _encoding(content: bytes, root: etree._Element) -> str:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return encoding
    return root.getroottree().docinfo.encoding or "utf-8"


def _spans(text: bytes) -> list[TextSpan]:
    """Find the places of all elements, in the order of their start tags."""
    spans: list[list[int]] = []
    open_: list[int] = []
    parser = expat.ParserCreate("utf-8")

    def start(_name: str, _attributes: dict[str, str]) -> None:
        begin = parser.CurrentByteIndex
        open_.append(len(spans))
        spans.append([begin, _tag_end(text, begin), 0, 0])

    def end(_name: str) -> None:
        span = spans[open_.pop()]
        if text[span[1] - 2 : span[1]] == b"/>":
            span[2:] = [span[1], span[1]]
        else:
            closing = parser.CurrentByteIndex
            span[2:] = [closing, text.index(b">", closing) + 1]

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.Parse(text, True)  # noqa: FBT003 - expat: all of it
    return [TextSpan(*span) for span in spans]


def _tag_end(text: bytes, start: int) -> int:
    """Find the end of a start tag; a ``>`` in quotes is none."""
    position = start
    while True:
        position += 1
        character = text[position : position + 1]
        if character in (b'"', b"'"):
            position = text.index(character, position + 1)
        elif character == b">":
            return position + 1


_ATTRIBUTE = re.compile(rb"(\s+)([^\s=]+)\s*=\s*(\"[^\"]*\"|'[^']*')")
#: What is put in: text in UTF-8 as it stood elsewhere, or an element of another document.
New: TypeAlias = "bytes | etree._Element"  # noqa: SLF001 - lxml's own name of its type


class Patch:
    """Changes that are collected and then made at once.

    markup: The file; it is not changed.
    """

    def __init__(self, markup: Markup) -> None:
        self._markup = markup
        self._attributes: dict[etree._Element, dict[str, str | None]] = {}
        self._removed: list[etree._Element] = []
        self._replaced: dict[etree._Element, etree._Element] = {}
        self._new: dict[etree._Element, list[tuple[etree._Element | None, New, int]]] = {}
        self._style = _style(markup)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is to be changed."""
        return not (self._attributes or self._removed or self._replaced or self._new)

    def set(self, element: etree._Element, name: str, value: str | None) -> None:
        """Give an attribute a value, or take it away."""
        self._attributes.setdefault(element, {})[name] = value

    def remove(self, element: etree._Element) -> None:
        """Take an element out, with the line that it stands in."""
        self._removed.append(element)

    def replace(self, element: etree._Element, new: etree._Element) -> None:
        """Put another element in the place of one, on the line that it stands in."""
        self._replaced[element] = new

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
        for element, new in self._replaced.items():
            span, parent = self._markup.span(element), element.getparent()
            if parent is not None:
                yield span.start, span.end, self._fragment(parent, new, self._margins(parent)[1])
        for parent, every in self._new.items():
            yield from self._inserted(parent, every)

    def _tag(
        self, element: etree._Element, changes: dict[str, str | None]
    ) -> Iterator[tuple[int, int, bytes]]:
        span = self._markup.span(element)
        tag = self._markup.text[span.start : span.opened]
        remaining, last = dict(changes), len(tag) - (2 if tag.endswith(b"/>") else 1)
        behind = len(tag[:last].rstrip())
        for match in _ATTRIBUTE.finditer(tag):
            name = match[2].decode()
            if name not in remaining:
                continue
            value = remaining.pop(name)
            if value is None:
                yield span.start + match.start(), span.start + match.end(), b""
            else:
                begin, end = match.span(3)
                yield span.start + begin, span.start + end, _quoted(value).encode()
        added = "".join(
            f" {k}={_quoted(value)}" for k, value in remaining.items() if value is not None
        )
        if added:
            yield span.start + behind, span.start + behind, added.encode()

    def _inserted(
        self, parent: etree._Element, every: list[tuple[etree._Element | None, New, int]]
    ) -> Iterator[tuple[int, int, bytes]]:
        margin, inner = self._margins(parent)
        lead = self._style.line(inner).encode()
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
        tail = self._style.line(margin).encode()
        if span.closing == span.end:
            name = re.match(rb"<([^\s/>]+)", text[span.start : span.end])
            closing = b"</" + (name[1] if name else b"") + b">"
            yield span.opened - 2, span.opened, b">" + b"".join(last) + tail + closing
            return
        gap = self._markup.gap_before(span.closing)
        if span.closing - len(gap) < span.opened:
            gap = text[span.opened : span.closing]
        position = span.closing - len(gap)
        if gap or children(parent):  # the end tag stays where it is: on a line, or behind the last
            tail = b""
        yield position, position, b"".join(last) + tail

    def _fragment(self, parent: etree._Element, new: etree._Element, inner: str) -> bytes:
        prefixes: dict[str, str | None] = {}
        for prefix, uri in parent.nsmap.items():
            if uri not in prefixes or prefix == parent.prefix:
                prefixes[uri] = prefix
        return _written(new, prefixes, self._style, inner).encode()

    def _margins(self, parent: etree._Element) -> tuple[str, str]:
        """White space before a parent's line and before those of its children."""
        inside = children(parent)
        margin = _margin(self._markup, parent)
        if inside and (gap := self._markup.gap_before(self._markup.span(inside[0]).start)):
            return margin, gap.decode().rpartition("\n")[2]
        return margin, margin + self._style.indent


def _margin(markup: Markup, element: etree._Element) -> str:
    """White space at the begin of the line that an element stands on."""
    gap = markup.gap_before(markup.span(element).start).decode()
    if "\n" in gap:
        return gap.rpartition("\n")[2]
    parent = element.getparent()
    return "" if parent is None else _margin(markup, parent)


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
