"""Expectations of an experiment held against its runs and sweeps, and verdicts as files."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from orchestrator.core.diagnostics import DescriptionError, Diagnostic, Problem, Severity
from orchestrator.core.diagnostics.errors import toml_key
from orchestrator.core.recording import whole_file
from orchestrator.core.structs import replace
from orchestrator.study.experiment import Experiment
from orchestrator.study.extension import Extension, Run, Steps
from orchestrator.study.goal import (
    Goal,
    expected_cases,
    goal_of,
    recorded_names,
    wrong_expectations,
)
from orchestrator.study.judge import (
    SignalJudge,
    Verdict,
    case_section,
    judge_measure,
    not_judged,
    sweep_section,
)
from orchestrator.study.measure.outcome import JUNIT, VERDICTS, SweepOutcome
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.tables import statement_of

if TYPE_CHECKING:
    from orchestrator.core.master import Recording
    from orchestrator.study.sweep import JobRecord


#: What XML 1.0 has no place for.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
Suites = Mapping[str, Sequence[Verdict]]


def write_junit(title: str, suites: Suites, path: Path) -> None:
    """Write verdicts as JUnit XML: a suite for each case or sweep, a test for each verdict."""
    root = ET.Element("testsuites", _suite(title, _all(suites)))
    for name, verdicts in suites.items():
        suite = ET.SubElement(root, "testsuite", _suite(name, verdicts))
        for verdict in verdicts:
            attributes = {
                "classname": verdict.where or name,
                "name": f"{verdict.name}: {verdict.that}",
            }
            test = ET.SubElement(
                suite, "testcase", {key: _plain(text) for key, text in attributes.items()}
            )
            if verdict.requirement:
                listed = ET.SubElement(test, "properties")
                requirement = {"name": "requirement", "value": _plain(verdict.requirement)}
                ET.SubElement(listed, "property", requirement)
            if verdict.passed is None:
                ET.SubElement(test, "skipped", message=_plain(verdict.found))
            elif not verdict.passed:
                message = f"expected {verdict.that}, found {verdict.found}"
                ET.SubElement(test, "failure", message=_plain(message)).text = _plain(str(verdict))
    ET.indent(root)
    with whole_file(path) as draft:
        ET.ElementTree(root).write(draft, encoding="utf-8", xml_declaration=True)


def write_json(title: str, suites: Suites, path: Path) -> None:
    """Write verdicts as JSON."""
    listed = {
        name: [verdict.as_json() for verdict in verdicts] for name, verdicts in suites.items()
    }
    passed = all(verdict.passed is not False for verdict in _all(suites))
    content = {"title": title, "passed": passed, "verdicts": listed}
    with whole_file(path) as draft:
        draft.write_text(
            json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8", newline="\n"
        )


#: The files by their names.
FILES = {JUNIT: write_junit, VERDICTS: write_json}


def _all(suites: Suites) -> list[Verdict]:
    return [verdict for verdicts in suites.values() for verdict in verdicts]


def _suite(name: str, verdicts: Sequence[Verdict]) -> dict[str, str]:
    failed = sum(verdict.passed is False for verdict in verdicts)
    skipped = sum(verdict.passed is None for verdict in verdicts)
    counts = {"tests": len(verdicts), "failures": failed, "errors": 0, "skipped": skipped}
    return {"name": _plain(name), **{key: str(count) for key, count in counts.items()}}


def _plain(text: str) -> str:
    return _NO_XML.sub("?", text)


def sweep_verdicts(
    name: str,
    experiment: Experiment,
    cases: Mapping[str, PreparedCase],
    runs: Collection[JobRecord],
) -> dict[str, list[Verdict]]:
    """Return verdicts on the runs of a sweep, by run."""
    verdicts: dict[str, list[Verdict]] = {}
    for key, table in experiment.expect.items():
        if name not in table.sweeps:
            continue
        for that, run in product(table.statements, runs):
            case = cases[run.case]
            if statement_of(that).name not in case.case.measure:
                continue  # another case of the sweep has it
            goal = goal_of(key, table, that, case, recorded_names(case, experiment))
            verdict = judge_measure(goal, run.measured.get(goal.bound.name), run.label, run.reason)
            verdicts.setdefault(run.label, []).append(verdict)
    return verdicts


def write_sweep_verdicts(
    name: str, verdicts: Mapping[str, list[Verdict]], folder: Path
) -> list[Path]:
    """Write the table of verdicts on a sweep as CSV, and all of them as JUnit XML and JSON."""
    table = folder / f"{name}.verdicts.csv"
    columns = list(dict.fromkeys(verdict.that for row in verdicts.values() for verdict in row))
    with whole_file(table) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["run", *columns])
        for run, row in verdicts.items():
            words = {verdict.that: verdict.word for verdict in row}
            writer.writerow([run, *(words.get(column, "") for column in columns)])
    paths = {folder / f"{name}.{file}": write for file, write in FILES.items()}
    for path, write in paths.items():
        write(f"sweep {name}", verdicts, path)
    return [table, *paths]


class Expectations(Extension):
    """Holds cases and sweeps to what ``[expect.NAME]`` expects of them."""

    follows = ("verify", "sweep", "ledger")

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._goals: dict[str, list[Goal]] = {}

    def check(
        self,
        experiment: Experiment,
        cases: Mapping[str, PreparedCase],
        recorded: Mapping[str, Collection[str]],
    ) -> Iterator[Diagnostic]:
        """Yield the expectations that no case can be held to."""
        for name, text in wrong_expectations(experiment, cases, recorded):
            yield Diagnostic("", Severity.ERROR, text, key=toml_key(name))

    def begin(self, run: Run) -> None:
        """Find out what they are about."""
        problems: list[Problem] = []
        for name, table in run.experiment.expect.items():
            for case in expected_cases(table, run.cases):
                prepared, goals = run.cases[case], self._goals.setdefault(case, [])
                recorded = recorded_names(prepared, run.experiment)
                for that in table.statements:
                    try:
                        goals.append(
                            goal_of(name, table, that, prepared, recorded, run.reader.folder)
                        )
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
            reason = before(rows) if before is not None else ""
            for judge_of_goal in judges:
                judge_of_goal.add(rows)
                if judge_of_goal.broken_ns is not None and not reason:
                    reason = f"stopped as requested: {judge_of_goal.verdict('')}"
            return reason

        yield replace(steps, watch=watch)

    def end(self, run: Run) -> None:
        """Say which were kept, and write that down."""
        suites: dict[str, list[Verdict]] = {}
        for case, goals in self._goals.items():
            if case not in run.cases:
                continue  # a run before it was stopped
            suites[case] = [self._verdict(run, case, goal) for goal in goals]
            run.add(case, case_section(case, suites[case]))
        for name, sweep in run.outcome.sweeps.items():
            verdicts_of_rows = sweep_verdicts(name, run.experiment, run.cases, _points(sweep))
            if verdicts_of_rows:
                run.add(sweep.case, sweep_section(name, verdicts_of_rows))
                suites[f"sweep {name}"] = [
                    verdict for row in verdicts_of_rows.values() for verdict in row
                ]
        for file, writer in FILES.items():
            run.write(file, partial(writer, run.outcome.title, suites))
        run.outcome.broken += [
            str(verdict)
            for verdicts in suites.values()
            for verdict in verdicts
            if verdict.passed is False
        ]

    def _verdict(self, run: Run, case: str, goal: Goal) -> Verdict:
        outcome, location = run.outcome.cases[case], f"case '{case}'"
        if stopped := run.outcome.stopped.get(case):
            return not_judged(goal, location, stopped.text)
        if goal.is_measure and (missing := missing_case(run.cases[case], goal, run.cases)):
            return not_judged(goal, location, f"it needs case '{missing}', which was not run")
        if goal.is_measure:
            return judge_measure(goal, outcome.measured.get(goal.bound.name), location)
        judged = SignalJudge(goal)
        judged.add(outcome.result)
        return judged.verdict(location)


def missing_case(case: PreparedCase, goal: Goal, cases: Collection[str]) -> str:
    """Return the case that a measure compares with, if that is not run; else nothing."""
    measure = case.case.measure[goal.bound.name]
    other_case = measure.to if measure.is_difference else None
    return other_case if other_case is not None and other_case not in cases else ""


def _points(sweep: SweepOutcome) -> list[JobRecord]:
    """Return the runs of a sweep of the short form."""
    from orchestrator.study.sweep import JobRecord

    return [
        JobRecord(
            "",
            sweep.case,
            {sweep.over: f"{value:.9g}"},
            None,
            "done",
            measured={key: row[number] for key, row in sweep.measured.items()},
        )
        for number, value in enumerate(sweep.values)
    ]
