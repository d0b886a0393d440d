"""Sweeps of many runs: jobs, the workers that do them, what is kept, tables and maps."""

from orchestrator.experiment.sweep.estimate import estimate
from orchestrator.experiment.sweep.job import Job, JobContext, Record
from orchestrator.experiment.sweep.kept import with_kept
from orchestrator.experiment.sweep.page import write_page
from orchestrator.experiment.sweep.plan import Plan
from orchestrator.experiment.sweep.runner import FinishedSweep, local, plans_of, run_plans

__all__ = [
    "FinishedSweep",
    "Job",
    "JobContext",
    "Plan",
    "Record",
    "estimate",
    "local",
    "plans_of",
    "run_plans",
    "with_kept",
    "write_page",
]
