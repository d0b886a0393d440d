"""Checks of an experiment against its systems, before anything is run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orchestrator.campaign.animations import wrong_animations
from orchestrator.campaign.campaign_check import wrong_campaign
from orchestrator.campaign.experiment import (
    Axis,
    Case,
    ContactLoopSpec,
    Curve,
    Experiment,
    Measure,
    RunOptions,
    Sweep,
    TimeFigure,
)
from orchestrator.campaign.faults import wrong_faults
from orchestrator.campaign.ledgers import ledger_series, swept_ledgers, wrong_ledgers
from orchestrator.campaign.map_check import wrong_maps
from orchestrator.campaign.observed import target_value
from orchestrator.campaign.playback import uncovered
from orchestrator.campaign.prepare import merged
from orchestrator.campaign.recorders import expect_room, flush_seconds, signal_names, views
from orchestrator.campaign.sampled_prediction import SampledLoopSpec
from orchestrator.campaign.signals import names_of
from orchestrator.campaign.simulate import horizon
from orchestrator.campaign.sweeping import wrong_values
from orchestrator.errors import DescriptionError
from orchestrator.master import Chosen, planned
from orchestrator.system import System, nanoseconds


def expect_sound(experiment: Experiment, systems: Mapping[str, System]) -> None:
    """Raise all problems of the cases that are to run, together.

    Parameters
    ----------
    experiment
        As read.
    systems
        Prepared systems by case name; cases that are not among them are left out.

    Raises
    ------
    DescriptionError
        If a signal, parameter or algorithm does not exist, or a time is none.
    """
    problems = [
        text
        for name, system in systems.items()
        for text in _options(f"case '{name}'", experiment.case[name], experiment, system)
    ]
    problems += unsound(experiment, systems)
    if problems:
        raise DescriptionError(*problems)


def unsound(experiment: Experiment, systems: Mapping[str, System]) -> list[str]:
    """List what is wrong with signals, files, sweeps and figures; parameters as above."""
    problems: list[str] = []
    recorded: dict[str, list[str]] = {}
    shown: dict[str, list[str]] = {}  # with what a ledger adds
    for name, system in systems.items():
        options = merged(experiment.case[name], experiment.defaults)
        try:
            recorded[name] = signal_names(system, options.record)
        except DescriptionError:  # reported with the files
            recorded[name] = signal_names(system, None)
        shown[name] = recorded[name] + ledger_series(name, experiment, options, system)
    for name, system in systems.items():
        case = experiment.case[name]
        problems += _files(name, experiment, system)
        options = merged(case, experiment.defaults)
        wrong = *wrong_faults(case, options, system), *uncovered(case, options, system)
        problems += (f"case '{name}': {text}" for text in wrong)
        problems += wrong_ledgers(name, experiment, options, system)
        for key, measure in case.measure.items():
            where = f"case '{name}', measure '{key}'"
            problems += _measure(where, measure, shown[name], system)
            if measure.is_difference and measure.to in shown:
                signal = measure.to_signal or measure.signal
                problems += _known(where, signal, shown[measure.to], measure.angle)
    for name, sweep in experiment.sweep.items():
        if sweep.case in systems:
            case = experiment.case[sweep.case]
            options = merged(case, experiment.defaults)
            problems += _sweep(f"sweep '{name}'", sweep, case, options, systems[sweep.case])
    for name, campaign in experiment.campaign.items():
        problems += wrong_campaign(name, campaign, experiment, systems)
    problems += swept_ledgers(experiment)
    problems += _figures(experiment, systems, shown)
    problems += wrong_animations(experiment, systems, recorded)
    problems += wrong_maps(experiment)
    return problems


def _figures(
    experiment: Experiment, systems: Mapping[str, System], recorded: Mapping[str, list[str]]
) -> Iterator[str]:
    for name, figure in experiment.figure.items():
        if isinstance(figure, TimeFigure):
            for curve in (curve for panel in figure.panels for curve in panel.curves):
                if curve.cases <= recorded.keys():
                    where = f"figure '{name}'"
                    yield from _known(where, curve.signal, recorded[curve.case], curve.angle)
                    yield from _minus(where, curve, experiment, systems, recorded)


def _minus(
    where: str,
    curve: Curve,
    experiment: Experiment,
    systems: Mapping[str, System],
    recorded: Mapping[str, list[str]],
) -> Iterator[str]:
    """Say what is wrong with the signal that a curve takes off."""
    if curve.minus is None:
        return
    yield from _known(where, curve.minus.signal, recorded[curve.minus.case], curve.angle)
    try:
        one, other = (
            _sampling(merged(experiment.case[case], experiment.defaults), systems[case])
            for case in (curve.case, curve.minus.case)
        )
    except DescriptionError:  # reported with the options
        return
    if one != other:
        yield (
            f"{where}: curve '{curve.label}': expected the same start, step, every and stop of"
            f" cases '{curve.case}' and '{curve.minus.case}', whose signals are subtracted"
        )


def _sampling(options: RunOptions, system: System) -> tuple[int, ...]:
    """Start, stop and step in nanoseconds, and of how many steps one is recorded."""
    times = horizon(system, options.start, options.stop, options.step)
    return (*times, options.every or 1)


def _files(name: str, experiment: Experiment, system: System) -> Iterator[str]:
    """Formats, recorders and the journal of a case."""
    case = experiment.case[name]
    options = merged(case, experiment.defaults)
    yield from (
        f"case '{name}', recorder '{key}': its files are those of the case '{name}.{key}'"
        for key in case.recorder
        if f"{name}.{key}" in experiment.case
    )
    try:
        flush_seconds(options, f"case '{name}'")
        files = views(name, case, options, system)
    except DescriptionError as error:
        yield from error.problems
        return
    try:
        start_ns, stop_ns, step_ns = horizon(system, options.start, options.stop, options.step)
    except DescriptionError:  # reported with the options
        return
    for view in files:
        yield from expect_room(view, (stop_ns - start_ns) // step_ns, options.every or 1)


def _known(where: str, signal: str, recorded: list[str], angle: Axis) -> Iterator[str]:
    for name in names_of(signal, angle):
        if name not in recorded:
            yield f"{where}: no recorded output '{name}'; recorded: {', '.join(recorded)}"


def _options(where: str, case: Case, experiment: Experiment, system: System) -> Iterator[str]:
    options = merged(case, experiment.defaults)
    chosen = Chosen.of(system, options.algorithm, options.algorithm_options, options.rates)
    try:
        planned(system, chosen.algorithm, chosen.options, chosen.rates)
    except DescriptionError as error:
        yield from (f"{where}: {text}" for text in error.problems)
    try:
        horizon(system, options.start, options.stop, options.step)
    except DescriptionError as error:
        yield f"{where}: {error}"


def _time(where: str, time: str | float | None) -> Iterator[str]:
    if time is not None:
        try:
            nanoseconds(time, where)
        except DescriptionError as error:
            yield str(error)


def _measure(where: str, measure: Measure, recorded: list[str], system: System) -> Iterator[str]:
    yield from _known(where, measure.signal, recorded, measure.angle)
    if isinstance(measure.target, str) and measure.target not in recorded:
        try:
            target_value(measure.target, system)
        except DescriptionError as error:
            yield f"{where}, target: {error}"
    yield from _time(f"{where}, from", measure.begin)
    yield from _time(f"{where}, until", measure.until)
    if isinstance(measure.predict, SampledLoopSpec):
        yield from (f"{where}, predict.{text}" for text in measure.predict.problems(system))
    elif measure.predict is not None:
        for key in ContactLoopSpec.model_fields:
            value = getattr(measure.predict, key)
            if isinstance(value, str):
                try:
                    system.value(value)
                except DescriptionError as error:
                    yield f"{where}, predict.{key}: {error}"


def _sweep(
    where: str, sweep: Sweep, case: Case, options: RunOptions, system: System
) -> Iterator[str]:
    for key in sweep.measures:
        if case.measure[key].is_difference:
            yield f"{where}: '{key}' is a difference to another case, which cannot be swept"
    yield from (f"{where}: {text}" for text in wrong_values(sweep, case, options, system))
