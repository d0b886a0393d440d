"""Steps of a case: what they are judged by, and how the case is run with one of them."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.core.coupling import DEFAULT_DELAY
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import nanoseconds
from orchestrator.loops import linear_system
from orchestrator.loops.step_choice.choice import COUNT, StepReference
from orchestrator.study.file.experiment import AUTO
from orchestrator.study.prepare.prepared_case import PreparedCase

#: Where a case has no step of its own, it is linearised with this one, which none is chosen by.
_FIRST = "1 ms"


def case_step_reference(
    case: PreparedCase, *, lines: Sequence[str] | None = None, count: int = COUNT
) -> StepReference:
    """Linearise a case at its start, and say by what its steps are judged.

    Rates of components are counted in the step that the case or its system has: they keep the
    length of their steps.

    Parameters
    ----------
    case
        Prepared.
    lines, count
        See :meth:`~orchestrator.loops.step_choice.choice.StepReference.of`.

    Raises
    ------
    SoftdockError
        If it cannot be linearised, has rates but no step to count them in, or has no closed loop.
    """
    options, default = case.options, case.system.experiment
    own = None if options.step == AUTO else options.step
    rates = default.rates if options.rates is None else options.rates
    if own is None and default.step_ns is None:
        if rates:
            raise DescriptionError(
                f"case '{case.name}': its system has no communication step in which the rates of"
                f" {', '.join(rates)} could be counted: give it one"
            )
        own = _FIRST
    linear = linear_system(
        case.system,
        step=own,
        start=options.start,
        algorithm=options.algorithm,
        delay=options.delay or DEFAULT_DELAY,
        algorithm_options=options.algorithm_options,
        rates=options.rates,
    )
    start = default.start_ns if options.start is None else nanoseconds(options.start, "start time")
    stop = default.stop_ns if options.stop is None else nanoseconds(options.stop, "stop time")
    length = None if stop is None else stop - start
    if length is not None and length <= 0:
        raise DescriptionError(
            f"case '{case.name}': expected a stop time after the start, found {stop} ns"
        )
    return StepReference.of(linear, length_ns=length, lines=lines, count=count)
