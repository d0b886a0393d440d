"""Sweeps of Python: a system over a grid, as a table of pandas."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from orchestrator.core.diagnostics import DescriptionError, SoftdockError
from orchestrator.core.diagnostics.validation import Table, valid
from orchestrator.core.display import progress_bar
from orchestrator.core.simunits import resolve
from orchestrator.core.structs import replace
from orchestrator.core.system import System, with_starts, without_starts
from orchestrator.core.system.naming import unknown_name_error
from orchestrator.study.experiment import Case, Experiment, RunOptions
from orchestrator.study.figure_tables import Axis, AxisValue, Sweep
from orchestrator.study.goal import Goal, bound_of, goal_of
from orchestrator.study.judge import judge_measure
from orchestrator.study.prepare.axes import points_of
from orchestrator.study.prepare.prepare import with_chosen_steps
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.reader import expect_sound
from orchestrator.study.run.case_runs import signal_names
from orchestrator.study.sweep.executors import Dispatcher, local_executors
from orchestrator.study.sweep.jobs import EachItsOwn, Figure, JobContext, JobRecord, plan_of
from orchestrator.study.sweep.store import table_of
from orchestrator.study.tables import Expectation, statement_of

if TYPE_CHECKING:
    import pandas as pd


def sweep(
    system: System,
    over: Mapping[str, Sequence[AxisValue] | Mapping[str, Any]],
    *,
    measures: Mapping[str, Mapping[str, Any] | Figure] | None = None,
    expect: str | Sequence[str] = (),
    jobs: int = 1,
    timeout: float | None = None,
    progress: Callable[[float], None] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Run a system at every point of a grid.

    Parameters
    ----------
    system
        What to run.
    over
        Values of each axis by what it changes: a parameter or a held input (``"contact.k"``), the
        delay of a connection (``"a.y -> b.u"``), the ``"step"``; in its own unit, times in seconds
        or as text. Or, by any name, an axis as of ``[sweep.NAME.over.AXIS]`` of an experiment:
        ``{"set": ["contact.k"], "from": 1e3, "to": 1e5, "count": 9, "spacing": "log"}``.
    measures
        Measures of each run by name: as in ``[case.NAME.measure.MEASURE]`` of an experiment,
        such as ``{"kind": "peak", "signal": "contact.force"}``, or a function of the result that
        returns a number. ``None``: the last value of every recorded signal.
    expect
        Statements on measures, such as ``"peak < 50 N"`` or ``"growth < 0 1/s"``; functions have no
        unit. Each is a column of truth values: a measure that is missing does not keep it.
    jobs
        Processes that run at the same time; 1: this one. Several take systems and functions that
        other processes can import, none of a notebook.
    timeout
        Seconds of wall time for a run of several jobs; ``None``: as long as it takes.
    progress
        Called with the finished share, 0 to 1. ``None``: a notebook shows a bar.
    **options
        ``step``, ``start``, ``stop``, ``algorithm``, ``algorithm_options``, ``rates``, ``delay``,
        ``record``, ``every``, ``early_return``: as of :func:`simulate`.

    Returns
    -------
    pandas.DataFrame
        A row for each point, the first axis changing slowest: axes and measures with their units,
        a verdict for each expectation by its text, ``status`` (``"done"``, or what it came to),
        ``reason``, ``wall time [s]``.

    Raises
    ------
    DescriptionError, LoadError
        If anything does not exist or does not fit. A failed run is a row.
    """
    name = system.name
    opened, starts = with_starts(resolve(system).flat())
    flat = without_starts(opened.closed().check(algebraic_loops=True), starts)
    functions = {key: measure for key, measure in (measures or {}).items() if callable(measure)}
    tables = {key: measure for key, measure in (measures or {}).items() if not callable(measure)}
    if measures is None:
        recorded = signal_names(flat, options.get("record"))
        tables = {signal: {"kind": "final", "signal": signal} for signal in recorded}
    axes = {
        key: _read(Axis, _axis(key, measure, flat), f"over '{key}': ")
        for key, measure in over.items()
    }
    if not axes:
        raise DescriptionError("over: expected at least one axis, found none")
    if options.get("step") is None and flat.experiment.step_ns is None:
        options["step"] = _first_step(axes.values())
    case = _read(Case, {**options, "system": name, "measure": tables}, "")
    table = Sweep.model_construct(cases=(name,), measures=tuple(tables), over=axes)
    experiment = Experiment.model_construct(title=name, case={name: case}, sweep={name: table})
    run_options = RunOptions.model_validate(
        {key: getattr(case, key) for key in RunOptions.model_fields}
    )
    prepared = {name: PreparedCase(name, case, run_options, flat)}
    experiment, prepared, _ = with_chosen_steps(experiment, prepared)
    expect_sound(experiment, prepared)
    goals = list(
        _goals((expect,) if isinstance(expect, str) else expect, prepared[name], functions)
    )
    plan = plan_of(name, experiment.sweeps[name], experiment, prepared, EachItsOwn())
    plan = replace(plan, context=replace(plan.context, functions=functions))
    if jobs > 1:
        _expect_importable(plan.context)
    records: dict[str, JobRecord] = {}
    display = nullcontext(progress) if progress else progress_bar(f"sweep of {system.name}")
    with display as bar, local_executors(jobs) as executors:

        def keep(record: JobRecord) -> None:
            records[record.key] = record
            if bar is not None:
                bar(len(records) / len(plan.jobs))

        Dispatcher(executors, plan.context, keep, timeout).run(plan.jobs)
    frame = table_of(plan, records).drop(columns="case")
    if measures is None:
        frame = frame.filter(regex="^(?!.*: time_s$)")
    rows = [records[job.key] for job in plan.jobs]
    for goal in goals:
        passed = [judge_measure(goal, row.measured.get(goal.bound.name), "").passed for row in rows]
        frame.insert(list(frame.columns).index("status"), goal.that, passed)
    return frame


