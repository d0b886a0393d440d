"""XML as it stands in a file: every element knows its place in the text."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from xml.parsers import expat

from lxml import etree

from orchestrator.core.archive import parse_xml
from orchestrator.core.diagnostics import SspError

#: Byte order marks and the encodings that they stand for; the mark stays a character of the text.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class Span:
    """Where an element stands, in bytes of the text in UTF-8.

    Parameters
    ----------
    start, end
        The whole element.
    opened
        Behind its start tag.
    closing
        Before its end tag; ``end`` if it is an empty tag.
    """

    start: int
    opened: int
    closing: int
    end: int

    @property
    def is_empty_tag(self) -> bool:
        """Whether it is written as ``<a/>``."""
        return self.closing == self.end


class Markup:
    """The text of an XML file with its tree.

    Parameters
    ----------
    content
        The file.
    label
        The file as the user knows it.

    Raises
    ------
    SspError
        If it is not well-formed, declares a document type, or its encoding does not come back
        as it was.
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

    def span(self, element: etree._Element) -> Span:
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
        """Return another text, in UTF-8, in the encoding of the file.

        Raises
        ------
        SspError
            If the encoding does not have one of its characters.
        """
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


def _spans(text: bytes) -> list[Span]:
    """Find the places of all elements, in the order of their start tags."""
    found: list[list[int]] = []
    open_: list[int] = []
    parser = expat.ParserCreate("utf-8")

    def start(_name: str, _attributes: dict[str, str]) -> None:
        begin = parser.CurrentByteIndex
        open_.append(len(found))
        found.append([begin, _tag_end(text, begin), 0, 0])

    def end(_name: str) -> None:
        place = found[open_.pop()]
        if text[place[1] - 2 : place[1]] == b"/>":
            place[2:] = [place[1], place[1]]
        else:
            closing = parser.CurrentByteIndex
            place[2:] = [closing, text.index(b">", closing) + 1]

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.Parse(text, True)  # noqa: FBT003 - expat: all of it
    return [Span(*place) for place in found]


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
