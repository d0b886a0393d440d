"""What the benchmark has beside its plants: the ground, and what is done against the delay."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orchestrator import Block, Output, Parameter

#: Records of accelerations lie here: lines of time in s and acceleration in m/s2 below a heading.
RECORDS = Path(__file__).parent / "records"


@lru_cache
def record(name: str) -> NDArray[np.float64]:
    """Read a record: times in s and accelerations in m/s2, float64 of shape (2, n)."""
    path = RECORDS / name
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such record; the README says where it is had from")
    return np.loadtxt(path, delimiter=",", skiprows=1, unpack=True)


class Ground(Block):
    """Shakes as a record does, straight between its samples."""

    acceleration: float = Output(unit="m/s2", description="Of the ground", depends_on=())
    file: str = Parameter(start="el_centro.csv", description="Record below records/")
    scale: float = Parameter(start=0.4, unit="1", description="Share of the recorded motion")

    def initialise(self, t: float) -> None:
        """Begin where the record does."""
        self.acceleration = self.scale * float(np.interp(t, *record(self.file)))

    def step(self, t: float, h: float) -> None:
        """Give the value at the end of the step."""
        self.acceleration = self.scale * float(np.interp(t + h, *record(self.file)))
