"""The range of a sweep on the command line: KIND=FROM:TO:COUNT, or with a parameter."""

from __future__ import annotations

from dataclasses import dataclass

import typer

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import nanoseconds, seconds
from orchestrator.loops.sweep import KINDS

_MOST = 10_000
_TIMES = frozenset({"delay", "step"})


@dataclass(frozen=True, slots=True)
class SweepRange:
    """What is swept, and its values in seconds, as factors, or in the unit of a parameter."""

    kind: str
    values: tuple[float, ...]

    @classmethod
    def of(cls, text: str, cut: str | None) -> SweepRange:
        """Read a range."""
        kind, _, rest = text.partition("=")
        parts = rest.split(":")
        if not (kind in KINDS or "." in kind) or len(parts) != 3:
            raise _refused(
                f"expected KIND=FROM:TO:COUNT with {', '.join(KINDS)} or a component.parameter,"
                f" found '{text}'"
            )
        if kind in {"delay", "gain"} and cut is None:
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
        return cls(kind, tuple(round(v, 9) if kind in _TIMES else v for v in values))


def geometric(text: str, option: str) -> tuple[str, list[float]]:
    """Read ``NAME=FROM:TO:COUNT`` as a name and values that are equally many times each other."""
    name, _, rest = text.partition("=")
    try:
        first, last, count = rest.split(":")
        low, high, steps = float(first), float(last), int(count) - 1
    except ValueError:
        raise typer.BadParameter(
            f"expected NAME=FROM:TO:COUNT, found '{text}'", param_hint=option
        ) from None
    if not (0.0 < low < high and 1 <= steps < _MOST):
        raise typer.BadParameter(
            f"'{text}': expected 0 < FROM < TO and 2 to {_MOST} values", param_hint=option
        )
    return name, [low * (high / low) ** (i / steps) for i in range(steps + 1)]


def _number(kind: str, text: str) -> float:
    if kind not in _TIMES:
        return float(text)
    return seconds(nanoseconds(text.strip(), kind))


def _refused(text: str) -> typer.BadParameter:
    return typer.BadParameter(text, param_hint="--sweep")
