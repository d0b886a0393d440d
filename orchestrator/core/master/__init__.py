"""Masters: a graph and an algorithm become a schedule, and the engine executes it."""

from typing import TYPE_CHECKING

from orchestrator.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.core.coupling import DelayMode as DelayMode
    from orchestrator.core.master.algorithms import (
        DEFAULT_ALGORITHM as DEFAULT_ALGORITHM,
        algorithm_names as algorithm_names,
        plan_of as plan_of,
    )
    from orchestrator.core.master.plan import (
        Coupling as Coupling,
        Group as Group,
        Iteration as Iteration,
        Loops as Loops,
        Plan as Plan,
        StepMethod as StepMethod,
        StepSizeControl as StepSizeControl,
    )
    from orchestrator.core.master.settings import (
        ExecutionSettings as ExecutionSettings,
        RunKeywords as RunKeywords,
        StepKeywords as StepKeywords,
        fault_refusals as fault_refusals,
        refusals as refusals,
        validate_plan as validate_plan,
    )
    from orchestrator.core.master.run.step_failure import (
        missing_capabilities as missing_capabilities,
    )
    from orchestrator.core.master.run.checkpoint import (
        Checkpoint as Checkpoint,
        StoredCheckpoint as StoredCheckpoint,
    )
    from orchestrator.core.master.run.execution import Execution as Execution, start as start
    from orchestrator.core.master.run.recorder import (
        Recording as Recording,
        recordable as recordable,
    )
    from orchestrator.core.master.schedule.compile import (
        compile_schedule as compile_schedule,
        schedule_for as schedule_for,
    )
    from orchestrator.core.master.schedule.schedule import Schedule as Schedule
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
