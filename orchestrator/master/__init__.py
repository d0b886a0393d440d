"""Masters: a graph and an algorithm become a schedule, and the engine executes it."""

from orchestrator.coupling import DelayMode
from orchestrator.master.algorithms.fault_checks import fault_refusals
from orchestrator.master.algorithms.plan import (
    Coupling,
    Group,
    Iteration,
    Loops,
    Plan,
    StepMethod,
    StepSizeControl,
)
from orchestrator.master.algorithms.plan_validation import refusals, validate_plan
from orchestrator.master.algorithms.registry import DEFAULT_ALGORITHM, algorithm_names, plan_of
from orchestrator.master.algorithms.settings import MasterSettings
from orchestrator.master.run.capability_check import missing_capabilities
from orchestrator.master.run.checkpoint import Checkpoint, StoredCheckpoint
from orchestrator.master.run.execution import Execution
from orchestrator.master.run.probe import ProbedDelay, probe_delay, probe_delays, probe_loop
from orchestrator.master.run.recorder import Recording
from orchestrator.master.run.selection import recordable
from orchestrator.master.run.start import start
from orchestrator.master.schedule.compile import compile_schedule
from orchestrator.master.schedule.schedule import Schedule

__all__ = [
    "DEFAULT_ALGORITHM",
    "Checkpoint",
    "Coupling",
    "DelayMode",
    "Execution",
    "Group",
    "Iteration",
    "Loops",
    "MasterSettings",
    "Plan",
    "ProbedDelay",
    "Recording",
    "Schedule",
    "StepMethod",
    "StepSizeControl",
    "StoredCheckpoint",
    "algorithm_names",
    "compile_schedule",
    "fault_refusals",
    "missing_capabilities",
    "plan_of",
    "probe_delay",
    "probe_delays",
    "probe_loop",
    "recordable",
    "refusals",
    "start",
    "validate_plan",
]
