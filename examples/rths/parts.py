"""Blocks of the benchmark: the ground, sensors, and compensators."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orchestrator import Block, Input, Output, Parameter, State

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


#: Standard deviations of the benchmark's sensors: the roots of their noise powers over 1/4096 s.
POSITION_NOISE, FORCE_NOISE = (6.25e-14 * 4096.0) ** 0.5, (1.16e-3 * 4096.0) ** 0.5
_LONGEST = 1 << 18  # samples: 64 s at 4096 Hz


@lru_cache(maxsize=4)
def _noise(seed: int, which: int) -> list[float]:
    """Return samples of a standard normal distribution."""
    drawn: list[float] = np.random.default_rng([seed, which]).standard_normal(_LONGEST).tolist()
    return drawn


class Sensors(Block):
    """Shows position and force of the laboratory with the noise of the benchmark's sensors."""

    position: float = Input(unit="m", description="Of the specimen")
    force: float = Input(unit="N", description="Of the specimen")
    shown_position: float = Output(
        unit="m", description="With noise of 16 um", depends_on=("position",)
    )
    shown_force: float = Output(unit="N", description="With noise of 2.2 N", depends_on=("force",))
    seed: int = Parameter(start=0, minimum=0, description="Of the noise; 0: none")

    def initialise(self, t: float) -> None:
        """Show the begin as it is."""
        self.shown_position, self.shown_force = self.position, self.force

    def step(self, t: float, h: float) -> None:
        """Take the sample at the end of the step."""
        self.shown_position, self.shown_force = self.position, self.force
        if self.seed and h > 0.0:
            i = round((t + h) / h)
            self.shown_position += POSITION_NOISE * _noise(self.seed, 0)[i]
            self.shown_force += FORCE_NOISE * _noise(self.seed, 1)[i]


class SampleController(Block):
    """The controller of the benchmark: a phase lead, and PI on the remaining error.

    The integral is by the trapezoidal rule.
    """

    position: float = Input(unit="m", description="Wanted position")
    measured: float = Input(unit="m", description="Where the actuator is")
    command: float = Output(unit="m", description="What the actuator is sent")
    lag: float = Parameter(
        start=50.83163360273612 / 8570.397339444286, unit="s", description="Of the lead"
    )
    rest: float = Parameter(start=1.0 / 8570.397339444286, unit="s", description="Lag that is left")
    proportional: float = Parameter(start=2.0, unit="1", description="Gain on the error")
    integral: float = Parameter(start=95.0, unit="1/s", description="Gain on its integral")
    last: list[float] = State(start=[0.0] * 4, description="Position, lead, error, integral")

    def step(self, t: float, h: float) -> None:
        """Take the sample at the end of the step."""
        position, ahead, error, whole = self.last
        rise, fall = 2.0 * self.lag, 2.0 * self.rest
        now = (rise + h) * self.position - (rise - h) * position + (fall - h) * ahead
        ahead = now / (fall + h)
        left = ahead - self.measured
        whole += 0.5 * h * (left + error)
        self.command = self.proportional * left + self.integral * whole
        self.last = [self.position, ahead, left, whole]


class Axis(Block):
    """An ideal actuator with the connectors of the rig's actuator."""

    x_set: float = Input(unit="m", description="Where it shall go")
    x: float = Output(unit="m", description="Where it is")

    def step(self, t: float, h: float) -> None:
        """Follow at once."""
        self.x = self.x_set
