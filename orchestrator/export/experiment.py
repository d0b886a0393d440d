"""The default experiment of an FMU."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from orchestrator.core.diagnostics import DescriptionError


@dataclass(frozen=True, slots=True)
class Experiment:
    """What an importer may propose; None is what nobody has said.

    Without any word it runs from 0 to 1 s, and one without a stop time for 1 s.

    Attributes
    ----------
    start_time, stop_time, step_size
        In seconds; the step is that of communication.
    tolerance
        Relative tolerance of the integration.
    """

    start_time: float | None = None
    stop_time: float | None = None
    step_size: float | None = None
    tolerance: float | None = None

    def __post_init__(self) -> None:
        given = {key: value for key, value in asdict(self).items() if value is not None}
        for key, value in given.items():
            if not math.isfinite(value):
                raise DescriptionError(f"experiment.{key}: expected a finite number, got {value}")
        if self.step_size is not None and self.step_size <= 0:
            raise DescriptionError(
                f"experiment.step_size: expected a positive number of seconds, got {self.step_size}"
            )
        if self.tolerance is not None and not 0 < self.tolerance < 1:
            raise DescriptionError(
                f"experiment.tolerance: expected a number between 0 and 1, got {self.tolerance}"
            )

    def or_else(self, other: Experiment) -> Experiment:
        """Complete it by another one."""
        said = {key: value for key, value in asdict(self).items() if value is not None}
        return Experiment(**{**asdict(other), **said})

    @property
    def interval(self) -> tuple[float, float]:
        """Start and stop time in seconds, with the defaults filled in.

        Raises
        ------
        DescriptionError
            If it does not go forward.
        """
        start = 0.0 if self.start_time is None else self.start_time
        stop = start + 1.0 if self.stop_time is None else self.stop_time
        if stop <= start:
            raise DescriptionError(
                f"experiment: the stop time {stop} s is not after the start time {start} s"
            )
        return float(start), float(stop)
