"""What is wrong with expectations, before anything is run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import product

from orchestrator.core.diagnostics import DescriptionError, nearest
from orchestrator.study.expect.goal import expected_cases, goal_of
from orchestrator.study.file.expect_table import Expectation, statement_of
from orchestrator.study.file.experiment import Experiment
from orchestrator.study.prepare.prepared_case import PreparedCase


def wrong_expectations(
    experiment: Experiment,
    cases: Mapping[str, PreparedCase],
    recorded: Mapping[str, Collection[str]],
) -> Iterator[tuple[str, str]]:
    """Say which expectations no case can be held to, by their names."""
    for name, table in experiment.expect.items():
        for kind, given, known in (
            ("case", table.cases, experiment.case),
            ("sweep", table.sweeps, experiment.sweep),
        ):
            for one in given:
                if one not in known:
                    yield name, f"expectation '{name}': no {kind} '{one}'{nearest(one, known)}"
        for that in table.statements:
            for case, place in _places(table, that, experiment, cases):
                try:
                    goal_of(name, table, that, cases[case], recorded[case])
                except DescriptionError as error:
                    yield name, f"expectation '{name}', {place}: {error}"
        yield from _unswept(name, table, experiment)


def _places(
    table: Expectation, that: str, experiment: Experiment, cases: Mapping[str, PreparedCase]
) -> Iterator[tuple[str, str]]:
    """Name the cases that a statement is about, and where."""
    yield from ((case, f"case '{case}'") for case in expected_cases(table, cases))
    for one in table.sweeps:
        sweep = experiment.sweeps.get(one)
        measure = statement_of(that).name
        for case in sweep.cases if sweep is not None and measure in sweep.measures else ():
            if case in cases and measure in cases[case].case.measure:
                yield case, f"sweep '{one}'"


def _unswept(name: str, table: Expectation, experiment: Experiment) -> Iterator[tuple[str, str]]:
    """Say which measures are not read off the runs of a sweep."""
    for one, said in product(table.sweeps, table.statements):
        sweep, measure = experiment.sweeps.get(one), statement_of(said).name
        if sweep is not None and measure not in sweep.measures:
            hint = nearest(measure, sweep.measures)
            yield name, f"expectation '{name}': sweep '{one}' has no measure '{measure}'{hint}"
