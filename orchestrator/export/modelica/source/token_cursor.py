"""A place in the tokens of a Modelica text, and how a parser moves on."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.export.modelica.source.text import Token
from orchestrator.export.modelica.source.tree import Place

OPENING, CLOSING = frozenset("([{"), frozenset(")]}")


class NotRead(Exception):  # noqa: N818 - it never leaves the room
    """What rumoca reads and this parser does not."""


class Cursor:
    """Reads tokens one after the other.

    Parameters
    ----------
    listed
        All tokens of the text.
    source
        rumoca's number of the file.
    """

    def __init__(self, listed: Sequence[Token], source: int) -> None:
        self._tokens = listed
        self._at = 0
        self._source = source

    @property
    def next(self) -> str:
        """The text of the token that comes; empty at the end."""
        return self._tokens[self._at].text if self._at < len(self._tokens) else ""

    def ahead(self, count: int = 1) -> str:
        """The text of a token further on."""
        place = self._at + count
        return self._tokens[place].text if place < len(self._tokens) else ""

    def advance(self) -> Token:
        """Read one token."""
        if self._at >= len(self._tokens):
            raise NotRead("the end of the file")
        self._at += 1
        return self._tokens[self._at - 1]

    def take(self, text: str) -> bool:
        """Read a token if it is this one."""
        if self.next != text:
            return False
        self._at += 1
        return True

    def expect(self, text: str) -> None:
        """Read this token."""
        if not self.take(text):
            raise NotRead(f"'{self.next}' in place of '{text}'")

    def identifier(self) -> str:
        """Read a name without dots."""
        token = self.advance()
        if token.kind != "name":
            raise NotRead(f"'{token.text}' in place of a name")
        return token.text

    def name(self) -> str:
        """Read a name; a dot before ``*`` or ``{`` is left."""
        parts = ["." if self.take(".") else "", self.identifier()]
        while self.next == "." and self.ahead() not in {"*", "{"}:
            self.advance()
            parts += [".", self.identifier()]
        return "".join(parts)

    def since(self, begin: int) -> Place:
        """Where the tokens from one to here stand."""
        first, last = self._tokens[begin], self._tokens[max(begin, self._at - 1)]
        return Place(self._source, first.start, last.end)

    def strings(self) -> None:
        """Read a comment, which may be a sum of strings."""
        while self._at < len(self._tokens) and (
            self._tokens[self._at].kind == "text" or self.next == "+"
        ):
            self.advance()

    def brackets(self) -> Sequence[Token]:
        """Read what is in brackets."""
        begin = self._at
        self.skip_brackets()
        return self._tokens[begin + 1 : self._at - 1]

    def skip_brackets(self) -> None:
        """Pass over brackets and all in them."""
        depth = 0
        while True:
            text = self.advance().text
            depth += (text in OPENING) - (text in CLOSING)
            if depth == 0:
                return

    def skip_to(self, *wanted: str) -> None:
        """Pass over all that is not one of these, and over brackets as a whole."""
        while self.next not in wanted:
            if self.next in OPENING:
                self.skip_brackets()
            else:
                self.advance()
