"""Reading of an experiment file, and all that can be wrong with one before anything is run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import (
    DescriptionError,
    Diagnostic,
    LoadError,
    Problem,
    Severity,
    choices_for,
    nearest_name,
)
from orchestrator.core.diagnostics.errors import parts_of, toml_key
from orchestrator.core.diagnostics.reading import reads
from orchestrator.core.diagnostics.validation import valid
from orchestrator.core.files.plain_data import toml_file
from orchestrator.core.master import validate_plan
from orchestrator.core.simunits import expect_flawless
from orchestrator.core.system import horizon, nanoseconds
from orchestrator.study.content import Angle, Section
from orchestrator.study.experiment import Experiment, Measure
from orchestrator.study.measure.measures import names_of, target_value
from orchestrator.study.prepare.inputs import uncovered
from orchestrator.study.prepare.prepare import prepare_all, with_chosen_steps, wrong_derived
from orchestrator.study.prepare.prepared_case import (
    PreparedCase,
    RunSettings,
    SystemReader,
    expect_components,
    requested_cases,
    with_processes,
    with_tuning,
    wrong_faults,
)
from orchestrator.study.run.case_runs import expect_room, flush_seconds, signal_names, views
from orchestrator.study.run.ledger import ledger_series, swept_ledgers, wrong_ledgers

if TYPE_CHECKING:
    from orchestrator.study.figure_tables import CurveTable


#: Of what is wrong with an experiment file by itself.
CODE = "EXP101"

_LOGGER = logging.getLogger(__name__)


@reads("expected an experiment")
def read_experiment(path: str | Path) -> Experiment:
    """Read and check an experiment file.

    Raises
    ------
    LoadError
        If the file, or a scene that it names, is missing or is no TOML.
    DescriptionError
        If keys are unknown or missing, values have a wrong type, or names that refer to each
        other do not exist; all together.
    """
    path = Path(path)
    content = toml_file(path, "no such experiment file")
    if not {"title", "case"} & content.keys():
        raise LoadError.in_file(
            path,
            "expected an experiment, which has 'title' and a table [case.NAME], or a"
            " system file, which has a table [system]",
        )
    experiment = valid(Experiment, content, path, CODE, context={"folder": path.parent})
    if experiment.extension:
        from orchestrator.study.extension import with_own_tables

        experiment = with_own_tables(experiment, path)
    problems = _dangling(experiment)
    for name, table in experiment.animation.items():
        problems += (
            Diagnostic(CODE, Severity.ERROR, f"'{key}': {text}", key=key)
            for key, text in table.loose_ends(name)
        )
    if problems:
        raise DescriptionError(*problems).of_file(path)
    return experiment


def _dangling(experiment: Experiment) -> list[Diagnostic]:
    """Find names of cases, sweeps and measures that do not exist."""
    every = experiment.case
    references: list[Reference] = [
        (f"case.{name}.measure.{key}.to", "case", measure.to or "", every)
        for name, case in every.items()
        for key, measure in case.measure.items()
        if measure.is_difference
    ]
    for name, ledger in experiment.ledger.items():
        references += ((f"ledger.{name}.cases", "case", case, every) for case in ledger.cases)
    if experiment.sweep:
        from orchestrator.study.prepare.sweep_check import named_by_sweeps

        references += named_by_sweeps(experiment)
    references += _named_by_figures(experiment)
    if experiment.has_maps:
        from orchestrator.study.prepare.sweep_check import named_by_maps

        references += named_by_maps(experiment)
    return [
        Diagnostic(
            CODE,
            Severity.ERROR,
            f"'{location}': no {noun} '{name}'{choices_for(name, names, noun)}",
            key=location,
            hint=nearest_name(name, names),
        )
        for location, noun, name, names in references
        if name not in names
    ]


#: Where a name is used, the noun for what it names, the name, and the names that exist.
Reference = tuple[str, str, str, Collection[str]]
Named = Iterator[Reference]


def _named_by_figures(experiment: Experiment) -> Named:
    listed = experiment.listed_sweeps
    for name, figure in experiment.figure.items():
        location = f"figure.{name}"
        if figure.kind == "time":
            for panel in figure.panels:
                for curve in panel.curves:
                    yield from ((location, "case", case, experiment.case) for case in curve.cases)
        elif figure.kind == "phase":
            yield from ((location, "case", curve.case, experiment.case) for curve in figure.curves)
        elif figure.kind == "sweep":
            for line in figure.curves:
                yield location, "sweep", line.sweep, listed
                if line.sweep in listed:
                    yield location, "measure", line.measure, listed[line.sweep].measures
    for name, animation in experiment.animation.items():
        location = f"animation.{name}"
        needed = sorted(animation.needed())
        yield from ((location, "case", case, experiment.case) for case in needed)


#: Of what a case names and its system does not have.
CHECK_CODE = "EXP102"


def prepared_cases(
    experiment: Experiment, reader: SystemReader, settings: RunSettings
) -> tuple[Experiment, dict[str, PreparedCase], dict[str, Section]]:
    """Prepare and check cases, and expect that the run's settings fit some of them.

    Choose steps where requested; remarks of the case give step and reason.
    """
    names = requested_cases(experiment, settings.only)
    cases = prepare_all(experiment, names, reader, settings)
    systems = {name: case.system for name, case in cases.items()}
    expect_components(settings, systems)
    if settings.strict:
        expect_flawless(*systems.values())
    experiment, cases, choices = with_chosen_steps(experiment, cases)
    cases = {
        name: replace(case, system=with_processes(case.system, settings.isolated))
        for name, case in cases.items()
    }
    cases = with_tuning(experiment, cases, settings)
    expect_sound(experiment, cases)
    return experiment, cases, choices


def expect_sound(experiment: Experiment, cases: Mapping[str, PreparedCase]) -> None:
    """Raise all problems of the cases that are to run, together."""
    problems = [problem for case in cases.values() for problem in _options(case)]
    problems += unsound(experiment, cases)
    if problems:
        raise DescriptionError(*problems)


def unsound(experiment: Experiment, cases: Mapping[str, PreparedCase]) -> list[Diagnostic]:
    """List what is wrong with signals, files, sweeps and figures; parameters as above."""
    diagnostics: list[Diagnostic] = []
    recorded: dict[str, list[str]] = {}
    recorded_of_case: dict[str, list[str]] = {}  # with what a ledger adds
    for name, case in cases.items():
        try:
            recorded[name] = signal_names(case.system, case.options.record)
        except DescriptionError:  # reported with the files
            recorded[name] = signal_names(case.system, None)
        recorded_of_case[name] = recorded[name] + ledger_series(case, experiment)
    for name, case in cases.items():
        here = "case", name
        diagnostics += _at(here, _files(case, experiment))
        diagnostics += _at(here, (*wrong_faults(case), *uncovered(case)), f"case '{name}'")
        diagnostics += _at(("ledger",), wrong_ledgers(case, experiment))
        for key, measure in case.case.measure.items():
            location = f"case '{name}', measure '{key}'"
            at = *here, "measure", key
            diagnostics += _at(at, _measure(location, measure, case, recorded_of_case))
    if experiment.sweep:
        diagnostics += _sweeps(experiment, cases)
    if experiment.figure:
        diagnostics += _figures(experiment, cases, recorded_of_case)
    from orchestrator.study.run.extension_calls import table_problems

    for table, problems in table_problems(experiment, cases, recorded_of_case):
        diagnostics += _at(table, problems)
    systems = {name: case.system for name, case in cases.items()}
    diagnostics += _at(("derived",), wrong_derived(experiment.derived, systems))
    return diagnostics


def _sweeps(experiment: Experiment, cases: Mapping[str, PreparedCase]) -> Iterator[Diagnostic]:
    from orchestrator.study.figure_tables import ListedSweep
    from orchestrator.study.prepare.sweep_check import wrong_listed, wrong_sweep

    for name, sweep in experiment.sweep.items():
        if not isinstance(sweep, ListedSweep):
            yield from _at(("sweep", name), wrong_sweep(name, sweep, experiment, cases))
        elif sweep.case in cases:
            yield from _at(("sweep", name), wrong_listed(name, sweep, cases[sweep.case]))
    yield from _at((), swept_ledgers(experiment))


def _at(key: Sequence[str], problems: Iterable[Problem], context: str = "") -> Iterator[Diagnostic]:
    """Say under which table of the file it stands; what has a key stands below that."""
    for problem in problems:
        diagnostic = problem if isinstance(problem, Diagnostic) else None
        base = diagnostic or Diagnostic(CHECK_CODE, Severity.ERROR, str(problem))
        inner = parts_of(base.key) if base.key else ()
        located = replace(base, code=CHECK_CODE, key=toml_key(*key, *inner))
        yield located.within(context) if context else located


def _figures(
    experiment: Experiment, cases: Mapping[str, PreparedCase], recorded: Mapping[str, list[str]]
) -> Iterator[Diagnostic]:
    for name, figure in experiment.figure.items():
        if figure.kind == "time":
            for curve in (curve for panel in figure.panels for curve in panel.curves):
                if curve.cases <= recorded.keys():
                    location, at = f"figure '{name}'", ("figure", name)
                    problems = _unknown_signals(
                        location, curve.signal, recorded[curve.case], curve.angle
                    )
                    yield from _at(at, problems)
                    yield from _at(at, _minus(location, curve, cases, recorded))
        elif figure.kind == "phase":
            for path in figure.curves:
                for signal in (path.x, path.y) if path.case in recorded else ():
                    problems = _unknown_signals(
                        f"figure '{name}'", signal, recorded[path.case], None
                    )
                    yield from _at(("figure", name), problems)
    if experiment.has_maps:
        from orchestrator.study.prepare.sweep_check import wrong_maps

        yield from _at(("figure",), wrong_maps(experiment))


def _minus(
    location: str,
    curve: CurveTable,
    cases: Mapping[str, PreparedCase],
    recorded: Mapping[str, list[str]],
) -> Iterator[str]:
    """Say what is wrong with the signal that a curve takes off."""
    if curve.minus is None:
        return
    yield from _unknown_signals(
        location, curve.minus.signal, recorded[curve.minus.case], curve.angle
    )
    try:
        first, second = (
            (_horizon(cases[name]), cases[name].options.every or 1)
            for name in (curve.case, curve.minus.case)
        )
    except DescriptionError:  # reported with the options
        return
    if first != second:
        yield (
            f"{location}: curve '{curve.label}': expected the same start, step, every and stop of"
            f" cases '{curve.case}' and '{curve.minus.case}', whose signals are subtracted"
        )


def _horizon(case: PreparedCase) -> tuple[int, int, int]:
    """Start, stop and step in nanoseconds."""
    return horizon(case.system, case.options.start, case.options.stop, case.options.step)


def _files(case: PreparedCase, experiment: Experiment) -> Iterator[Problem]:
    """Formats, recorders and the journal of a case."""
    name = case.name
    yield from (
        f"case '{name}', recorder '{key}': its files are those of the case '{name}.{key}'"
        for key in case.case.recorder
        if f"{name}.{key}" in experiment.case
    )
    try:
        flush_seconds(case)
        files = views(case)
    except DescriptionError as error:
        yield from error.diagnostics
        return
    try:
        start_ns, stop_ns, step_ns = _horizon(case)
    except DescriptionError:  # reported with the options
        return
    if start_ns < 0 and any("mcap" in view.formats for view in files):
        yield f"case '{name}': MCAP has no time before 0: choose another format, or a start >= 0 s"
    for view in files:
        yield from expect_room(view, (stop_ns - start_ns) // step_ns, case.options.every or 1)


def _unknown_signals(
    location: str, signal: str, recorded: list[str], angle: Angle
) -> Iterator[str]:
    for name in names_of(signal, angle):
        if name not in recorded:
            choices = choices_for(name, recorded, "recorded output")
            yield f"{location}: no recorded output '{name}'{choices}"


def _options(case: PreparedCase) -> Iterator[Diagnostic]:
    settings = case.options.settings(case.system)
    plan = case.system, settings.algorithm, settings.algorithm_options, settings.rates
    for check in (partial(validate_plan, *plan), partial(_horizon, case)):
        try:
            check()
        except DescriptionError as error:
            yield from error.within(f"case '{case.name}'")


def _refused(check: Callable[[], object]) -> Iterator[str]:
    try:
        check()
    except DescriptionError as error:
        yield str(error)


def _measure(
    location: str, measure: Measure, case: PreparedCase, recorded_by_case: dict[str, list[str]]
) -> Iterator[str]:
    recorded, system, predict = recorded_by_case[case.name], case.system, measure.predict
    yield from _unknown_signals(location, measure.signal, recorded, measure.angle)
    if isinstance(measure.target, str) and measure.target not in recorded:
        problems = _refused(partial(target_value, measure.target, system))
        yield from (f"{location}, target: {text}" for text in problems)
    for key, time in (("from", measure.begin), ("until", measure.until)):
        if time is not None:
            yield from _refused(partial(nanoseconds, time, f"{location}, {key}"))
    if predict is not None:
        yield from (f"{location}, predict.{text}" for text in predict.problems(system))
    if measure.is_difference and measure.to in recorded_by_case:
        signal = measure.to_signal or measure.signal
        yield from _unknown_signals(location, signal, recorded_by_case[measure.to], measure.angle)
