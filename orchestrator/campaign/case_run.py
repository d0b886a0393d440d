"""One run of a case, with its options and its faults."""

from __future__ import annotations

from orchestrator.campaign.experiment import Case, RunOptions
from orchestrator.campaign.faults import faults_of
from orchestrator.campaign.simulate import Progress, simulate
from orchestrator.recording import Journal, Result
from orchestrator.system import System


def run_case(
    name: str,
    case: Case,
    system: System,
    options: RunOptions,
    progress: Progress | None = None,
    journal: Journal | None = None,
    *,
    threads: int | None = None,
) -> Result:
    """Run a case; see :func:`~orchestrator.campaign.simulate.simulate`.

    Parameters
    ----------
    name
        Of the result.
    case, options
        The case, and its options completed by the defaults.
    system
        Prepared.
    progress, journal, threads
        As there.

    Raises
    ------
    SoftdockError
        As there.
    """
    if options.backend is not None:
        system = system.with_backend(options.backend)
    return simulate(
        system,
        step=options.step,
        stop=options.stop,
        start=options.start,
        algorithm=options.algorithm,
        algorithm_options=options.algorithm_options,
        rates=options.rates,
        delay=options.delay or "exact",
        record=options.record,
        every=options.every or 1,
        early_return=options.early_return,
        threads=threads,
        faults=faults_of(case),
        name=name,
        progress=progress,
        journal=journal,
    )
