"""What stands on a connection: how its delay is realised, and what that leaves of it."""

from typing import TYPE_CHECKING

from orchestrator.core.coupling.remarks import (
    missed as missed,
    remarks as remarks,
    rounded_delay as rounded_delay,
    unsolved as unsolved,
)
from orchestrator.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.core.coupling.delay_plan import (
        LoopDelay as LoopDelay,
        LoopDelays as LoopDelays,
        plan_delays as plan_delays,
    )
    from orchestrator.core.coupling.line_plan import (
        Channel as Channel,
        DEFAULT_DELAY as DEFAULT_DELAY,
        DelayMode as DelayMode,
        DelayPlan as DelayPlan,
        DelayPlans as DelayPlans,
        LineStatistics as LineStatistics,
        ShiftRamp as ShiftRamp,
        Timing as Timing,
        channel_of as channel_of,
    )
    from orchestrator.core.coupling.run_events import (
        FaultRecord as FaultRecord,
        Mark as Mark,
        Tuned as Tuned,
        fault_records as fault_records,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
