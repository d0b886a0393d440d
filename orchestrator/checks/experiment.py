"""Experiment files: names, times and files of their cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from orchestrator.checks.context import IntendedRun
from orchestrator.core.coupling import DEFAULT_DELAY, DelayMode
from orchestrator.core.diagnostics import DescriptionError, Diagnostic, SoftdockError
from orchestrator.core.diagnostics.errors import Code, error
from orchestrator.core.system import System, nanoseconds
from orchestrator.core.system.time import step_length
from orchestrator.study import Experiment
from orchestrator.study.experiment import Case, RunOptions
from orchestrator.study.prepare.prepare import merged, prepare_with, with_emulators
from orchestrator.study.prepare.prepared_case import PreparedCase, SystemReader
from orchestrator.study.reader import unsound

CODES: tuple[Code, ...] = (
    error(
        "EXP101",
        "the experiment file has a wrong key or value",
        "A key is unknown or missing, a value is of the wrong type, or a case, sweep, measure or"
        " figure refers to a name that does not exist. See docs/reference/experiment.md.",
    ),
    error(
        "EXP102",
        "a case refers to something that its system does not have",
        "A signal of a measure, recorder or figure is not recorded; a swept parameter does not"
        " exist; an axis of a sweep matches no case or has a value that does not fit; a map leaves"
        " an axis open; a format is unknown; two outputs have the same file; or a fault cannot"
        " act.",
    ),
    error(
        "EXP103",
        "a case cannot be prepared",
        "A value, a swapped component, an option of a component or a delay does not fit the"
        " system.",
    ),
    error(
        "EXP104",
        "a time of a case cannot be read",
        'A step, start or stop is neither a number of seconds nor text such as `"5 ms"`.',
    ),
)


def prepared(
    experiment: Experiment, name: str, folder: Path
) -> tuple[System | None, list[Diagnostic]]:
    """Prepare a case; without a system the diagnostics say why, but not of which case."""
    try:
        case, _ = with_emulators(experiment, name)
        return prepare_with(name, case, SystemReader(folder), rig=experiment), []
    except DescriptionError as failure:
        return None, [diagnostic.inner for diagnostic in failure.diagnostics]
    except SoftdockError as failure:
        return None, list(failure.diagnostics)


def run_of(
    case: Case, defaults: RunOptions, system: System
) -> tuple[IntendedRun, list[Diagnostic]]:
    """Return how a case is to be run, and what of its times cannot be read."""
    options = merged(case, defaults)
    default = system.experiment
    settings = options.settings(system)
    diagnostics: list[Diagnostic] = []

    def time(value: str | float | None, default: int | None, quantity: str) -> int | None:
        if value is None:
            return default
        try:
            return (step_length if quantity == "communication step" else nanoseconds)(
                value, quantity
            )
        except DescriptionError as error:
            diagnostics.extend(error.diagnostics)
            return None

    return (
        IntendedRun(
            algorithm=settings.algorithm,
            options=settings.algorithm_options,
            rates=settings.rates,
            mode=DelayMode(options.delay or DEFAULT_DELAY),
            start_ns=time(options.start, default.start_ns, "start time") or 0,
            stop_ns=time(options.stop, default.stop_ns, "stop time"),
            step_ns=time(options.given_step, default.step_ns, "communication step"),
        ),
        diagnostics,
    )


def check(experiment: Experiment, systems: Mapping[str, System]) -> Iterator[Diagnostic]:
    """Check the names of an experiment against the systems of its cases that could be prepared."""
    cases = {}
    for name, system in systems.items():
        options = merged(experiment.case[name], experiment.defaults)
        # the system's own step where one is to be chosen
        options = options.model_copy(update={"step": options.given_step})
        cases[name] = PreparedCase(name, experiment.case[name], options, system)
    yield from unsound(experiment, cases)
