"""What stands on a connection: how its delay is realised, and what that leaves of it."""

from orchestrator.coupling.channel import Channel, channel_of
from orchestrator.coupling.delay_plan import LoopDelay, plan_delays
from orchestrator.coupling.draws import Draws, normal_draw
from orchestrator.coupling.fault_record import FaultRecord, fault_records
from orchestrator.coupling.line_plan import DelayMode, DelayPlan
from orchestrator.coupling.line_statistics import LineStatistics
from orchestrator.coupling.remarks import missed, remarks, rounded_delay, unsolved
from orchestrator.coupling.timing import Timing

__all__ = [
    "Channel",
    "DelayMode",
    "DelayPlan",
    "Draws",
    "FaultRecord",
    "LineStatistics",
    "LoopDelay",
    "Timing",
    "channel_of",
    "fault_records",
    "missed",
    "normal_draw",
    "plan_delays",
    "remarks",
    "rounded_delay",
    "unsolved",
]
