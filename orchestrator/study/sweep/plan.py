"""From a sweep to its jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Protocol

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.study.file.experiment import Experiment, Measure
from orchestrator.study.file.sweep_table import Sweep
from orchestrator.study.prepare.design import placed, points, seeds_of
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.sweep.fingerprint import Fingerprints
from orchestrator.study.sweep.job import Job, JobContext


@dataclass(frozen=True, slots=True)
class Plan:
    """The jobs of a sweep, in the order of its table; one may stand for several rows."""

    context: JobContext
    jobs: tuple[Job, ...]

    @property
    def distinct(self) -> list[Job]:
        """Each run once: a case that an axis or a seed does not reach is not run again."""
        return list({job.key: job for job in self.jobs}.values())


def cases_needed(sweep: Sweep, experiment: Experiment) -> list[str]:
    """Names of the cases of a sweep, and of those that its measures compare with."""
    measures = [
        experiment.case[name].measure[key]
        for name in sweep.cases
        for key in sweep.measures
        if key in experiment.case[name].measure
    ]
    compared = [measure.to for measure in measures if measure.to is not None]
    return list(dict.fromkeys((*sweep.cases, *compared)))


class RunKeys(Protocol):
    """Says which runs and rows are equal."""

    def run(self, case: PreparedCase) -> str:
        """Return a key of all that determines a run."""
        ...

    def row(self, runs: dict[str, str], measures: dict[str, Measure]) -> str:
        """Return a key of a run with the runs that it is compared with, and what is read off."""
        ...


class EachItsOwn:
    """Takes no run for equal to another: for sweeps of which nothing is kept."""

    def __init__(self) -> None:
        self._numbers = count()

    def run(self, case: PreparedCase) -> str:
        """Return the name of the case and a number."""
        return f"{case.name} {next(self._numbers)}"

    def row(self, runs: dict[str, str], measures: dict[str, Measure]) -> str:
        """Return the keys of the runs."""
        del measures
        return " ".join(runs.values())


def plan_of(
    name: str,
    sweep: Sweep,
    experiment: Experiment,
    prepared: Mapping[str, PreparedCase],
    keys: RunKeys | None = None,
) -> Plan:
    """Make all jobs of a sweep."""
    context = context_of(name, sweep, experiment, prepared)
    prints = Fingerprints() if keys is None else keys
    jobs: list[Job] = []
    problems: dict[str, None] = {}
    for point in points(sweep):
        for seed in seeds_of(sweep):
            runs: dict[str, str] = {}
            for case, variant in context.cases.items():
                try:
                    runs[case] = prints.run(placed(sweep, point, seed, variant))
                except DescriptionError as error:
                    problems |= {f"sweep '{name}': {text}": None for text in error.problems}
            if not problems:
                for case in sweep.cases:
                    mine = {key: runs[key] for key in (case, *context.others(case))}
                    key = prints.row(mine, dict(context.measures[case]))
                    jobs.append(Job(key, case, point, seed, mine))
        if len(problems) > 20:
            break
    if problems:
        raise DescriptionError(*problems)
    return Plan(context, tuple(jobs))


def context_of(
    name: str, sweep: Sweep, experiment: Experiment, prepared: Mapping[str, PreparedCase]
) -> JobContext:
    """Return what the workers need to know."""
    cases = {key: experiment.case[key] for key in cases_needed(sweep, experiment)}
    return JobContext(
        name=name,
        sweep=sweep,
        cases={key: prepared[key] for key in cases},
        measures={
            key: {m: cases[key].measure[m] for m in sweep.measures if m in cases[key].measure}
            for key in sweep.cases
        },
    )
