"""A system that is stepped from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator.coupling import DEFAULT_DELAY, DelayMode
from orchestrator.master.algorithms.settings import MasterSettings
from orchestrator.master.run.execution import Execution
from orchestrator.system import Fault, System, communication_step_ns


def start(
    system: System,
    *,
    step: str | float | None = None,
    start: str | float | None = None,
    stop: str | float | None = None,
    algorithm: str | None = None,
    delay: DelayMode | str = DEFAULT_DELAY,
    record: Sequence[str] | str | None = None,
    every: int = 1,
    algorithm_options: Mapping[str, Any] | None = None,
    rates: Mapping[str, int] | None = None,
    faults: Sequence[Fault] = (),
) -> Execution:
    """Initialise a system and hand it over, to be stepped from outside.

    Parameters
    ----------
    system
        What to run.
    step, start, algorithm
        Communication step, start time and master algorithm; what is ``None`` is taken from the
        system's default experiment.
    stop
        Announced to the units, some of which then go no further. ``None`` announces none, whatever
        the default experiment says.
    delay, record, every, algorithm_options, rates, faults
        As in :class:`orchestrator.master.Execution`.

    Returns
    -------
    Execution
        At the start time, its outputs consistent; use it in a ``with`` statement, or close it.

    Raises
    ------
    DescriptionError, LoadError, StepError
        As :class:`orchestrator.master.Execution` does.
    """
    default = system.experiment
    settings = MasterSettings.of(system, algorithm, algorithm_options, rates)
    return Execution(
        system,
        step=f"{communication_step_ns(system)} ns" if step is None else step,
        start=f"{default.start_ns} ns" if start is None else start,
        stop=stop,
        algorithm=settings.algorithm,
        delay=delay,
        record=record,
        every=every,
        algorithm_options=settings.options,
        rates=settings.rates,
        early_return=settings.early_return,
        faults=faults,
    )
