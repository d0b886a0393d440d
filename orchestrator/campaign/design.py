"""The points of a campaign: a grid over its axes, or a random design."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from orchestrator.campaign.axes import AxisPoint, applied, between, points_of
from orchestrator.campaign.campaign_table import Campaign
from orchestrator.campaign.experiment import FaultTable
from orchestrator.campaign.targets import Variant
from orchestrator.errors import DescriptionError

#: A value for each axis, by its name.
Point = Mapping[str, AxisPoint]


def points(campaign: Campaign) -> Iterator[Point]:
    """Give all points, the first axis changing slowest.

    Raises
    ------
    DescriptionError
        If an axis has no values, or the design has no count.
    """
    if campaign.design == "grid":
        lists = [points_of(axis) for axis in campaign.over.values()]
        for row in product(*lists):
            yield dict(zip(campaign.over, row, strict=True))
        return
    for shares in _shares(campaign):
        yield {
            name: between(axis, float(share))
            for (name, axis), share in zip(campaign.over.items(), shares, strict=True)
        }


def _shares(campaign: Campaign) -> NDArray[np.float64]:
    """Rows of shares of each axis, 0 to 1, shape (count, axes)."""
    if campaign.count is None:
        raise DescriptionError(f"design '{campaign.design}' needs a count of points")
    size = (campaign.count, len(campaign.over))
    draws = np.random.default_rng(campaign.seed)
    if campaign.design == "random":
        return draws.random(size)
    # Each of as many equal slices of an axis as there are points holds one point.
    slices = draws.permuted(np.tile(np.arange(campaign.count), (size[1], 1)), axis=1).T
    return (slices + draws.random(size)) / campaign.count


def size_of(campaign: Campaign) -> int:
    """Count the runs, without those that other cases are compared with."""
    if campaign.design == "grid":
        count = 1
        for axis in campaign.over.values():
            count *= len(axis.values) if axis.values is not None else axis.count or 0
    else:
        count = campaign.count or 0
    seeds = campaign.seeds
    replications = seeds if isinstance(seeds, int) else len(seeds_of(campaign))
    return count * max(replications, 1) * len(campaign.cases)


def seeds_of(campaign: Campaign) -> tuple[int | None, ...]:
    """Return the seeds of the replications; ``None`` keeps those of the cases."""
    if campaign.seeds is None:
        return (None,)
    if isinstance(campaign.seeds, int):
        return tuple(range(1, campaign.seeds + 1))
    return campaign.seeds


def placed(campaign: Campaign, point: Point, seed: int | None, variant: Variant) -> Variant:
    """Return a case as it is at one point, for one seed.

    Raises
    ------
    DescriptionError
        If a value does not fit; the message names the axis.
    """
    options = {
        key: value
        for key in ("stop", "record", "every")
        if (value := getattr(campaign, key)) is not None
    }
    if options:
        changed = variant.options.model_copy(update=options)
        variant = Variant(variant.case, changed, variant.system)
    for name, axis in campaign.over.items():
        try:
            variant = applied(axis, point[name].value, variant)
        except DescriptionError as error:
            where = f"over.{name} = {point[name].shown!r}"
            raise DescriptionError(*(f"{where}: {text}" for text in error.problems)) from None
    return variant if seed is None else _seeded(variant, seed)


def _seeded(variant: Variant, seed: int) -> Variant:
    """Give the seed to every noise, and to every delay that varies."""
    faults: dict[str, FaultTable] = {
        label: table.model_copy(update={"seed": seed}) if table.kind == "noise" else table
        for label, table in variant.case.fault.items()
    }
    lines = tuple(
        replace(line, delay=replace(line.delay, variation=replace(line.delay.variation, seed=seed)))
        if line.delay and line.delay.variation
        else line
        for line in variant.system.connections
    )
    case = variant.case.model_copy(update={"fault": faults})
    return Variant(case, variant.options, replace(variant.system, connections=lines))
