"""What is shown of a run whose experiment asks for no figure: all that it recorded."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.core.recording import Result
from orchestrator.core.system import seconds
from orchestrator.pictures import Panels, axis_of, panels_of
from orchestrator.study.content import Curve, Panel, Plot, Span

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
