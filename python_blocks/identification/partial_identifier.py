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

    stiffness0: float = Parameter(start=10.0, unit="N/m", description="First stiffness")
    damping0: float = Parameter(start=10.0, unit="N.s/m", description="First damping")
    stiffness_spread: float = Parameter(
        start=1e5, unit="N/m", above=0.0, description="Standard deviation of the first stiffness"
    )
    damping_spread: float = Parameter(
        start=1e3, unit="N.s/m", minimum=0.0, description="Standard deviation of the first damping"
    )
    stiffness_walk: float = Parameter(
        start=10.0, unit="N/m", minimum=0.0, description="Change of the stiffness in a sample"
    )
    damping_walk: float = Parameter(
        start=0.1, unit="N.s/m", minimum=0.0, description="Change of the damping in a sample"
    )
    noise: float = Parameter(
        start=1.0, unit="N", minimum=0.0, description="Standard deviation of a sample of the force"
    )
    stiffness_minimum: float = Parameter(
        start=0.0, unit="N/m", description="Least stiffness that is given out"
    )
    damping_minimum: float = Parameter(
        start=0.0, unit="N.s/m", description="Least damping that is given out"
    )
    amplitude: float = Parameter(
        start=3e-4, unit="m", minimum=0.0, description="Motion below which nothing is learned"
    )
    window: float = Parameter(start=0.5, unit="s", above=0.0, description="Time to forget a motion")
    gate: float = Parameter(
        start=20.0,
        unit="1",
        above=0.0,
        description="Standard deviations beyond which a change is an outlier",
    )
    outliers_to_reset: int = Parameter(
        start=20,
        minimum=1,
        description="Outliers in a row that are a new contact",
    )
    stuck_samples: int = Parameter(
        start=5,
        minimum=1,
        description="Equal forces in motion that are a lost sensor",
    )
    precision: float = Parameter(
        start=0.05, unit="1", above=0.0, description="Relative deviation of a known stiffness"
    )
    nis_limit: float = Parameter(
        start=25.0,
        unit="1",
        above=0.0,
        description="Normalised innovation squared beyond which nothing is known",
    )
    trend_limit: float = Parameter(
        start=3.0,
        unit="1",
        above=0.0,
        description="Trend of innovations beyond which nothing is known",
    )
    integrated: bool = Parameter(
        start=False, description="Changes of place are the integral of the velocity"
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
