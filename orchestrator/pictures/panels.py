"""How many signals are shared among the panels of a plot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from orchestrator.core.recording import Result
from orchestrator.study.content import PALETTE

#: Curves of a panel that can still be told from each other.
_CURVES = len(PALETTE)
_SUBSCRIPT = re.compile(r"\[[^\[\]]*\]$")

Panels = list[tuple[str, list[str]]]


def panels_of(result: Result, names: Iterable[str]) -> Panels:
    """Let signals of one unit share a panel; where they are too many, those of one output."""
    by_unit: dict[str, list[str]] = {}
    for name in names:
        by_unit.setdefault(result.units.get(name, "1"), []).append(name)
    panels: Panels = []
    for unit, sharing in by_unit.items():
        if len(sharing) <= _CURVES:
            panels.append((unit, sharing))
            continue
        by_output: dict[str, list[str]] = {}
        for name in sharing:
            by_output.setdefault(_SUBSCRIPT.sub("", name), []).append(name)
        for group in _joined(by_output.values()):
            panels += [(unit, group[i : i + _CURVES]) for i in range(0, len(group), _CURVES)]
    return panels


def _joined(groups: Iterable[list[str]]) -> list[list[str]]:
    """Put small groups that follow each other together, as far as a panel has room."""
    joined: list[list[str]] = []
    for group in groups:
        if joined and len(joined[-1]) + len(group) <= _CURVES:
            joined[-1] = joined[-1] + group
        else:
            joined.append(group)
    return joined


def axis_of(unit: str, names: Sequence[str]) -> str:
    """Title of a panel's axis: a legend names several curves, one alone is named by its axis."""
    return f"[{unit}]" if len(names) > 1 else f"{names[0]} [{unit}]"
