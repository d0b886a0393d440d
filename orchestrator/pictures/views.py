"""Pictures of one result or one system, for its methods and for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from orchestrator.core.display import Page
from orchestrator.core.recording import Result
from orchestrator.core.simunits import resolve
from orchestrator.core.system import System
from orchestrator.core.system.naming import is_pattern, matching, unknown_name_error
from orchestrator.pictures.panels import panels_of, signal_plot
from orchestrator.study.content import Plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: Samples of all curves of a chart; if they are more, peaks are kept. A notebook keeps its outputs.
_MOST_SAMPLES = 400_000
#: Pixels of a panel with its legend, and of what stands above and below all.
_PANEL, _REST = 245, 75


def quick_plot(result: Result, signals: Sequence[str], title: str) -> Figure:
    """Draw signals by names and patterns; see :meth:`Result.plot`."""
    from orchestrator.pictures.plot_drawing import draw_plot

    return draw_plot(_plot_of(result, signals, title))


def quick_chart(result: Result, signals: Sequence[str], title: str) -> Page:
    """Show signals by names and patterns; see :meth:`Result.chart`."""
    from orchestrator.pictures.report import chart_page

    plot = _plot_of(result, signals, title)
    return Page(chart_page(plot, _MOST_SAMPLES), title, _PANEL * len(plot.panels) + _REST)


def _plot_of(result: Result, signals: Sequence[str], title: str) -> Plot:
    names: list[str] = []
    for text in signals or result.names:
        exact = [text] if text in result else []
        matches = exact or (matching(text, result.names) if is_pattern(text) else [])
        if not matches:
            raise unknown_name_error(f"result '{result.name}'", "signal", text, result.names)
        names += matches
    return signal_plot(result, title, panels_of(result, dict.fromkeys(names)))


def svg_of(system: System) -> str:
    """Return the block diagram of a system as SVG, with its loops."""
    from orchestrator.pictures.diagram import facts_of
    from orchestrator.pictures.drawing import draw_system
    from orchestrator.study.experiment import RunOptions

    opened = resolve(system)
    facts, _ = facts_of(opened.flat(), RunOptions())
    return draw_system(opened, facts).svg().decode()
