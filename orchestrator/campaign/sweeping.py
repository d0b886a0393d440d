"""One value of a sweep: the case, its options and its system with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.campaign.experiment import Case, RunOptions, Sweep
from orchestrator.campaign.faults import wrong_faults
from orchestrator.campaign.targets import FaultFigure, Parameter, Step, Target, Variant
from orchestrator.errors import DescriptionError
from orchestrator.system import System, nanoseconds, seconds


@dataclass(frozen=True, slots=True)
class Varied:
    """What is run for one value; ``number`` is the value, in seconds if it is a time."""

    case: Case
    options: RunOptions
    system: System
    number: float


def paths_of(sweep: Sweep) -> tuple[str, ...]:
    """What a sweep varies together."""
    return (sweep.over,) if isinstance(sweep.over, str) else sweep.over


def targets_of(sweep: Sweep, case: Case) -> list[Target]:
    """The same as what is changed; ``fault.LABEL.FIGURE`` is a parameter if no fault has it."""
    return [_target(path, case) for path in paths_of(sweep)]


def _target(path: str, case: Case) -> Target:
    word, _, rest = path.partition(".")
    if path == "step":
        return Step()
    if word == "fault" and rest.partition(".")[0] in case.fault:
        return FaultFigure(rest)
    return Parameter(path)


def varied(
    sweep: Sweep, value: str | float, case: Case, options: RunOptions, system: System
) -> Varied:
    """Take one value of a sweep.

    Parameters
    ----------
    sweep, value
        Of its values one.
    case, options, system
        As they are without it.

    Raises
    ------
    DescriptionError
        If there is no such parameter or fault, or the value does not fit.
    """
    there = Variant(case, options, system)
    targets = targets_of(sweep, case)
    for target in targets:
        there = target.changed(there, value)
    is_time = any(target.is_time for target in targets)
    return Varied(there.case, there.options, there.system, _number(value, is_time=is_time))


def wrong_values(sweep: Sweep, case: Case, options: RunOptions, system: System) -> Iterator[str]:
    """Say which values of a sweep cannot be run; parameters as of :func:`varied`."""
    for value in sweep.values:
        try:
            there = varied(sweep, value, case, options, system)
        except DescriptionError as error:
            yield from error.problems
            continue
        if there.case is not case:
            yield from wrong_faults(there.case, there.options, there.system)


def _number(value: str | float, *, is_time: bool) -> float:
    if is_time:
        return seconds(nanoseconds(value, "swept time"))
    try:
        return float(value)
    except ValueError:
        raise DescriptionError(f"expected a number, found {value!r}") from None
