"""Masters: a graph and an algorithm become a schedule, and the engine executes it."""

from orchestrator.coupling import DelayMode
from orchestrator.master.algorithms import algorithm_names
from orchestrator.master.compile import compile_schedule
from orchestrator.master.execution import Execution
from orchestrator.master.recorder import Recording
from orchestrator.master.schedule import Schedule
from orchestrator.master.selection import recordable

__all__ = [
    "DelayMode",
    "Execution",
    "Recording",
    "Schedule",
    "algorithm_names",
    "compile_schedule",
    "recordable",
]
