"""One run of a case, with its options and its faults."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.core.recording import Result
from orchestrator.core.system import System
from orchestrator.study.prepare.faults import faults_of
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.prepare.resting import with_rests
from orchestrator.study.prepare.simulate import RunHooks, simulate_with

if TYPE_CHECKING:
    from orchestrator.core.master import ExecutionSettings
    from orchestrator.core.realtime import RealTime


def run_case(
    case: PreparedCase,
    hooks: RunHooks = RunHooks(),  # noqa: B008 - it never changes
    *,
    threads: int | None = None,
    realtime: RealTime | None = None,
) -> Result:
    """Run a case; see :func:`~orchestrator.study.prepare.simulate.simulate`."""
    system, settings = as_simulated(case)
    system = with_rests(system, case.case.rest)
    settings = replace(settings, threads=threads, realtime=realtime)
    return simulate_with(system, settings, hooks, case.name)


def as_simulated(case: PreparedCase) -> tuple[System, ExecutionSettings]:
    """Return the system of a case, and how it is run."""
    options, system = case.options, case.system
    if options.backend is not None:
        system = system.with_backend(options.backend)
    return system, options.settings(
        system,
        stop=options.stop,
        record=options.record,
        every=options.every,
        faults=faults_of(case.case),
        tuned=case.tuned,
        limits=case.limits,
    )
