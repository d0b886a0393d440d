"""How signals are shared among panels, and what is shown where no figure is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from orchestrator.core.recording import Result
from orchestrator.core.system import seconds
from orchestrator.study.content import PALETTE, Curve, Panel, Plot, Span

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


#: Panels of a figure that can still be told from each other.
_PANELS = 12


def default_plots(result: Result) -> dict[str, tuple[Plot, str]]:
    """Show all recorded signals: in one figure where they fit, else in one for each component.

    Signals of one unit share a panel; where they are too many, those of one output do, and at
    most seven.
    """
    panels = panels_of(result, result.names)
    if not panels:
        return {}
    if len(panels) <= _PANELS:
        caption = f"All recorded signals of '{result.name}'."
        return {result.name: (_plot(result, result.name, panels), caption)}
    by_component: dict[str, list[str]] = {}
    for name in result.names:
        by_component.setdefault(name.partition(".")[0], []).append(name)
    return {
        f"{result.name}-{component.replace('/', '-')}": (
            _plot(result, f"{result.name}: {component}", panels_of(result, names)),
            f"All recorded signals of '{component}'.",
        )
        for component, names in by_component.items()
    }


def _plot(result: Result, title: str, panels: Panels) -> Plot:
    shown = [
        Panel(axis_of(unit, names), [Curve(name, result.time, result[name]) for name in names])
        for unit, names in panels
    ]
    return Plot("time", shown, title, spans=spans_of([result]))


def spans_of(results: Sequence[Result]) -> list[Span]:
    """Times of faults, safe states and marks; those of one run among several name it."""
    found: dict[tuple[str, float, float | None], list[str]] = {}
    for result in results:
        for fault in result.faults:
            until = None if fault.until_ns is None else seconds(fault.until_ns)
            found.setdefault((fault.name, seconds(fault.begin_ns), until), []).append(result.name)
        for mark in result.marks:
            at = seconds(mark.time_ns)
            found.setdefault((mark.text, at, at), []).append(result.name)
        if safe := result.safe_states:
            begin = seconds(safe[0].time_ns)
            found.setdefault(("safe state", begin, None), []).append(result.name)
    return [
        Span(label if len(of) == len(results) else f"{label} ({', '.join(of)})", begin, end)
        for (label, begin, end), of in found.items()
    ]
