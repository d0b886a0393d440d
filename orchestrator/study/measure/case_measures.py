"""Measures of a case, read off its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.recording import Result
from orchestrator.study.measure.outcome import ExperimentOutcome, Measured
from orchestrator.study.prepare.prepared_case import PreparedCase


def with_measures(
    case: PreparedCase,
    results: Mapping[str, Result],
    outcome: ExperimentOutcome,
    clock: str | None = None,
) -> tuple[Result, dict[str, Measured]]:
    """Read off what can be; what cannot is a problem of the outcome and a remark of the result.

    Of a rig that missed cycles it is a warning in the result, and no problem.
    """
    measured: dict[str, Measured] = {}
    failed = []
    name = case.name
    from orchestrator.study.measure.measures import evaluate
    from orchestrator.study.measure.missed_cycles import missed_count

    for key, measure in case.case.measure.items():
        if measure.is_difference and measure.to not in results:
            failed.append(f"measure '{key}' needs case '{measure.to}', which was not run")
            continue
        try:
            measured[key] = evaluate(measure, results[name], case.system, results)
        except DescriptionError as error:
            steps = missed_count(case, results[name], clock)
            why = f" (cycles were missed in {steps} steps)" if steps else ""
            failed.append(f"{'warning: ' * bool(steps)}measure '{key}': {error}{why}")
            if not steps:
                outcome.problems.append(f"case '{name}', measure '{key}': {error}")
    result = replace(results[name], notes=(*results[name].notes, *failed))
    return result, measured
