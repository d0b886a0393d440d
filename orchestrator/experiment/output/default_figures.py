"""What is drawn of a run whose experiment asks for no figure: all that it recorded."""

from __future__ import annotations

from orchestrator.experiment.file.figure_tables import TimeFigure
from orchestrator.recording import Panels, Result, axis_of, panels_of

#: Panels of a figure that can still be told from each other.
_PANELS = 12


def default_figures(result: Result) -> dict[str, TimeFigure]:
    """Draw all recorded signals: in one figure where they fit, else in one for each component.

    Signals of one unit share a panel; where they are too many, those of one output do, and at
    most seven.

    Returns
    -------
    dict
        Figures by name, that of the result first in each; empty if no number was recorded.
    """
    panels = panels_of(result, result.names)
    if not panels:
        return {}
    if len(panels) <= _PANELS:
        text = f"All recorded signals of '{result.name}'."
        return {result.name: _figure(result, result.name, text, panels)}
    by_component: dict[str, list[str]] = {}
    for name in result.names:
        by_component.setdefault(name.partition(".")[0], []).append(name)
    return {
        f"{result.name}-{component.replace('/', '-')}": _figure(
            result,
            f"{result.name}: {component}",
            f"All recorded signals of '{component}'.",
            panels_of(result, names),
        )
        for component, names in by_component.items()
    }


def _figure(result: Result, title: str, caption: str, panels: Panels) -> TimeFigure:
    return TimeFigure.model_validate(
        {
            "kind": "time",
            "title": title,
            "caption": caption,
            "panels": [
                {
                    "ylabel": axis_of(unit, names),
                    "curves": [
                        {"case": result.name, "signal": name, "label": name} for name in names
                    ],
                }
                for unit, names in panels
            ],
        }
    )
