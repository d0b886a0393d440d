"""Where the core uses parts of Softdock that stand above it: pictures, and warnings about loops.

Each function imports what it uses when it is called. No other module of the core imports a part
above the core; import-linter holds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from orchestrator.core.optional_packages import MissingPartError, optional_imports

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from orchestrator.core.display import Page
    from orchestrator.core.recording import Result
    from orchestrator.core.system import System


def result_figure(result: Result, names: Sequence[str], title: str) -> Figure:
    """Draw signals of a result by Matplotlib; see :meth:`orchestrator.Result.plot`."""
    with optional_imports():
        from orchestrator.pictures.views import quick_plot

        return quick_plot(result, names, title)


def result_chart(result: Result, names: Sequence[str], title: str) -> Page:
    """Show signals of a result on a page; see :meth:`orchestrator.Result.chart`."""
    with optional_imports():
        from orchestrator.pictures.views import quick_chart

    return quick_chart(result, names, title)


def system_svg(system: System) -> str:
    """Draw the block diagram of a system as SVG, as :func:`orchestrator.draw_system` does."""
    with optional_imports():
        from orchestrator.pictures.views import svg_of

    return svg_of(system)


def loop_warnings(system: System, options: Mapping[str, Any]) -> tuple[str, ...]:
    """List the loops whose growth rate the schedule changes by more than 5 % or in sign.

    options: Of :func:`orchestrator.loops.run_account.run_account`.
    """
    try:
        with optional_imports():
            from orchestrator.loops.run_account import loop_warnings as warnings
    except MissingPartError as error:
        return (f"the effect of the step on the loops is unknown: {error}",)
    return warnings(system, **options)
