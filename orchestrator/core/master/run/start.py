"""A system that is stepped from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator.core.coupling import DEFAULT_DELAY, DelayMode
from orchestrator.core.master.run.execution import Execution
from orchestrator.core.system import Fault, System


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
    step, start, stop, algorithm, delay, record, every, algorithm_options, rates, faults
        As in :class:`orchestrator.core.master.Execution`.

    Returns
    -------
    Execution
        At the start time, its outputs consistent; use it in a ``with`` statement, or close it.

    Raises
    ------
    DescriptionError, LoadError, StepError
        As :class:`orchestrator.core.master.Execution` does.
    """
    return Execution(
        system,
        step=step,
        start=start,
        stop=stop,
        algorithm=algorithm,
        delay=delay,
        record=record,
        every=every,
        algorithm_options=algorithm_options,
        rates=rates,
        faults=faults,
    )
