"""Base of the blocks that identify stiffness and damping while the contact acts."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from orchestrator import Block, Parameter
from python_blocks.identification.kalman import MEMORY, KalmanSettings, Rows
from python_blocks.identification.learning import begin


class PartialIdentifier(Block):
    """Settings and states of the filters.

    References
    ----------
    Yu et al., IEEE Access (2018), Eq 24 to 26, corrected; see
    :mod:`python_blocks.identification.learning`.
    """

    stiffness0: float = Parameter(start=10.0, unit="N/m", description="Initial stiffness")
    damping0: float = Parameter(start=10.0, unit="N.s/m", description="Initial damping")
    stiffness_spread: float = Parameter(
        start=1e5, unit="N/m", above=0.0, description="Standard deviation of the initial stiffness"
    )
    damping_spread: float = Parameter(
        start=1e3,
        unit="N.s/m",
        minimum=0.0,
        description="Standard deviation of the initial damping",
    )
    stiffness_walk: float = Parameter(
        start=10.0,
        unit="N/m",
        minimum=0.0,
        description="Standard deviation of the stiffness's change per sample",
    )
    damping_walk: float = Parameter(
        start=0.1,
        unit="N.s/m",
        minimum=0.0,
        description="Standard deviation of the damping's change per sample",
    )
    noise: float = Parameter(
        start=1.0, unit="N", minimum=0.0, description="Standard deviation of a sample of the force"
    )
    stiffness_minimum: float = Parameter(
        start=0.0, unit="N/m", description="Smallest stiffness of the output"
    )
    damping_minimum: float = Parameter(
        start=0.0, unit="N.s/m", description="Smallest damping of the output"
    )
    amplitude: float = Parameter(
        start=3e-4,
        unit="m",
        minimum=0.0,
        description="Motion below which the filter does not learn",
    )
    window: float = Parameter(
        start=0.5, unit="s", above=0.0, description="Time constant of the motion's average"
    )
    gate: float = Parameter(
        start=20.0,
        unit="1",
        above=0.0,
        description="Standard deviations beyond which a change is an outlier",
    )
    outliers_to_reset: int = Parameter(
        start=20,
        minimum=1,
        description="Consecutive outliers that indicate a new contact",
    )
    stuck_samples: int = Parameter(
        start=5,
        minimum=1,
        description="Consecutive equal forces in motion that indicate a lost sensor",
    )
    precision: float = Parameter(
        start=0.05,
        unit="1",
        above=0.0,
        description="Relative standard deviation at which the stiffness has converged",
    )
    nis_limit: float = Parameter(
        start=25.0,
        unit="1",
        above=0.0,
        description="Normalised innovation squared above which the estimate is invalid",
    )
    trend_limit: float = Parameter(
        start=3.0,
        unit="1",
        above=0.0,
        description="Trend of innovations above which the estimate is invalid",
    )
    integrated: bool = Parameter(
        start=False, description="Integrate the velocity for the change of position"
    )

    settings: Rows
    memory: Rows

    def begin(self, count: int) -> None:
        """Create new filters for a number of directions."""
        names = KalmanSettings.__dataclass_fields__
        self.settings = KalmanSettings(**{name: getattr(self, name) for name in names}).row()
        self.memory = np.zeros(count, MEMORY)
        begin(self.memory, self.settings)

    def get_state(self) -> dict[str, Any]:
        """Return connectors and filters as plain values; before the start there is no filter."""
        state = {name: copy.deepcopy(getattr(self, name)) for name in self.connectors}
        begun = getattr(self, "memory", np.zeros(0, MEMORY))
        return state | {"filters": begun.view(np.float64).copy()}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Restore a state of :meth:`get_state`."""
        values = dict(state)
        filters = values.pop("filters")
        super().set_state(values)
        if len(filters):
            self.memory.view(np.float64)[:] = filters
