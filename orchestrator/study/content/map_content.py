"""What a map shows, as plain values: axes, panels, and how they look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MapAxis:
    """An axis of all panels.

    label: With the unit.
    values: Numbers in increasing order, or names.
    log: Whether it is logarithmic.
    """

    label: str
    values: tuple[float, ...] | tuple[str, ...]
    log: bool = False

    @property
    def is_named(self) -> bool:
        """Whether the values are names."""
        return any(isinstance(value, str) for value in self.values)

    @property
    def centres(self) -> Floats:
        """Where the cells' centres are; those of names are counted."""
        if self.is_named:
            return np.arange(len(self.values), dtype=np.float64)
        return np.array(self.values, dtype=np.float64)

    @property
    def scaled(self) -> Floats:
        """The centres on the scale of the axis."""
        return np.log(self.centres) if self.log else self.centres

    @property
    def edges(self) -> Floats:
        """Borders of the cells: half-way between the values, on the scale of the axis."""
        at = self.scaled
        if len(at) == 1:
            found = np.array([at[0] - 0.5, at[0] + 0.5])
        else:
            middle = (at[:-1] + at[1:]) / 2
            found = np.concatenate(([2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]))
        return np.exp(found) if self.log else found


@dataclass(frozen=True, slots=True, eq=False)
class MapPanel:
    """One map.

    title: Above it.
    values: Array of shape (rows, columns), with NaN where there is none.
    missing: Why there is none: masks of the same shape, by what the legend says.
    marked: Such masks of cells whose value holds under a reservation: they are hatched over it.
    predicted, contour: Of the same shape; the first has the predicted limit, the second the contour
        lines.
    """

    title: str
    values: Floats
    missing: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    marked: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    predicted: Floats | None = None
    contour: Floats | None = None


@dataclass(frozen=True, slots=True)
class MapLook:
    """How maps look.

    label: Of the scale, with the unit.
    colours: ``"log"``: logarithmic; ``"diverging"``: two hues that meet at the limit, or at zero.
    limit: Whose line is drawn; ``None``: none.
    limits: Ends of the scale; ``None``: those of the values.
    contour_label, levels: Of the contour lines.
    """

    label: str
    colours: Literal["linear", "log", "diverging"] = "linear"
    limit: float | None = None
    limits: tuple[float, float] | None = None
    contour_label: str = ""
    levels: tuple[float, ...] = ()

    @property
    def limit_label(self) -> str:
        """The limit with the unit of the label."""
        unit = self.label.rpartition(" [")[2].removesuffix("]") if self.label.endswith("]") else ""
        return f"limit {self.limit:g} {unit if self.limit else ''}".rstrip()
