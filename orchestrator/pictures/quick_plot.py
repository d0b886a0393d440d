"""Plot signals of a result quickly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from orchestrator.core.recording import Result
from orchestrator.core.system.naming import is_pattern, lacking, matching
from orchestrator.pictures.panels import axis_of, panels_of
from orchestrator.pictures.plot_drawing import draw_plot
from orchestrator.study.content import Curve, Panel, Plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def quick_plot(result: Result, wanted: Sequence[str], title: str) -> Figure:
    """Draw signals by names and patterns; see :meth:`Result.plot`."""
    names: list[str] = []
    for text in wanted or result.names:
        exact = [text] if text in result else []
        found = exact or (matching(text, result.names) if is_pattern(text) else [])
        if not found:
            raise lacking(f"result '{result.name}'", "signal", text, result.names)
        names += found
    panels = []
    for unit, signals in panels_of(result, dict.fromkeys(names)):
        curves = [Curve(name, result.time, result[name]) for name in signals]
        panels.append(Panel(axis_of(unit, signals), curves))
    return draw_plot(Plot("time", panels, title))
