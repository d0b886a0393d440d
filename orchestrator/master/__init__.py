"""Masters: a graph and an algorithm become a schedule, and the engine executes it."""

from orchestrator.coupling import DelayMode
from orchestrator.master.algorithms import DEFAULT_ALGORITHM, algorithm_names, plan_of
from orchestrator.master.capable import incapable
from orchestrator.master.checkpoint import Checkpoint, StoredCheckpoint
from orchestrator.master.chosen import Chosen
from orchestrator.master.compile import compile_schedule
from orchestrator.master.execution import Execution
from orchestrator.master.fault_checks import fault_refusals
from orchestrator.master.plan import Group, Plan
from orchestrator.master.planned import planned, refusals
from orchestrator.master.probe import ProbedDelay, probe_delay, probe_delays, probe_loop
from orchestrator.master.recorder import Recording
from orchestrator.master.schedule import Schedule
from orchestrator.master.selection import recordable
from orchestrator.master.start import start

__all__ = [
    "DEFAULT_ALGORITHM",
    "Checkpoint",
    "Chosen",
    "DelayMode",
    "Execution",
    "Group",
    "Plan",
    "ProbedDelay",
    "Recording",
    "Schedule",
    "StoredCheckpoint",
    "algorithm_names",
    "compile_schedule",
    "fault_refusals",
    "incapable",
    "plan_of",
    "planned",
    "probe_delay",
    "probe_delays",
    "probe_loop",
    "recordable",
    "refusals",
    "start",
]
