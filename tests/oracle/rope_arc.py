"""A rope in the arc of its natural curvature, clamped at both ends, as a system of the plant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from orchestrator import System, fmu

NODES, LENGTH, MASS = 16, 0.30, 0.01095
S = LENGTH / (NODES - 1)
EA, EI, GJ, J_SPIN = 3e5, 0.024, 0.0185, 1.23e-8  # the recipe's
CURVATURE, NODE = 6.0, 6  # 1/m; a node off the middle, so that the rope twists
_ANGLES = CURVATURE * S * np.arange(NODES - 1)
PLACES = np.vstack(
    [np.zeros(3), np.cumsum(S * np.c_[np.cos(_ANGLES), np.sin(_ANGLES), 0 * _ANGLES], axis=0)]
)
CLAMP_B = np.array([np.cos(_ANGLES[-1]), np.sin(_ANGLES[-1]), 0.0])


def arc(plants: Path, **values: Any) -> System:
    """Return a system of the plant alone, at rest in its arc."""
    for i in range(1, NODES - 1):
        values |= {f"x0[{i},{j + 1}]": float(PLACES[i, j]) for j in range(3)}
    values |= {f"end_b[{j + 1}]": float(PLACES[-1, j]) for j in range(3)}
    values |= {f"clamp_b[{j + 1}]": float(CLAMP_B[j]) for j in range(3)}
    return System("arc").add(
        "rope",
        fmu(plants / "SpatialRope.fmu"),
        curvature=CURVATURE,
        k_clamp=2 * EI / S,
        k_spin=2 * GJ / S,
        node=NODE,
        **values,
    )
