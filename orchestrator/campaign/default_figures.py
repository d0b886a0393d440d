"""What is drawn of a run whose experiment asks for no figure: all that it recorded."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.campaign.experiment import TimeFigure
from orchestrator.recording import PALETTE, Result

#: Curves of a panel, and panels of a figure, that can still be told from each other.
_CURVES, _PANELS = len(PALETTE), 12

Panels = list[tuple[str, list[str]]]


def default_figures(result: Result) -> dict[str, TimeFigure]:
    """Draw all recorded signals: in one figure where they fit, else in one for each component.

    Signals of one unit share a panel; where they are too many, those of one output do, and at
    most seven.

    Returns
    -------
    dict
        Figures by name, that of the result first in each; empty if no number was recorded.
    """
    panels = _panels(result, result.names)
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
            _panels(result, names),
        )
        for component, names in by_component.items()
    }


def _panels(result: Result, names: Iterable[str]) -> Panels:
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
            by_output.setdefault(name.partition("[")[0], []).append(name)
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


def _figure(result: Result, title: str, caption: str, panels: Panels) -> TimeFigure:
    return TimeFigure.model_validate(
        {
            "kind": "time",
            "title": title,
            "caption": caption,
            "panels": [
                {
                    # A legend names several curves; one alone is named by its axis.
                    "ylabel": f"[{unit}]" if len(names) > 1 else f"{names[0]} [{unit}]",
                    "curves": [
                        {"case": result.name, "signal": name, "label": name} for name in names
                    ],
                }
                for unit, names in panels
            ],
        }
    )
