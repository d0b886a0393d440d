"""Finds the file and line that a span of rumoca's flat model points to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any


class SourceMap:
    """Resolves spans, which name their file only by a hash, by comparing names with the text.

    Parameters
    ----------
    tree
        The flat model, whose variable references tell what stands at which byte of which file.
    texts
        File name to its text.
    """

    def __init__(self, tree: Any, texts: Mapping[str, str]) -> None:
        self._tree = tree
        self._texts = {name: text.encode() for name, text in texts.items()}

    def locate(self, span: Mapping[str, int] | None) -> str:
        """``file:line`` of a span, or an empty string where it cannot be found."""
        if not span:
            return ""
        name = self._names.get(span["source"])
        if name is None:
            return ""
        line = self._texts[name].count(b"\n", 0, span["start"]) + 1
        return f"{name}:{line}"

    def text(self, span: Mapping[str, int] | None) -> str:
        """What stands at a span, or an empty string where it cannot be found."""
        name = self._names.get(span["source"]) if span else None
        if span is None or name is None:
            return ""
        return self._texts[name][span["start"] : span["end"]].decode(errors="replace")

    @cached_property
    def _names(self) -> dict[int, str]:
        evidence: dict[int, list[tuple[int, int, bytes]]] = {}
        for reference in _references(self._tree["equations"]):
            span = reference["span"]
            found = (span["start"], span["end"], reference["name"]["name"].encode())
            evidence.setdefault(span["source"], []).append(found)
        declared: dict[int, list[tuple[int, bytes]]] = {}
        for name, variable in self._tree["variables"].items():
            if span := variable.get("source_span"):
                last = name.rpartition(".")[2].encode()
                declared.setdefault(span["source"], []).append((span["end"], last))
        named = {}
        for source in {**evidence, **declared}:
            spans, ends = evidence.get(source, []), declared.get(source, [])
            matches = [
                name
                for name, text in self._texts.items()
                if _agrees(text, spans) and all(text[:end].endswith(last) for end, last in ends)
            ]
            if len(matches) == 1:
                named[source] = matches[0]
        return named


def _agrees(text: bytes, spans: Iterable[tuple[int, int, bytes]]) -> bool:
    def shown(start: int, end: int) -> bytes:
        return text[start:end].partition(b"[")[0].strip()

    return all(
        (piece := shown(start, end))
        and (
            name.endswith(piece)
            or piece.endswith(name)
            # what a connection equates is shown by its declaration, `Real f`
            or piece.split()[-1] == name.rpartition(b".")[2]
        )
        for start, end, name in spans
    )


def _references(node: Any) -> Iterator[Any]:
    if isinstance(node, dict):
        body = node.get("VarRef")
        if isinstance(body, dict) and "span" in body and "source" in (body["span"] or {}):
            yield body
        for value in node.values():
            yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)
