"""The range of a sweep on the command line: KIND=FROM:TO:COUNT."""

from __future__ import annotations

from dataclasses import dataclass

import typer

from orchestrator.diagnostics import DescriptionError
from orchestrator.linearisation.sweep import KINDS
from orchestrator.system import nanoseconds, seconds

_MOST = 10_000


@dataclass(frozen=True, slots=True)
class SweepRange:
    """What is swept, and its values in seconds or as factors."""

    kind: str
    values: tuple[float, ...]

    @classmethod
    def of(cls, text: str, cut: str | None) -> SweepRange:
        """Read a range.

        Parameters
        ----------
        text
            Such as ``delay=0 ms:32 ms:33`` or ``gain=0.5:2:31``.
        cut
            The line that was cut, which delays and gains belong to.
        """
        kind, _, rest = text.partition("=")
        parts = rest.split(":")
        if kind not in KINDS or len(parts) != 3:
            raise _refused(f"expected KIND=FROM:TO:COUNT with {', '.join(KINDS)}, found '{text}'")
        if kind != "step" and cut is None:
            raise _refused(f"a {kind} is that of a line: say of which with --break")
        try:
            first, last = (_number(kind, part) for part in parts[:2])
            count = int(parts[2])
        except (ValueError, DescriptionError) as error:
            raise _refused(f"'{text}': {error}") from None
        if not 2 <= count <= _MOST:
            raise _refused(f"'{text}': expected 2 to {_MOST} values, found {count}")
        width = (last - first) / (count - 1)
        values = (first + i * width for i in range(count))
        return cls(kind, tuple(v if kind == "gain" else round(v, 9) for v in values))


def _number(kind: str, text: str) -> float:
    if kind == "gain":
        return float(text)
    return seconds(nanoseconds(text.strip(), kind))


def _refused(text: str) -> typer.BadParameter:
    return typer.BadParameter(text, param_hint="--sweep")
