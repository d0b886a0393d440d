"""Algorithms by how they choose their steps, as their plans say it."""

from orchestrator import Block, Input, Output, System, algorithm_names, block
from orchestrator.core.master.algorithms import plan_of


class _Lag(Block):
    u: float = Input()
    y: float = Output(depends_on=())

    def step(self, t, h):
        self.y += h * (self.u - self.y)


def _chooses_its_steps(name):
    """Whether the plan for a ring of two lags has a control of the step size."""
    ring = System("ring").add("a", block(_Lag)).add("b", block(_Lag))
    ring = ring.connect("a.y", "b.u").connect("b.y", "a.u")
    return plan_of(name, ring, {}).step_size_control is not None


#: Those that choose the lengths of their steps, and those whose steps are all of one length.
VARYING = [name for name in algorithm_names() if _chooses_its_steps(name)]
FIXED = [name for name in algorithm_names() if name not in VARYING]
