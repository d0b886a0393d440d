"""Campaigns of many runs: jobs, the workers that do them, what is kept, tables and maps."""

from orchestrator.sweep.estimate import estimate
from orchestrator.sweep.job import Job, Record, Roster
from orchestrator.sweep.page import write_page
from orchestrator.sweep.plan import Plan
from orchestrator.sweep.runner import CampaignOutcome, local, plans_of, run_plans

__all__ = [
    "CampaignOutcome",
    "Job",
    "Plan",
    "Record",
    "Roster",
    "estimate",
    "local",
    "plans_of",
    "run_plans",
    "write_page",
]
