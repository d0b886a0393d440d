"""What is wrong with a campaign, before anything is run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from orchestrator.campaign.axes import AxisPoint, applied, is_time, points_of, targets_of, unit_of
from orchestrator.campaign.campaign_table import MOST_RUNS, Axis, Campaign
from orchestrator.campaign.design import points, seeds_of, size_of
from orchestrator.campaign.experiment import Experiment
from orchestrator.campaign.faults import wrong_faults
from orchestrator.campaign.prepare import merged
from orchestrator.campaign.simulate import horizon
from orchestrator.campaign.targets import Parameter, Variant
from orchestrator.errors import DescriptionError
from orchestrator.system import System, nanoseconds, seconds
from orchestrator.system.units import conversion

#: Columns that every table has.
_COLUMNS = ("seed", "case", "status", "reason", "wall time")
Named = Iterator[tuple[str, str, Collection[str]]]


def named_by_campaigns(experiment: Experiment) -> Named:
    """Where a campaign names another thing, what it names, and what there is."""
    for name, campaign in experiment.campaign.items():
        yield from ((f"campaign.{name}.cases", key, experiment.case) for key in campaign.cases)
        cases = [experiment.case[key] for key in campaign.cases if key in experiment.case]
        known = list(dict.fromkeys(key for case in cases for key in case.measure))
        yield from ((f"campaign.{name}.measures", key, known) for key in campaign.measures)


def wrong_campaign(
    name: str, campaign: Campaign, experiment: Experiment, systems: Mapping[str, System]
) -> Iterator[str]:
    """Say what keeps a campaign from running; nothing if not all its cases are prepared."""
    if not set(campaign.cases) <= set(systems):
        return
    where = f"campaign '{name}'"
    variants = {
        key: Variant(
            experiment.case[key],
            merged(experiment.case[key], experiment.defaults),
            system,
        )
        for key, system in systems.items()
    }
    involved = {key: variants[key] for key in _involved(campaign, experiment) if key in variants}
    wrong = [
        f"{where}, over.{key}: {text}"
        for key, axis in campaign.over.items()
        for text in _wrong_axis(axis, involved)
    ]
    wrong += (f"{where}: {text}" for text in _wrong_size(campaign))
    if name in experiment.sweep:
        wrong.append(f"{where}: there is a sweep of this name, too: rename one of them")
    yield from wrong
    yield from (f"{where}: {text}" for text in _wrong_titles(campaign))
    yield from (f"{where}: {text}" for text in _wrong_seeds(campaign, involved))
    yield from (f"{where}: {text}" for text in _wrong_windows(campaign, experiment, systems))
    if not wrong:
        yield from dict.fromkeys(f"{where}: {text}" for text in _wrong_values(campaign, involved))


def _involved(campaign: Campaign, experiment: Experiment) -> list[str]:
    measures = (
        experiment.case[case].measure.get(key)
        for case in campaign.cases
        for key in campaign.measures
    )
    return [*campaign.cases, *(m.to for m in measures if m is not None and m.to is not None)]


def _wrong_axis(axis: Axis, variants: Mapping[str, Variant]) -> Iterator[str]:
    targets = targets_of(axis)
    if not targets:
        yield "changes nothing: expected set, delay, step, fault, option or rate"
        return
    if axis.proportional and not axis.set:
        yield "proportional: expected set as well, which says in proportion to what"
    parameters = [Parameter(path) for path in axis.proportional]
    try:
        for target, named in [
            *zip(targets, _names(axis), strict=True),
            *zip(parameters, axis.proportional, strict=True),
        ]:
            if not any(target.reaches(variant) for variant in variants.values()):
                yield f"'{named}' reaches no case: none of {', '.join(variants)} has it"
        if is_time(axis):
            conversion("s", unit_of(axis))
        if axis.values is not None:
            points_of(axis)
    except DescriptionError as error:
        yield from error.problems


def _names(axis: Axis) -> list[str]:
    step = ["step"] if axis.step else []
    option = [axis.option] if axis.option is not None else []
    return [*axis.set, *axis.delay, *axis.fault, *step, *option, *axis.rate]


def _wrong_size(campaign: Campaign) -> Iterator[str]:
    if campaign.design == "grid" and campaign.count is not None:
        yield "count: a grid has the counts of its axes; expected it with a random design only"
    if (size := size_of(campaign)) > MOST_RUNS:
        yield f"{size:.3g} runs; expected at most {MOST_RUNS:.0e}: fewer values, or a random design"
    elif size == 0 and campaign.design != "grid":
        yield f"design '{campaign.design}' needs a count of points"
    if len(set(campaign.cases)) < len(campaign.cases):
        yield "cases: one is named twice"


def _wrong_titles(campaign: Campaign) -> Iterator[str]:
    """Say which columns of the table would have one title."""
    taken = {*_COLUMNS, *campaign.measures}
    for name, axis in campaign.over.items():
        title = axis.label or name
        if title in taken:
            yield f"over.{name}: another column is called '{title}': give it another label"
        taken.add(title)


def _wrong_seeds(campaign: Campaign, variants: Mapping[str, Variant]) -> Iterator[str]:
    if campaign.seeds is None:
        return
    if isinstance(campaign.seeds, int) and campaign.seeds > 1000:
        yield f"seeds: expected at most 1000 replications, found {campaign.seeds}"
        return
    seeds = seeds_of(campaign)
    if not seeds or len(set(seeds)) < len(seeds) or min(s or 0 for s in seeds) < 0:
        yield f"seeds: expected a number >= 1, or different ones >= 0, found {campaign.seeds!r}"
    noisy = any(t.kind == "noise" for v in variants.values() for t in v.case.fault.values())
    varying = any(
        line.delay and line.delay.variation
        for variant in variants.values()
        for line in variant.system.connections
    )
    if not noisy and not varying:
        yield "seeds change nothing: no case has a fault of kind 'noise' or a delay that varies"


def _wrong_windows(
    campaign: Campaign, experiment: Experiment, systems: Mapping[str, System]
) -> Iterator[str]:
    """Say which measures begin after the end of the runs."""
    for case in campaign.cases:
        options = merged(experiment.case[case], experiment.defaults)
        stop = options.stop if campaign.stop is None else campaign.stop
        try:
            _, stop_ns, _ = horizon(systems[case], options.start, stop, options.step)
        except DescriptionError:
            return  # reported with the values
        for key in campaign.measures:
            measure = experiment.case[case].measure.get(key)
            if measure is None or measure.begin is None:
                continue
            if nanoseconds(measure.begin, "from") >= stop_ns:
                yield (
                    f"case '{case}', measure '{key}' begins at {measure.begin}; expected it before"
                    f" the stop at {seconds(stop_ns):.9g} s"
                )


def _wrong_values(campaign: Campaign, variants: Mapping[str, Variant]) -> Iterator[str]:
    """Try each value of each axis once; the grid of all of them is tried when jobs are made."""
    if campaign.design != "grid":
        try:
            next(points(campaign), None)
        except DescriptionError as error:
            yield from error.problems
        return
    for name, axis in campaign.over.items():
        try:
            listed = points_of(axis)
        except DescriptionError as error:
            yield from (f"over.{name}: {text}" for text in error.problems)
            continue
        told: dict[str, list[AxisPoint]] = {}
        for point in listed:
            for case, variant in variants.items():
                for text in _wrong_point(axis, point, campaign, case, variant):
                    told.setdefault(text, []).append(point)
        for text, where in told.items():
            shown = ", ".join(dict.fromkeys(str(point.shown) for point in where))
            yield f"over.{name} = {shown}: {text}"


def _wrong_point(
    axis: Axis, point: AxisPoint, campaign: Campaign, case: str, variant: Variant
) -> Iterator[str]:
    """Say what is wrong with one value in one case."""
    try:
        there = applied(axis, point.value, variant)
        options = there.options
        stop = options.stop if campaign.stop is None else campaign.stop
        horizon(there.system, options.start, stop, options.step)
    except DescriptionError as error:
        yield from error.problems
        return
    if there.case is not variant.case:
        wrong = wrong_faults(there.case, options, there.system)
        yield from (f"case '{case}': {text}" for text in wrong)
