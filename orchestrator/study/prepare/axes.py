"""Axes of a sweep and its points: a grid over their values, or a random design."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import conversion, nanoseconds
from orchestrator.study.experiment import FaultTable
from orchestrator.study.figure_tables import Axis, AxisValue, Sweep
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.prepare.targets import (
    Delay,
    FaultFigure,
    Option,
    Parameter,
    Rate,
    Step,
    Target,
)

#: Times are shown in this unit unless an axis says another.
_TIME_UNIT = "ms"


class AxisPoint(Struct):
    """One value of an axis.

    value: What is set: a number, text or Boolean; a time is text in whole nanoseconds.
    label: The same for people and tables: a number in the unit of the axis.
    """

    value: AxisValue
    label: AxisValue


def targets_of(axis: Axis) -> list[Target]:
    """List what an axis changes."""
    unit = axis.unit
    return [
        *(Parameter(path, unit, axis.scale) for path in axis.set),
        *(Delay(line, scale=axis.scale) for line in axis.delay),
        *(FaultFigure(path, unit, axis.scale) for path in axis.fault),
        *([Step("step", scale=axis.scale)] if axis.step else []),
        *([Option(axis.option)] if axis.option is not None else []),
        *(Rate(component) for component in axis.rate),
    ]


def is_time(axis: Axis) -> bool:
    """Whether its values are times; factors of times are numbers.

    Where it changes times and other figures together, its values are numbers in seconds.
    """
    kinds = {target.is_time for target in targets_of(axis)}
    if axis.scale:
        return False
    if len(kinds) > 1 and axis.unit != "s":
        raise DescriptionError(
            "changes times and other quantities together: split it into two axes, or give numbers"
            ' in seconds with unit = "s"'
        )
    return kinds == {True}


def unit_of(axis: Axis) -> str:
    """Return the unit in which its values are shown; empty for none."""
    if axis.scale:
        return ""
    return axis.unit or (_TIME_UNIT if is_time(axis) else "")


def label_of(name: str, axis: Axis) -> str:
    """Return the title of its column and its axis: ``Bandwidth [Hz]``."""
    label, unit = axis.label or name, unit_of(axis)
    return f"{label} [{unit}]" if unit and unit != "1" else label


def applied(axis: Axis, value: AxisValue, case: PreparedCase) -> PreparedCase:
    """Change a case as an axis says, where the case has what it changes."""
    if axis.proportional:
        case = _in_proportion(axis, value, case)
    for target in targets_of(axis):
        if target.reaches(case):
            case = target.changed(case, value)
    return case


def _in_proportion(axis: Axis, value: AxisValue, case: PreparedCase) -> PreparedCase:
    first = next((t for t in targets_of(axis) if t.reaches(case)), None)
    if not isinstance(first, Parameter):
        return case
    factor = value
    if not axis.scale:
        value_before = case.system.value(first.name)
        new = first.changed(case, value).system.value(first.name)
        if not (
            isinstance(value_before, int | float) and isinstance(new, int | float) and value_before
        ):
            raise DescriptionError(
                f"'proportional' needs a number other than zero in '{first.name}', found"
                f" {value_before!r}"
            )
        factor = new / value_before
    for path in axis.proportional:
        target = Parameter(path, scale=True)
        if target.reaches(case):
            case = target.changed(case, factor)
    return case


def points_of(axis: Axis) -> list[AxisPoint]:
    """List the values of an axis in the order of the file, or from ``from`` to ``to``."""
    if axis.values is not None:
        for key, bound in (("from", axis.first), ("to", axis.last), ("count", axis.count)):
            if bound is not None:
                raise DescriptionError(f"has values and '{key}': expected one of the two")
        points = [point_at(axis, value) for value in axis.values]
        if len({kind if (kind := type(p.label)) in {str, bool} else float for p in points}) > 1:
            raise DescriptionError("values: expected numbers only, text only, or Booleans only")
    else:
        if axis.count is None:
            raise DescriptionError("needs values = [..], or from, to and count")
        shares = [i / max(axis.count - 1, 1) for i in range(axis.count)]
        points = [between(axis, share) for share in shares]
    if len({p.value for p in points}) < len(points):
        raise DescriptionError("has one value several times")
    return points


def point_at(axis: Axis, value: AxisValue) -> AxisPoint:
    """Return one value as it is set and as it is shown."""
    if not is_time(axis):
        if isinstance(value, float) and not math.isfinite(value):
            raise DescriptionError(f"expected finite numbers, found {value!r}")
        return AxisPoint(value, value)
    if isinstance(value, bool):
        raise DescriptionError(f"expected times, found {value!r}")
    return _time(axis, nanoseconds(value, "values"))


def between(axis: Axis, share: float) -> AxisPoint:
    """Return the value at a share, 0 to 1, of the way from ``from`` to ``to``.

    Of an axis with ``values`` it is the one at this share of the list.
    """
    if axis.values is not None:
        return point_at(axis, axis.values[min(int(share * len(axis.values)), len(axis.values) - 1)])
    if axis.first is None or axis.last is None:
        raise DescriptionError("needs values = [..], or both from and to")
    ends = (axis.first, axis.last)
    timed = is_time(axis)
    try:
        low, high = (float(nanoseconds(e, "from, to") if timed else e) for e in ends)
    except ValueError:
        raise DescriptionError(f"from, to: expected numbers, found {ends}") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise DescriptionError(f"expected from < to, found {axis.first!r} and {axis.last!r}")
    if axis.spacing == "log":
        if low <= 0:
            raise DescriptionError(f"spacing 'log' needs from > 0, found {axis.first!r}")
        number = high if share == 1.0 else low * (high / low) ** share
    else:
        number = high if share == 1.0 else low + (high - low) * share
    if timed:
        return _time(axis, round(number))
    number = float(f"{number:.12g}")  # 0.30000000000000004 is nobody's value
    return AxisPoint(number, number)


def _time(axis: Axis, ns: int) -> AxisPoint:
    factor, _ = conversion("ns", unit_of(axis))
    return AxisPoint(f"{ns} ns", float(f"{ns * factor:.12g}"))


#: A value for each axis, by its name.
Point = Mapping[str, AxisPoint]


def points(sweep: Sweep) -> Iterator[Point]:
    """Give all points, the first axis changing slowest."""
    if sweep.design == "grid":
        lists = [points_of(axis) for axis in sweep.over.values()]
        for row in product(*lists):
            yield dict(zip(sweep.over, row, strict=True))
        return
    for shares in _shares(sweep):
        yield {
            name: between(axis, float(share))
            for (name, axis), share in zip(sweep.over.items(), shares, strict=True)
        }


def _shares(sweep: Sweep) -> NDArray[np.float64]:
    """Rows of shares of each axis, 0 to 1, shape (count, axes)."""
    if sweep.count is None:
        raise DescriptionError(f"design '{sweep.design}' needs a count of points")
    size = (sweep.count, len(sweep.over))
    draws = np.random.default_rng(sweep.seed)
    if sweep.design == "random":
        return draws.random(size)
    # Each of as many equal slices of an axis as there are points holds one point.
    slices = draws.permuted(np.tile(np.arange(sweep.count), (size[1], 1)), axis=1).T
    return (slices + draws.random(size)) / sweep.count


def size_of(sweep: Sweep) -> int:
    """Count the runs, without runs of reference cases."""
    count = sweep.count or 0
    if sweep.design == "grid":
        axes = sweep.over.values()
        count = math.prod(
            axis.count or 0 if axis.values is None else len(axis.values) for axis in axes
        )
    replications = sweep.seeds if isinstance(sweep.seeds, int) else len(seeds_of(sweep))
    return count * max(replications, 1) * len(sweep.cases)


def seeds_of(sweep: Sweep) -> tuple[int | None, ...]:
    """Return the seeds of the replications; ``None`` keeps those of the cases."""
    if sweep.seeds is None:
        return (None,)
    if isinstance(sweep.seeds, int):
        return tuple(range(1, sweep.seeds + 1))
    return sweep.seeds


def placed(sweep: Sweep, point: Point, seed: int | None, case: PreparedCase) -> PreparedCase:
    """Return a case as it is at one point, for one seed."""
    settings = {key: getattr(sweep, key) for key in ("stop", "record", "every")}
    options = {key: value for key, value in settings.items() if value is not None}
    if options:
        case = case.with_options(**options)
    for name, axis in sweep.over.items():
        try:
            case = applied(axis, point[name].value, case)
        except DescriptionError as error:
            location = f"over.{name} = {point[name].label!r}"
            raise DescriptionError(*(f"{location}: {text}" for text in error.problems)) from None
    return case if seed is None else _seeded(case, seed)


def _seeded(case: PreparedCase, seed: int) -> PreparedCase:
    """Give the seed to every noise, every twin, and every delay that varies."""
    faults: dict[str, FaultTable] = {
        label: table.model_copy(update={"seed": seed}) if table.kind == "noise" else table
        for label, table in case.case.fault.items()
    }
    lines = tuple(
        replace(line, delay=replace(line.delay, variation=replace(line.delay.variation, seed=seed)))
        if line.delay and line.delay.variation
        else line
        for line in case.system.connections
    )
    components = {
        name: replace(part, source=part.source.around(part.source.inner, seed))
        if part.source.inner is not None
        else part
        for name, part in case.system.components.items()
    }
    table = case.case.model_copy(update={"fault": faults})
    system = replace(case.system, connections=lines, components=components)
    return replace(case, case=table, system=system)
