"""Signals as measures and figures name them: recorded ones, and angles of recorded attitudes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.recording import Result
from orchestrator.study.file.table import Angle
from orchestrator.study.measure import cardan_angles


def names_of(signal: str, angle: Angle) -> tuple[str, ...]:
    """Names of the recorded columns that a signal needs."""
    return (signal,) if angle is None else tuple(f"{signal}[{i}]" for i in range(4))


def values_of(result: Result, signal: str, angle: Angle) -> NDArray[np.float64]:
    """Values of a signal, shape (n,)."""
    columns = [result[name] for name in names_of(signal, angle)]
    if angle is None:
        return columns[0]
    angles: NDArray[np.float64] = np.degrees(cardan_angles(np.column_stack(columns)))
    return angles[:, "xyz".index(angle)]


def unit_of(result: Result, signal: str, angle: Angle) -> str:
    """Unit of a signal, empty where none is declared."""
    return result.units.get(signal, "") if angle is None else "deg"
