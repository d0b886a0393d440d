"""What stands on a connection: how its delay is realised, and what that leaves of it."""

from orchestrator.coupling.delay_plan import DelayMode, DelayPlan, LoopDelay, plan_delays
from orchestrator.coupling.remarks import remarks

__all__ = ["DelayMode", "DelayPlan", "LoopDelay", "plan_delays", "remarks"]
