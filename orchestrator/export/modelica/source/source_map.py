"""Finds the file and line that a span of rumoca's flat model points to."""

from __future__ import annotations

import bisect
from collections.abc import Mapping
from typing import Any


class SourceMap:
    """Resolves spans, which name their file only by a number.

    Parameters
    ----------
    files
        ``source_map["files"]`` of rumoca's "dae" tree: number, path and text of each file.
    renamed
        Path there to the one to be shown, for text that came from no file.
    """

    def __init__(self, files: Any, renamed: Mapping[str, str]) -> None:
        self._files = {
            number: (renamed.get(path, path), _line_ends(text)) for number, path, text in files
        }
        self._texts: dict[int, bytes] = {number: text.encode() for number, _, text in files}

    def locate(self, span: Mapping[str, int] | None) -> str:
        """``file:line`` of a span, or an empty string where it points to no file."""
        if not span or span["source"] not in self._files:
            return ""
        path, ends = self._files[span["source"]]
        return f"{path}:{bisect.bisect_left(ends, span['start']) + 1}"

    def text(self, span: Mapping[str, int] | None) -> str:
        """What stands at a span, or an empty string where it points to no file."""
        if not span or span["source"] not in self._texts:
            return ""
        return self._texts[span["source"]][span["start"] : span["end"]].decode(errors="replace")


def _line_ends(text: str) -> list[int]:
    """Byte positions of the line ends: spans count bytes."""
    ends, position = [], -1
    content = text.encode()
    while (position := content.find(b"\n", position + 1)) >= 0:
        ends.append(position)
    return ends
