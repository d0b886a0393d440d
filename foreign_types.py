"""Names and types of foreign.ssp, written by `softdock stubs`."""
# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orchestrator import Execution

Component = Literal['c', 'd']
Output = Literal['c.y', 'd.y']
FreeInput = Literal['c.u']

if TYPE_CHECKING:
    class Run(Execution):
        def get(self, name: Literal['c.u', 'c.y', 'd.u', 'd.y']) -> float: ...  # type: ignore[override]
        def set(self, name: Literal['c.u'], value: float) -> None: ...  # type: ignore[override]
else:
    Run = Execution


def typed(execution: Execution) -> Run:
    """Return the execution, whose names a checker of types then knows."""
    return execution  # type: ignore[return-value]
