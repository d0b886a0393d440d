"""A linearised case for a command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.core.system import System
    from orchestrator.loops import LinearSystem


def case_options(
    target: Path,
    case: str | None,
    at: str | None,
    step: str | None,
    algorithm: str | None,
    delay: str | None,
) -> tuple[str, System, dict[str, Any]]:
    """Return the name of one case of a target, its system, and how it is linearised."""
    from orchestrator.cli.target import expect_case, experiment_of, systems_of, with_options
    from orchestrator.loops.run.chosen_step import chosen_step
    from orchestrator.study.file.experiment import AUTO, RunOptions
    from orchestrator.study.prepare.prepare import merged
    from orchestrator.study.prepare.prepared_case import PreparedCase

    experiment = experiment_of(target)[0]
    if case is not None:
        expect_case(target, experiment, case)
    name = case or next(iter(experiment.case))
    system = systems_of(target)[name]
    given = RunOptions(step=step, algorithm=algorithm, delay=delay)
    options = merged(with_options(experiment, given).case[name], experiment.defaults)
    if options.step == AUTO:
        prepared = PreparedCase(name, experiment.case[name], options, system)
        options = options.model_copy(update={"step": f"{chosen_step(prepared).step_ns} ns"})
    chosen = options.way | {"at": at}
    return name, system, chosen


def linear_case(
    target: Path,
    case: str | None,
    at: str | None,
    step: str | None,
    algorithm: str | None,
    delay: str | None,
) -> tuple[str, LinearSystem]:
    """Linearise one case of a target; return its name, and the linear system."""
    from orchestrator.loops import linear_system

    name, system, options = case_options(target, case, at, step, algorithm, delay)
    return name, linear_system(system, **options)
