"""Expectations of an experiment, held against its runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import DescriptionError, Problem
from orchestrator.study.expect.goal import Goal, expected_cases, goal_of, recorded_names
from orchestrator.study.expect.judge import SignalJudge, judge_measure
from orchestrator.study.expect.sweep_verdicts import sweep_verdicts
from orchestrator.study.expect.verdict import Verdict, case_section, sweep_section
from orchestrator.study.expect.verdict_files import FILES
from orchestrator.study.extension import Extension, Run, Steps
from orchestrator.study.measure.outcome import Measured, SweepOutcome

if TYPE_CHECKING:
    from orchestrator.core.master import Recording


class Expectations(Extension):
    """Holds cases and sweeps to what ``[expect.NAME]`` expects of them."""

    follows = ("verify", "sweep", "ledger")

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._goals: dict[str, list[Goal]] = {}

    def begin(self, run: Run) -> None:
        """Find out what they are about."""
        problems: list[Problem] = []
        for name, table in run.experiment.expect.items():
            for case in expected_cases(table, run.cases):
                prepared, goals = run.cases[case], self._goals.setdefault(case, [])
                known = recorded_names(prepared, run.experiment)
                for that in table.statements:
                    try:
                        goals.append(goal_of(name, table, that, prepared, known, run.reader.folder))
                    except DescriptionError as error:  # of a reference
                        problems += error.within(f"expectation '{name}', case '{case}'")
        if problems:
            raise DescriptionError(*problems)

    @contextmanager
    def around(self, run: Run, steps: Steps) -> Iterator[Steps]:
        """Watch the signals whose expectations stop a run."""
        goals = [goal for goal in self._goals.get(steps.case.name, ()) if goal.table.stop]
        if not goals:
            yield steps
            return
        judges = [SignalJudge(goal) for goal in goals]
        before = steps.watch

        def watch(rows: Recording) -> str:
            said = before(rows) if before is not None else ""
            for one in judges:
                one.add(rows)
                if one.broken_ns is not None and not said:
                    said = f"stopped, as was asked for: {one.verdict('')}"
            return said

        yield replace(steps, watch=watch)

    def end(self, run: Run) -> None:
        """Say which were kept, and write that down."""
        suites: dict[str, list[Verdict]] = {}
        for case, goals in self._goals.items():
            suites[case] = [self._verdict(run, case, goal) for goal in goals]
            run.add(case, case_section(case, suites[case]))
        for name, sweep in run.outcome.sweeps.items():
            found = sweep_verdicts(name, run.experiment, run.cases, _points(sweep))
            if found:
                run.add(sweep.case, sweep_section(name, found))
                suites[f"sweep {name}"] = [one for row in found.values() for one in row]
        for file, writer in FILES.items():
            run.write(file, partial(writer, run.outcome.title, suites))
        run.outcome.broken += [
            str(one) for verdicts in suites.values() for one in verdicts if not one.passed
        ]

    def _verdict(self, run: Run, case: str, goal: Goal) -> Verdict:
        outcome, where = run.outcome.cases[case], f"case '{case}'"
        if goal.is_measure:
            return judge_measure(goal, outcome.measured.get(goal.bound.name), where)
        judged = SignalJudge(goal)
        judged.add(outcome.result)
        return judged.verdict(where)


@dataclass(frozen=True, slots=True)
class _Point:
    """One run of a sweep of the short form."""

    case: str
    where: str
    measured: Mapping[str, Measured]
    reason: str = ""


def _points(sweep: SweepOutcome) -> list[_Point]:
    return [
        _Point(
            sweep.case,
            f"{sweep.case} at {sweep.over} = {value:.9g}",
            {key: row[number] for key, row in sweep.measured.items()},
        )
        for number, value in enumerate(sweep.values)
    ]
