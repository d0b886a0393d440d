"""What is wrong with a sweep, and with figures that are drawn from one, before anything is run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from orchestrator.core.diagnostics import DescriptionError, Problem, suggestion
from orchestrator.core.system import conversion, horizon, nanoseconds, seconds
from orchestrator.study.experiment import Experiment
from orchestrator.study.figure_tables import (
    MOST_RUNS,
    Axis,
    AxisValue,
    LinesFigure,
    ListedSweep,
    MapFigure,
    MapPanelTable,
    Sweep,
)
from orchestrator.study.prepare.axes import (
    AxisPoint,
    applied,
    is_time,
    point_at,
    points,
    points_of,
    seeds_of,
    size_of,
    targets_of,
    unit_of,
)
from orchestrator.study.prepare.prepared_case import PreparedCase, wrong_faults
from orchestrator.study.prepare.targets import Parameter

#: Columns that every table has.
_COLUMNS = ("seed", "case", "status", "reason", "wall time")
Named = Iterator[tuple[str, str, str, Collection[str]]]


def named_by_sweeps(experiment: Experiment) -> Named:
    """Where a sweep names another thing, what it names, and what there is."""
    listed = experiment.listed_sweeps
    for name, sweep in experiment.sweeps.items():
        key = "case" if name in listed else "cases"
        yield from ((f"sweep.{name}.{key}", "case", case, experiment.case) for case in sweep.cases)
        cases = [experiment.case[key] for key in sweep.cases if key in experiment.case]
        if not cases:
            continue
        measures = list(dict.fromkeys(key for case in cases for key in case.measure))
        yield from ((f"sweep.{name}.measures", "measure", key, measures) for key in sweep.measures)


def wrong_sweep(
    name: str, sweep: Sweep, experiment: Experiment, cases: Mapping[str, PreparedCase]
) -> Iterator[str]:
    """Say what keeps a sweep from running; nothing if not all its cases are prepared."""
    if not set(sweep.cases) <= set(cases):
        return
    measures = [
        experiment.case[case].measure.get(key) for case in sweep.cases for key in sweep.measures
    ]
    compared = [
        measure.to for measure in measures if measure is not None and measure.to is not None
    ]
    involved = {key: cases[key] for key in (*sweep.cases, *compared) if key in cases}
    value_problems = [
        f", over.{key}: {text}"
        for key, axis in sweep.over.items()
        for text in _wrong_axis(axis, involved)
    ]
    value_problems += (f": {text}" for text in _wrong_size(sweep))
    problems = list(value_problems)
    taken = {*_COLUMNS, *sweep.measures}
    for key, axis in sweep.over.items():
        title = axis.label or key
        if title in taken:
            problems.append(
                f": over.{key}: another column is called '{title}': give it another label"
            )
        taken.add(title)
    problems += (f": {text}" for text in _wrong_seeds(sweep, involved))
    problems += (f": {text}" for text in _wrong_windows(sweep, involved))
    if not value_problems:
        problems += dict.fromkeys(f": {text}" for text in _wrong_values(sweep, involved))
    yield from (f"sweep '{name}'{text}" for text in problems)


def _sweepable(cases: Mapping[str, PreparedCase]) -> set[str]:
    """Names of what an axis may change: connectors and connections of the cases, and the step."""
    systems = [case.system for case in cases.values()]
    names = {f"{c.name}.{n}" for s in systems for c in s.components.values() for n in c.connectors}
    return names | {str(line) for s in systems for line in s.connections} | {"step"}


def _wrong_axis(axis: Axis, cases: Mapping[str, PreparedCase]) -> Iterator[str]:
    targets = targets_of(axis)
    if not targets:
        yield "changes nothing: expected set, delay, step, fault, option or rate"
        return
    if axis.proportional and not axis.set:
        yield "proportional: expected 'set' as well, which names the reference"
    try:
        for target in (*targets, *map(Parameter, axis.proportional)):
            if not any(target.reaches(case) for case in cases.values()):
                hint = suggestion(target.name, sorted(_sweepable(cases)))
                yield f"no case has '{target.name}'{hint}"
        if is_time(axis):
            conversion("s", unit_of(axis))
        if axis.values is not None:
            points_of(axis)
    except DescriptionError as error:
        yield from error.problems


def _wrong_size(sweep: Sweep) -> Iterator[str]:
    if sweep.design == "grid" and sweep.count is not None:
        yield "count: a grid has the counts of its axes; expected it with a random design only"
    if (size := size_of(sweep)) > MOST_RUNS:
        yield f"{size:.3g} runs; expected at most {MOST_RUNS:.0e}: fewer values, or a random design"
    elif size == 0 and sweep.design != "grid":
        yield f"design '{sweep.design}' needs a count of points"
    if len(set(sweep.cases)) < len(sweep.cases):
        yield "cases: one is named twice"


def _wrong_seeds(sweep: Sweep, cases: Mapping[str, PreparedCase]) -> Iterator[str]:
    if sweep.seeds is None:
        return
    if isinstance(sweep.seeds, int) and sweep.seeds > 1000:
        yield f"seeds: expected at most 1000 replications, found {sweep.seeds}"
        return
    seeds = seeds_of(sweep)
    if not seeds or len(set(seeds)) < len(seeds) or min(s or 0 for s in seeds) < 0:
        yield f"seeds: expected a number >= 1, or different ones >= 0, found {sweep.seeds!r}"
    noisy = any(t.kind == "noise" for v in cases.values() for t in v.case.fault.values())
    varying = any(
        line.delay and line.delay.variation
        for case in cases.values()
        for line in case.system.connections
    )
    if not noisy and not varying:
        yield "seeds change nothing: no case has a fault of kind 'noise' or a delay that varies"


def _wrong_windows(sweep: Sweep, cases: Mapping[str, PreparedCase]) -> Iterator[str]:
    """Say which measures begin after the end of the runs."""
    for name in sweep.cases:
        case, options = cases[name], cases[name].options
        stop = options.stop if sweep.stop is None else sweep.stop
        try:
            _, stop_ns, _ = horizon(case.system, options.start, stop, options.step)
        except DescriptionError:
            return  # reported with the values
        for key in sweep.measures:
            measure = case.case.measure.get(key)
            if measure is None or measure.begin is None:
                continue
            if nanoseconds(measure.begin, "from") >= stop_ns:
                yield (
                    f"case '{name}', measure '{key}' begins at {measure.begin}; expected it before"
                    f" the stop at {seconds(stop_ns):.9g} s"
                )


def _wrong_values(sweep: Sweep, cases: Mapping[str, PreparedCase]) -> Iterator[str]:
    """Try each value of each axis once; the grid of all of them is tried when jobs are made."""
    if sweep.design != "grid":
        try:
            next(points(sweep), None)
        except DescriptionError as error:
            yield from error.problems
        return
    for name, axis in sweep.over.items():
        try:
            listed = points_of(axis)
        except DescriptionError as error:
            yield from (f"over.{name}: {text}" for text in error.problems)
            continue
        points_by_text: dict[str, list[AxisPoint]] = {}
        for point in listed:
            for case in cases.values():
                for text in _wrong_point(axis, point, sweep, case):
                    points_by_text.setdefault(text, []).append(point)
        for text, axis_points in points_by_text.items():
            values = ", ".join(dict.fromkeys(str(point.label) for point in axis_points))
            yield f"over.{name} = {values}: {text}"


def _wrong_point(axis: Axis, point: AxisPoint, sweep: Sweep, case: PreparedCase) -> Iterator[str]:
    """Say what is wrong with one value in one case."""
    try:
        there = applied(axis, point.value, case)
        options = there.options
        stop = options.stop if sweep.stop is None else sweep.stop
        horizon(there.system, options.start, stop, options.step)
    except DescriptionError as error:
        yield from error.problems
        return
    if there.case is not case.case:
        yield from (f"case '{case.name}': {text}" for text in wrong_faults(there))


def wrong_listed(name: str, sweep: ListedSweep, case: PreparedCase) -> Iterator[str]:
    """Say what keeps a sweep of the short form from running, in the words of that form."""
    location = f"sweep '{name}'"
    for key in sweep.measures:
        if case.case.measure[key].is_difference:
            yield f"{location}: '{key}' is a difference to another case and cannot be swept"
    axis = sweep.with_axes(case.case.fault).over["value"]
    problems = [text for value in axis.values or () for text in _wrong_value(axis, value, case)]
    if not problems:
        try:
            points_of(axis)
        except DescriptionError as error:
            problems += error.problems
    yield from (f"{location}: {text}" for text in problems)


def _wrong_value(axis: Axis, value: AxisValue, case: PreparedCase) -> Iterator[Problem]:
    """Say what is wrong with one value, all of whose targets the case must have."""
    there, is_wrong = case, False
    for target in targets_of(axis):
        try:
            there = target.changed(there, value)
        except DescriptionError as error:
            is_wrong = True
            yield from error.problems
    if not is_wrong and there.case is not case.case:
        yield from wrong_faults(there)


def panels_of(figure: MapFigure | LinesFigure) -> tuple[MapPanelTable, ...]:
    """Return the panels of a map, or the curves of a figure with lines."""
    return figure.panels if isinstance(figure, MapFigure) else figure.curves


def named_by_maps(experiment: Experiment) -> Named:
    """Where such a figure names another thing, what it names, and what there is."""
    sweeps = experiment.sweeps
    for name, figure in _maps(experiment):
        location = f"figure.{name}"
        yield f"{location}.sweep", "sweep", figure.sweep, sweeps
        sweep = sweeps.get(figure.sweep)
        if sweep is None:
            continue
        yield f"{location}.measure", "measure", figure.measure, sweep.measures
        for axis in _axes_of_figure(figure):
            yield f"{location}.x, y", "axis", axis, sweep.over
        if isinstance(figure, MapFigure) and figure.contour is not None:
            yield f"{location}.contour", "measure", figure.contour, sweep.measures
        for panel in panels_of(figure):
            yield f"{location}.case", "case", panel.case, sweep.cases
            yield from ((f"{location}.at", "axis", axis, sweep.over) for axis in panel.at)


def wrong_maps(experiment: Experiment) -> Iterator[str]:
    """Say what keeps such figures from being drawn; all names are known to exist."""
    sweeps = experiment.sweeps
    for name, figure in _maps(experiment):
        location = f"figure '{name}'"
        sweep = sweeps[figure.sweep]
        if sweep.design != "grid":
            yield (
                f"{location}: sweep '{figure.sweep}' has no grid, only a design of kind"
                f" '{sweep.design}': use its table"
            )
            continue
        if figure.reduce == "share above limit" and figure.limit is None:
            yield f"{location}: reduce 'share above limit' needs a limit"
        if isinstance(figure, MapFigure):
            if figure.x == figure.y:
                yield f"{location}: x and y are the same axis '{figure.x}'"
            if bool(figure.contour) != bool(figure.levels):
                yield (
                    f"{location}: contour (a measure) needs levels (its values), and levels need"
                    " contour"
                )
        for panel in panels_of(figure):
            yield from (
                f"{location}, case '{panel.case}': {t}" for t in _panel(figure, panel, sweep)
            )


def _panel(figure: MapFigure | LinesFigure, panel: MapPanelTable, sweep: Sweep) -> Iterator[str]:
    """Say which axes have no value, or one that they do not have."""
    for name, axis in sweep.over.items():
        try:
            listed = points_of(axis)
            if name in _axes_of_figure(figure):
                if name in panel.at:
                    yield f"at.{name}: this axis is drawn"
            elif name not in panel.at:
                if len(listed) > 1:
                    yield (
                        f"axis '{name}' is not drawn: choose its value with at = {{ {name} = .. }}"
                    )
            elif point_at(axis, panel.at[name]).value not in [point.value for point in listed]:
                values = ", ".join(str(point.label) for point in listed)
                yield f"at.{name}: no value {panel.at[name]!r}; it has: {values}"
        except DescriptionError:
            continue  # reported with the sweep


def _axes_of_figure(figure: MapFigure | LinesFigure) -> tuple[str, ...]:
    return (figure.x, figure.y) if isinstance(figure, MapFigure) else (figure.x,)


def _maps(experiment: Experiment) -> Iterator[tuple[str, MapFigure | LinesFigure]]:
    for name, figure in experiment.figure.items():
        if isinstance(figure, MapFigure | LinesFigure):
            yield name, figure
