"""The points of a sweep: a grid over its axes, or a random design."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.study.file.experiment import FaultTable
from orchestrator.study.file.sweep_table import Sweep
from orchestrator.study.prepare.axes import AxisPoint, applied, between, points_of
from orchestrator.study.prepare.prepared_case import PreparedCase

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
    """Count the runs, without those that other cases are compared with."""
    if sweep.design == "grid":
        count = 1
        for axis in sweep.over.values():
            count *= len(axis.values) if axis.values is not None else axis.count or 0
    else:
        count = sweep.count or 0
    seeds = sweep.seeds
    replications = seeds if isinstance(seeds, int) else len(seeds_of(sweep))
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
    options = {
        key: value
        for key in ("stop", "record", "every")
        if (value := getattr(sweep, key)) is not None
    }
    if options:
        changed = case.options.model_copy(update=options)
        case = replace(case, options=changed)
    for name, axis in sweep.over.items():
        try:
            case = applied(axis, point[name].value, case)
        except DescriptionError as error:
            where = f"over.{name} = {point[name].shown!r}"
            raise DescriptionError(*(f"{where}: {text}" for text in error.problems)) from None
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
