"""Runs of the cases of an experiment, and what each leaves."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from orchestrator.core.diagnostics import NeverEngagedError
from orchestrator.core.recording import Journal, Result
from orchestrator.study.extension import Extension, Run, Steps, before, behind, entered
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.prepare.simulate import FailedRunError, InterruptedRun, RunHooks
from orchestrator.study.run.case_run import run_case
from orchestrator.study.run.recorders import (
    View,
    journal_of,
    replaced_by,
    views,
    write_partial,
    write_views,
)


def run_cases(run: Run, extensions: Sequence[Extension]) -> dict[str, Result]:
    """Run cases; what they record is seen at once under names that say that more is to come."""
    return {name: _finished(run, extensions, case) for name, case in run.cases.items()}


def _finished(run: Run, extensions: Sequence[Extension], case: PreparedCase) -> Result:
    for one in extensions:
        case = before(one, partial(one.prepare, run, case))
    files = views(case)
    run.draft.replaced |= replaced_by(case.name, files)
    journal = journal_of(case, run.output)
    result = _recorded(run, extensions, case, files, journal)
    run.outcome.files += write_views(result, files, run.draft.folder, run.output)
    journal.remove()
    return result


def _recorded(
    run: Run,
    extensions: Sequence[Extension],
    case: PreparedCase,
    files: Sequence[View],
    journal: Journal,
) -> Result:
    """Run a case; if that ends early, leave what it has recorded."""
    pace = run.realtime
    if pace is not None:
        from orchestrator.study.run.pace import is_paced

        pace = pace if is_paced(case, pace) else None
    try:
        with ExitStack() as stack:
            steps = Steps(case)
            for one in extensions:
                steps = stack.enter_context(entered(run, one, steps))
            hooks = RunHooks(
                partial(run.tell, case.name),
                journal,
                steps.begin,
                steps.end,
                steps.watch,
                steps.share,
                steps.steer,
                None if run.look is None else partial(run.look, case.name, steps.about),
            )
            result = run_case(steps.case, hooks, realtime=pace)
    except (FailedRunError, InterruptedRun, NeverEngagedError) as failure:
        left = failure.__cause__ if isinstance(failure, NeverEngagedError) else failure
        if isinstance(left, FailedRunError | InterruptedRun):
            write_partial(left.result, files, run.output)
            journal.remove()
        raise
    notes = (*run.notes[case.name], *result.notes, *run.remarks[case.name])
    result = replace(result, notes=notes)
    try:
        for one in extensions:
            result = behind(run, one, partial(one.after, run, case, result), result, ends=())
    except KeyboardInterrupt:
        write_partial(result, files, run.output)  # the run itself had come to its end
        journal.remove()
        raise
    return result
