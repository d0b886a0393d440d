"""Friction of the joint on the bench, from a record of a slow torque on its shaft.

``softdock run examples/ejection/rig.toml --case friction``, then
``python examples/ejection/friction.py results/ejection-rig-variant/friction.parquet``
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from orchestrator import read_result

RATIO = 100.0  # turns of the motor for one of the joint
Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Friction:
    """Of a shaft, or of the joint behind a gear.

    Parameters
    ----------
    static, coulomb
        N m.
    viscous
        N m s/rad, with that of the braking motor.
    inertia
        kg m2.
    residual
        Root mean square of the torque that is left unexplained, N m.
    """

    static: float
    coulomb: float
    viscous: float
    inertia: float
    residual: float

    def behind(self, ratio: float) -> Friction:
        """Convert to the side of a joint whose motor turns ``ratio`` times as often."""
        square = ratio**2
        return Friction(
            ratio * self.static,
            ratio * self.coulomb,
            square * self.viscous,
            square * self.inertia,
            ratio * self.residual,
        )


def fit(time: Floats, angle: Floats, rate: Floats, load: Floats) -> Friction:
    """Fit ``J w' = load - c sign(w) - b w`` where a shaft turns, by least squares, in its integral.

    Parameters
    ----------
    time, angle, rate, load
        s, rad, rad/s, N m; shape (n,). The load is that which the drive measures.

    Raises
    ------
    ArithmeticError
        If the shaft turns in less than three steps, or never breaks away.
    """
    h = np.diff(time)
    turns = (rate[:-1] * rate[1:] > 0.0) & (h > 0.0)
    leaves = np.flatnonzero((rate[:-1] == 0.0) & (rate[1:] != 0.0))
    if np.count_nonzero(turns) < 3 or leaves.size == 0:
        raise ArithmeticError("the shaft does not break away and turn: take a larger torque")
    torque = 0.5 * (load[:-1] + load[1:])[turns]
    columns = np.column_stack(
        [
            np.diff(rate)[turns] / h[turns],
            np.sign(rate[:-1])[turns],
            np.diff(angle)[turns] / h[turns],
        ]
    )
    found, *_ = np.linalg.lstsq(columns, torque, rcond=None)
    inertia, coulomb, viscous = (float(value) for value in found)
    residual = float(np.sqrt(np.mean((torque - columns @ found) ** 2)))
    static = float(np.mean(np.abs(load[leaves])))
    return Friction(static, coulomb, viscous, inertia, residual)


def of_record(path: Path) -> Friction:
    """Fit the friction to a recording of the case ``friction``."""
    record = read_result(path)
    names = ("angle", "shaft_rate", "load_torque")
    return fit(record.time, *(np.asarray(record[f"joint4.{name}"]) for name in names))


if __name__ == "__main__":
    shaft = of_record(Path(sys.argv[1]))
    print("shaft", shaft)  # noqa: T201
    print("joint", shaft.behind(RATIO))  # noqa: T201
