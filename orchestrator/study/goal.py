"""An expectation of one case, in the units of what it is about, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import (
    DescriptionError,
    UnitMismatchError,
    UnknownNameError,
    choices_for,
)
from orchestrator.core.structs import Struct
from orchestrator.core.system import conversion, nanoseconds, signal_of
from orchestrator.study.experiment import Experiment, Measure
from orchestrator.study.prepare.inputs import SignalFile, read_signal
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.run.case_runs import signal_names
from orchestrator.study.run.ledger import ledger_series
from orchestrator.study.tables import Expectation, Quantity, Statement, statement_of

Floats = NDArray[np.float64]
#: Gives the unit of a name; empty where none is declared.
UnitOf = Callable[[str], str]
#: Keys that are about rows, of which a measure has none.
_OF_SIGNALS = ("begin", "until", "after", "settles", "reference", "stop")


class Bound(Struct):
    """A statement whose numbers are in the unit of what it is about.

    ``value`` is what is not to be reached, or how far from ``centre`` it may be.
    """

    name: str
    relation: str
    value: float
    centre: float
    unit: str

    def holds(self, values: Floats, centre: Floats | float) -> NDArray[np.bool_]:
        """Say where it does; nowhere where values are no number."""
        if self.relation == "within":
            return np.asarray(np.abs(values - centre) <= self.value)
        compare = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
        return np.asarray(compare[self.relation](values, self.value))

    def excess(self, values: Floats, centre: Floats | float) -> Floats:
        """Return by how much it is broken, below 0 where it is not."""
        if self.relation == "within":
            return np.asarray(np.abs(values - centre) - self.value)
        return np.asarray((values - self.value) * (1.0 if "<" in self.relation else -1.0))


def bound_of(statement: Statement, unit_of: UnitOf) -> Bound:
    """Convert a statement to the unit of its name."""
    unit = unit_of(statement.name)

    def converted(quantity: Quantity, role: str) -> tuple[float, float]:
        has_unit = unit not in {"", "1"}
        if has_unit and quantity.unit is None:
            raise DescriptionError(f"expected a unit after {quantity.value:g}, such as '{unit}'")
        if not has_unit and quantity.unit not in {None, "1"}:
            raise DescriptionError(
                f"{role} {quantity.value:g} {quantity.unit}: '{statement.name}' has no unit"
            )
        try:
            return conversion(quantity.unit, unit) if has_unit else (1.0, 0.0)
        except UnitMismatchError as error:
            raise DescriptionError(f"'{statement.name}' is in {unit}: {error}") from None

    factor, offset = converted(statement.bound, "bound")
    centre = statement.centre
    if statement.relation == "within":
        offset = 0.0  # a distance
    if centre is None:
        return Bound(
            statement.name, statement.relation, factor * statement.bound.value + offset, 0.0, unit
        )
    to_unit, zero = converted(centre, "value")
    at = to_unit * centre.value + zero
    return Bound(statement.name, statement.relation, factor * statement.bound.value, at, unit)


class Goal(Struct):
    """What is expected of one case, or of each run of a sweep.

    name, table: Of the expectation.
    that: One of its statements.
    bound: What is to hold.
    after: What begins the window.
    reference: What ``bound`` is the distance to, in its unit.
    begin_ns, until_ns, settles_ns: The window.
    is_measure: Whether it is about a measure.
    """

    name: str
    table: Expectation
    that: str
    bound: Bound
    after: Bound | None = None
    reference: SignalFile | None = None
    begin_ns: int | None = None
    until_ns: int | None = None
    settles_ns: int = 0
    is_measure: bool = False


def signal_goal(
    name: str, table: Expectation, that: str, unit_of: UnitOf, folder: Path | None
) -> Goal:
    """Return what is expected of a signal."""

    def time_ns(key: str, time: str | float | None) -> int | None:
        return None if time is None else nanoseconds(time, key)

    bound, reference = bound_of(statement_of(that), unit_of), None
    if table.reference is not None and folder is not None:
        reference = read_signal(folder / table.reference, bound.name)
        if reference.unit is not None:
            factor, offset = conversion(reference.unit, bound.unit or None)
            values = factor * reference.values + offset
            reference = SignalFile(reference.times_ns, values, bound.unit)
    return Goal(
        name,
        table,
        that,
        bound,
        bound_of(statement_of(table.after), unit_of) if table.after else None,
        reference,
        time_ns("from", table.begin),
        time_ns("until", table.until),
        time_ns("settles", table.settles) or 0,
    )


def goal_of(
    name: str,
    table: Expectation,
    that: str,
    case: PreparedCase,
    recorded: Collection[str],
    folder: Path | None = None,
) -> Goal:
    """Return what a statement of an expectation expects of a case."""
    statement, measures = statement_of(that), case.case.measure

    def unit_of(signal: str) -> str:
        if signal not in recorded:
            choices = choices_for(signal, recorded, "recorded signal")
            raise UnknownNameError(f"no recorded signal '{signal}'{choices}")
        if signal.partition(".")[0] in case.system.components:
            return signal_of(case.system, signal).connector.unit or ""
        if table.stop:
            raise DescriptionError(
                f"'{signal}' is known only after the run, and 'stop' would end it"
            )
        return "J"  # of an energy ledger

    if statement.name not in measures:
        if statement.name not in recorded:
            names = [*measures, *recorded]
            raise UnknownNameError(
                f"no measure and no recorded signal '{statement.name}'"
                f"{choices_for(statement.name, names, 'measure or signal')}"
            )
        return signal_goal(name, table, that, unit_of, folder)
    signal_keys = [key for key in _OF_SIGNALS if getattr(table, key)]
    if signal_keys:
        keys = ", ".join("from" if key == "begin" else key for key in signal_keys)
        raise DescriptionError(
            f"'{statement.name}' is a measure, and {keys}: only signals have rows"
        )
    measure = measures[statement.name]
    bound = bound_of(statement, lambda _name: _unit_of_measure(measure, unit_of))
    return Goal(name, table, that, bound, is_measure=True)


def _unit_of_measure(measure: Measure, unit_of: UnitOf) -> str:
    """Return the unit that a measure is going to have."""
    if measure.kind == "growth":
        return "1/s"
    if measure.kind == "settling":
        return "s"
    if measure.target is not None or measure.percent_of is not None:
        return "%"
    if measure.changes_unit:
        return measure.unit or ""
    return unit_of(measure.signal) if measure.angle is None else "deg"


def recorded_names(case: PreparedCase, experiment: Experiment) -> list[str]:
    """Return the signals that the result of a case has, with those of its ledger."""
    return signal_names(case.system, case.options.record) + ledger_series(case, experiment)


def expected_cases(table: Expectation, cases: Collection[str]) -> list[str]:
    """Return those of some cases that an expectation is about."""
    if table.cases or table.sweeps:
        return [name for name in table.cases if name in cases]
    return list(cases)


def wrong_expectations(
    experiment: Experiment,
    cases: Mapping[str, PreparedCase],
    recorded: Mapping[str, Collection[str]],
) -> Iterator[tuple[str, str]]:
    """Say which expectations no case can be held to, by their names."""
    for name, table in experiment.expect.items():
        for kind, names, defined in (
            ("case", table.cases, experiment.case),
            ("sweep", table.sweeps, experiment.sweep),
        ):
            for name_given in names:
                if name_given not in defined:
                    choices = choices_for(name_given, defined, kind)
                    yield name, f"expectation '{name}': no {kind} '{name_given}'{choices}"
        for that in table.statements:
            for case, context in _contexts(table, that, experiment, cases):
                try:
                    goal_of(name, table, that, cases[case], recorded[case])
                except DescriptionError as error:
                    yield name, f"expectation '{name}', {context}: {error}"
        for name_given, that in product(table.sweeps, table.statements):
            sweep, measure = experiment.sweeps.get(name_given), statement_of(that).name
            if sweep is not None and measure not in sweep.measures:
                hint = choices_for(measure, sweep.measures, "measure", "its")
                yield (
                    name,
                    f"expectation '{name}': sweep '{name_given}' has no measure '{measure}'{hint}",
                )


def _contexts(
    table: Expectation, that: str, experiment: Experiment, cases: Mapping[str, PreparedCase]
) -> Iterator[tuple[str, str]]:
    """Name the cases that a statement is about, and where."""
    yield from ((case, f"case '{case}'") for case in expected_cases(table, cases))
    for sweep_name in table.sweeps:
        sweep = experiment.sweeps.get(sweep_name)
        measure = statement_of(that).name
        for case in sweep.cases if sweep is not None and measure in sweep.measures else ():
            if case in cases and measure in cases[case].case.measure:
                yield case, f"sweep '{sweep_name}'"
