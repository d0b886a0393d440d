"""A system that is stepped from outside."""

from __future__ import annotations

from typing import Unpack

from orchestrator.core.master.algorithms.settings import RunKeywords
from orchestrator.core.master.run.execution import Execution
from orchestrator.core.system import System


def start(system: System, **given: Unpack[RunKeywords]) -> Execution:
    """Initialise a system and hand it over, to be stepped from outside.

    Parameters
    ----------
    system
        What to run.
    **given
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
    return Execution(system, **given)
