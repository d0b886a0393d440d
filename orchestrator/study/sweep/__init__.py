"""Sweeps of many runs: jobs, the workers that do them, what is kept, tables and maps."""

from typing import TYPE_CHECKING

from orchestrator.study.sweep.runner import estimate as estimate
from orchestrator.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.study.sweep.jobs import (
        Job as Job,
        JobContext as JobContext,
        JobRecord as JobRecord,
    )
    from orchestrator.study.sweep.runner import with_kept as with_kept
    from orchestrator.study.sweep.jobs import SweepPlan as SweepPlan
    from orchestrator.study.sweep.runner import (
        FinishedSweep as FinishedSweep,
        local as local,
        plans_of as plans_of,
        run_plans as run_plans,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
