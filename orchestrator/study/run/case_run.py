"""One run of a case, with its options and its faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.core.coupling import DEFAULT_DELAY
from orchestrator.core.notebook import Progress
from orchestrator.core.recording import Journal, Result
from orchestrator.core.system import System
from orchestrator.study.prepare.faults import faults_of
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.prepare.resting import with_rests
from orchestrator.study.prepare.simulate import (
    Look,
    Share,
    SimulationSettings,
    Steer,
    Watch,
    simulate_with,
)

if TYPE_CHECKING:
    from orchestrator.core.realtime import RealTime


def run_case(
    case: PreparedCase,
    progress: Progress | None = None,
    journal: Journal | None = None,
    *,
    threads: int | None = None,
    realtime: RealTime | None = None,
    on_begin: Callable[[], None] = lambda: None,
    on_end: Callable[[], None] = lambda: None,
    watch: Watch | None = None,
    share: Share | None = None,
    steer: Steer | None = None,
    look: Look | None = None,
) -> Result:
    """Run a case; see :func:`~orchestrator.study.prepare.simulate.simulate`."""
    system, settings = as_simulated(case)
    system = with_rests(system, case.case.rest)
    given = replace(
        settings,
        threads=threads,
        realtime=realtime,
        progress=progress,
        journal=journal,
        on_begin=on_begin,
        on_end=on_end,
        watch=watch,
        share=share,
        steer=steer,
        look=look,
    )
    return simulate_with(system, given)


def as_simulated(case: PreparedCase) -> tuple[System, SimulationSettings]:
    """Return the system of a case, and how it is run."""
    options, system = case.options, case.system
    if options.backend is not None:
        system = system.with_backend(options.backend)
    return system, SimulationSettings(
        step=options.step,
        stop=options.stop,
        start=options.start,
        algorithm=options.algorithm,
        algorithm_options=options.algorithm_options,
        rates=options.rates,
        delay=options.delay or DEFAULT_DELAY,
        record=options.record,
        every=options.every or 1,
        early_return=options.early_return,
        faults=faults_of(case.case),
        tuned=case.tuned,
        limits=case.limits,
        name=case.name,
    )
