"""One value of a listed sweep: its case with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.diagnostics import DescriptionError
from orchestrator.experiment.file.sweep_table import ListedSweep
from orchestrator.experiment.prepare.axes import targets_of
from orchestrator.experiment.prepare.faults import wrong_faults
from orchestrator.experiment.prepare.prepared_case import PreparedCase
from orchestrator.system import nanoseconds, seconds


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """A case at one value; ``number`` is the value, in seconds if it is a time."""

    case: PreparedCase
    number: float


def sweep_point(sweep: ListedSweep, value: str | float, case: PreparedCase) -> SweepPoint:
    """Take one value of a sweep.

    Parameters
    ----------
    sweep, value
        Of its values one.
    case
        As it is without it.

    Raises
    ------
    DescriptionError
        If there is no such parameter or fault, or the value does not fit.
    """
    each = (sweep.model_copy(update={"over": path}) for path in sweep.paths)
    axes = [one.with_axes(case.case.fault).over["value"] for one in each]
    targets = [target for axis in axes for target in targets_of(axis)]
    for target in targets:
        case = target.changed(case, value)
    is_time = any(target.is_time for target in targets)
    return SweepPoint(case, _number(value, is_time=is_time))


def wrong_values(sweep: ListedSweep, case: PreparedCase) -> Iterator[str]:
    """Say which values of a sweep cannot be run; parameters as of :func:`sweep_point`."""
    for value in sweep.values:
        try:
            there = sweep_point(sweep, value, case).case
        except DescriptionError as error:
            yield from error.problems
            continue
        if there.case is not case.case:
            yield from map(str, wrong_faults(there))


def _number(value: str | float, *, is_time: bool) -> float:
    if is_time:
        return seconds(nanoseconds(value, "swept time"))
    try:
        return float(value)
    except ValueError:
        raise DescriptionError(f"expected a number, found {value!r}") from None
