"""A result as a few lines: for a prompt as text, for a notebook as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from orchestrator.core.recording.result import Result

#: So many signals are listed, with names that are no longer than this.
_MOST, _WIDTH = 20, 60
_HEAD = ("signal", "first", "least", "greatest", "last")


def text_of(result: Result) -> str:
    """Return what was recorded, and how, in at most 23 lines."""
    rows = [_HEAD, *_rows(result)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [_title(result)]
    for name, *numbers in rows:
        cells = (text.rjust(width) for text, width in zip(numbers, widths[1:], strict=True))
        lines.append(f"  {name.ljust(widths[0])}  {'  '.join(cells)}")
    return "\n".join(lines + _more(result))


def html_of(result: Result) -> str:
    """Return the same as HTML."""
    head = "".join(f"<th>{text}</th>" for text in _HEAD)
    from html import escape

    rows = ("".join(f"<td>{escape(text)}</td>" for text in row) for row in _rows(result))
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    more = "".join(f"<p>{text.strip()}</p>" for text in _more(result))
    return f"<p>{escape(_title(result))}</p><table><tr>{head}</tr>{body}</table>{more}"


def _title(result: Result) -> str:
    signals, rows = len(result.names), len(result.time_ns)
    said = [f"{signals} signal{'s' if signals != 1 else ''}", f"{rows} rows"]
    if rows:
        said.append(f"{result.time[0]:.6g} to {result.time[-1]:.6g} s")
    if result.step_ns:
        said.append(f"{result.algorithm}, step {result.step_ns / 1e6:g} ms")
    return f"Result '{_short(result.name)}': {', '.join(said)}"


def _rows(result: Result) -> list[tuple[str, ...]]:
    return [(_short(result.label(name)), *_numbers(result, name)) for name in result.names[:_MOST]]


def _numbers(result: Result, name: str) -> tuple[str, ...]:
    values = result[name]
    if not len(values):
        return ("",) * (len(_HEAD) - 1)
    known = values[~np.isnan(values)]
    least, greatest = (known.min(), known.max()) if len(known) else (np.nan, np.nan)
    return tuple(f"{value:.6g}" for value in (values[0], least, greatest, values[-1]))


def _short(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def _more(result: Result) -> list[str]:
    left = len(result.names) - _MOST
    return [f"  and {left} more"] if left > 0 else []
