"""One value of a sweep: the case, its options and its system with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import ValidationError

from orchestrator.campaign.experiment import Case, FaultTable, RunOptions, Sweep
from orchestrator.campaign.faults import wrong_faults
from orchestrator.campaign.prepare import set_value
from orchestrator.errors import DescriptionError, UnknownNameError
from orchestrator.system import System, nanoseconds, seconds

#: Figures of a fault that are times.
_TIMES = ("from", "until", "delay")


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
    paths = paths_of(sweep)
    is_time = False
    for path in paths:
        if path == "step":
            is_time = True
            nanoseconds(value, "step")
            options = options.model_copy(update={"step": value})
        elif (place := _fault(path, case)) is not None:
            is_time = is_time or place[1] in _TIMES
            case = _with_figure(case, *place, value)
        else:
            system = set_value(system, path, value)
    return Varied(case, options, system, _number(value, is_time=is_time))


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


def _fault(path: str, case: Case) -> tuple[str, str] | None:
    """Label and figure of ``fault.LABEL.FIGURE``; ``None`` if it is none of the case's."""
    word, _, rest = path.partition(".")
    label, _, figure = rest.partition(".")
    return (label, figure) if word == "fault" and label in case.fault else None


def _with_figure(case: Case, label: str, figure: str, value: str | float) -> Case:
    names = [field.alias or name for name, field in FaultTable.model_fields.items()]
    if figure not in names:
        raise UnknownNameError(f"fault.{label}: no '{figure}' to sweep; known: {', '.join(names)}")
    given = case.fault[label].model_dump(by_alias=True, exclude_none=True)
    try:
        table = FaultTable.model_validate({**given, figure: value})
    except ValidationError:
        raise DescriptionError(f"fault.{label}.{figure}: {value!r} does not fit") from None
    return case.model_copy(update={"fault": {**case.fault, label: table}})


def _number(value: str | float, *, is_time: bool) -> float:
    if is_time:
        return seconds(nanoseconds(value, "swept time"))
    try:
        return float(value)
    except ValueError:
        raise DescriptionError(f"expected a number, found {value!r}") from None