def _first_step(axes: Iterable[Axis]) -> str | float | None:
    """Return a step for what is checked before the runs, each of which has that of its point."""
    for axis in axes:
        if axis.step and (points := points_of(axis)):
            return str(points[0].value)
    return None


def _goals(
    statements: Sequence[str], case: PreparedCase, functions: Mapping[str, Figure]
) -> Iterator[Goal]:
    """Yield what is expected of the measures of each run."""
    names = [*case.case.measure, *functions]
    recorded = signal_names(case.system, case.options.record)
    for that in dict.fromkeys(statements):
        table = _read(Expectation, {"that": that}, "expect: ")
        statement = statement_of(that)
        if statement.name not in names:
            raise unknown_name_error(
                "the sweep", "measure to expect something of", statement.name, names
            )
        try:
            if statement.name in functions:
                yield Goal(that, table, that, bound_of(statement, lambda _: ""), is_measure=True)
            else:
                yield goal_of(that, table, that, case, recorded)
        except DescriptionError as error:
            raise DescriptionError(f"expect '{that}': {error}") from None


def _read(form: type[Table], content: Mapping[str, Any], prefix: str) -> Any:
    """Read what an experiment's file would say, which may be wrong."""
    try:
        return valid(form, content)
    except DescriptionError as error:
        texts = (f"{prefix}{diagnostic.message}" for diagnostic in error.diagnostics)
        raise DescriptionError(*texts) from None


def _axis(
    key: str, axis_values: Sequence[AxisValue] | Mapping[str, Any], system: System
) -> dict[str, Any]:
    """Return the axis that a key stands for; one of a parameter has its unit."""
    if isinstance(axis_values, Mapping):
        return {"label": key, **axis_values}
    values = [value.item() if hasattr(value, "item") else value for value in axis_values]
    if key == "step":
        return {"label": key, "step": True, "values": values}
    if "->" in key:
        return {"label": key, "delay": [key], "values": values}
    component, _, name = key.partition(".")
    part = system.components.get(component)
    connector = None if part is None else part.connectors.get(name)
    unit = None if connector is None else connector.unit
    return {"label": key, "set": [key], "values": values, "unit": unit}


def _expect_importable(context: JobContext) -> None:
    """Expect that other processes find what they are to run."""
    try:
        pickle.dumps(context)
        is_interactive = getattr(sys.modules["__main__"], "__file__", None) is None
        inner = [
            n for n, f in context.functions.items() if is_interactive and f.__module__ == "__main__"
        ]
        if inner:
            raise DescriptionError(f"measure '{inner[0]}' is a function of a prompt or a notebook")
    except SoftdockError as error:
        raise DescriptionError(
            f"jobs: {error}; other processes cannot import it: expected 1 job"
        ) from None
    except (AttributeError, TypeError, pickle.PicklingError) as error:
        raise DescriptionError(
            f"jobs: other processes cannot import what they are to run: {error}; define it in a"
            " module, or give 1 job"
        ) from None
