"""Plots as plain data for a page: each array stands there once, exact as far as there is room."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from orchestrator.core.recording import decimate
from orchestrator.core.recording.decimation import thin
from orchestrator.study.content import PALETTE, Curve, Panel, Plot
from orchestrator.study.content.plot import DASHES, Dash, Floats

#: Samples of a curve that are kept as they are; of a longer one its peaks, ends and gaps are.
LARGEST_CURVE = 200_000
#: Samples of all curves of a page; if they are more, each is kept to its share of them.
LARGEST_PAGE = 4_000_000
_LEAST = 5_000
_NANOSECONDS = 1e9
#: Of Matplotlib's names of dashes: lengths of strokes and gaps in widths of the line.
_NAMED: dict[str, list[float]] = {
    "-": [],
    "--": [3.7, 1.6],
    ":": [1, 1.65],
    "-.": [6.4, 1.6, 1, 1.6],
}


class PlotData:
    """Collects the plots of a page.

    Parameters
    ----------
    plots
        All that will be added, as they share the room.
    """

    def __init__(self, plots: Sequence[Plot]) -> None:
        curves = sum(len(panel.curves) for plot in plots for panel in plot.panels)
        self._largest = max(_LEAST, min(LARGEST_CURVE, LARGEST_PAGE // max(curves, 1)))
        self._places: dict[bytes, int] = {}
        self._arrays: list[dict[str, Any]] = []
        self._plots = [self._plot(plot) for plot in plots]

    def as_json(self) -> dict[str, Any]:
        """Return plain data: arrays, and plots whose curves name arrays by their place."""
        return {"arrays": self._arrays, "figures": self._plots}

    def _plot(self, plot: Plot) -> dict[str, Any]:
        return {
            "kind": plot.kind,
            "title": plot.title,
            "xlabel": plot.xlabel,
            "columns": plot.columns,
            "log": plot.log,
            "ticks": None if plot.ticks is None else _ticks(*plot.ticks),
            "spans": [[span.label, span.begin, span.end] for span in plot.spans],
            "panels": [self._panel(panel, plot) for panel in plot.panels],
        }

    def _panel(self, panel: Panel, plot: Plot) -> dict[str, Any]:
        expected = [curve for curve in panel.curves if curve.is_expected]
        found = [curve for curve in panel.curves if not curve.is_expected]
        curves = [self._curve(curve, i, plot.kind) for i, curve in enumerate(expected)]
        return {
            "xlabel": panel.xlabel,
            "ylabel": panel.ylabel,
            "limits": panel.limits,
            "lines": [
                [line.label, line.value, line.axis, _dash(None, i + 1)]
                for i, line in enumerate(panel.lines)
            ],
            "curves": curves + [self._curve(curve, i, plot.kind) for i, curve in enumerate(found)],
        }

    def _curve(self, curve: Curve, place: int, kind: str) -> dict[str, Any]:
        x, y = curve.points()
        count = len(x)
        if count > self._largest:
            is_path = kind == "path"
            x, y = thin(x, y) if is_path else decimate(x, y, self._largest // 5)
        colour = curve.colour or PALETTE[place % len(PALETTE)]
        named = colour in PALETTE
        return {
            "label": curve.label,
            "x": self._array(x),
            "y": self._array(y),
            "count": count,
            "colour": PALETTE.index(colour) if named else colour,
            "dash": _dash(curve.dash, place),
            "width": 2.2 if place == 0 and not curve.is_expected else 1.5,
            "marked": kind == "points" and not curve.is_expected,
            "band": None if curve.band is None else self._band(curve, x),
        }

    def _band(self, curve: Curve, kept: Floats) -> list[int]:
        """Return the band where the curve is kept."""
        x, _ = curve.points()
        sides = (np.asarray(side, dtype=np.float64) for side in curve.band or ())
        at = slice(None) if len(kept) == len(x) else np.searchsorted(x, kept)
        return [self._array(side[at]) for side in sides]

    def _array(self, values: ArrayLike) -> int:
        """Return the place of an array, which may be there already."""
        array = np.ascontiguousarray(values, dtype="<f8")
        key = array.tobytes()
        if key not in self._places:
            self._places[key] = len(self._arrays)
            self._arrays.append(packed(array))
        return self._places[key]


def packed(values: Floats) -> dict[str, Any]:
    """Pack an array without loss: equal values, steps of whole nanoseconds, or bytes as base64."""
    if values.size > 1 and np.isfinite(values[0]) and (values == values[0]).all():
        return {"count": values.size, "value": float(values[0])}
    if (
        values.size > 2
        and np.isfinite(values).all()
        and np.abs(values).max() < 2**53 / _NANOSECONDS
    ):
        first, second = (round(float(value) * _NANOSECONDS) for value in values[:2])
        step = second - first
        if ((first + step * np.arange(values.size)) / _NANOSECONDS == values).all():
            return {"count": values.size, "first": first, "step": step}
    with np.errstate(over="ignore"):
        short = values.astype("<f4")
    kind = "f4" if np.array_equal(short.astype("<f8"), values, equal_nan=True) else "f8"
    content = short if kind == "f4" else values
    return {kind: base64.b64encode(content.tobytes()).decode()}


def _dash(dash: Dash | None, place: int) -> list[float] | None:
    """Return strokes and gaps in widths of the line, empty for a whole one; ``None``: no line."""
    chosen = DASHES[place % len(DASHES)] if dash is None else dash
    if isinstance(chosen, str):
        return _NAMED.get(chosen)
    return list(chosen[1])


def _ticks(places: Sequence[float], names: Sequence[str]) -> list[list[float] | list[str]]:
    return [[float(place) for place in places], list(map(str, names))]
