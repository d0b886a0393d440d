"""Steps that are chosen, and peaks of a case with the step that its linear loops allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from orchestrator.core.diagnostics import CapabilityError, DescriptionError, Diagnostic
from orchestrator.core.master import ExecutionSettings
from orchestrator.core.simulation import simulate_with
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import System, nanoseconds
from orchestrator.loops import linear_system
from orchestrator.loops.step_choice import COUNT, StepChoice, StepReference, choose_step
from orchestrator.loops.step_error import at_step, ladder
from orchestrator.study import Experiment, Section
from orchestrator.study.experiment import AUTO
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.refinement import DIVISORS, Refinement
from orchestrator.study.run.case_runs import as_simulated
from orchestrator.study.verification import kinds_of

#: Where a case has no step of its own, it is linearised with this one, which none is chosen by.
_FIRST = "1 ms"


def case_step_reference(
    case: PreparedCase, *, lines: Sequence[str] | None = None, count: int = COUNT
) -> StepReference:
    """Linearise a case at its start, and say by what its steps are judged.

    Rates of components are counted in the step that the case or its system has: they keep the
    length of their steps.
    """
    options, default = case.options, case.system.experiment
    own_step = None if options.step == AUTO else options.step
    rates = default.rates if options.rates is None else options.rates
    if own_step is None and default.step_ns is None:
        if rates:
            raise DescriptionError(
                f"case '{case.name}': its system has no communication step in which the rates of"
                f" {', '.join(rates)} could be counted: give it one"
            )
        own_step = _FIRST
    linear = linear_system(case.system, **options.stepping | {"step": own_step})
    start = default.start_ns if options.start is None else nanoseconds(options.start, "start time")
    stop = default.stop_ns if options.stop is None else nanoseconds(options.stop, "stop time")
    length = None if stop is None else stop - start
    if length is not None and length <= 0:
        raise DescriptionError(
            f"case '{case.name}': expected a stop time after the start, found {stop} ns"
        )
    return StepReference.of(linear, length_ns=length, lines=lines, count=count)


def chosen_step(case: PreparedCase) -> StepChoice:
    """Choose the step of a case by its tolerance, for its own algorithm."""
    tolerance = case.options.tolerance
    if tolerance is None:
        raise DescriptionError('step = "auto": expected a tolerance as well, found none')
    choice = choose_step(case_step_reference(case), tolerance)
    if choice.step_ns is None:
        raise CapabilityError(f'step = "auto": {choice}; {"; ".join(choice.remarks)}')
    return choice


def with_chosen_steps(
    experiment: Experiment, cases: Mapping[str, PreparedCase]
) -> tuple[Experiment, dict[str, PreparedCase], dict[str, Section]]:
    """Give every case whose step is ``auto`` the one that its loops allow."""
    choices: dict[str, Section] = {}
    problems: list[Diagnostic] = []
    done = dict(cases)
    for name, case in cases.items():
        if case.options.step != AUTO:
            continue
        try:
            choice = chosen_step(case)
        except DescriptionError as error:
            problems += error.within(f"case '{name}'")
            continue
        step = {"step": f"{choice.step_ns} ns"}  # by which the run can be repeated
        note = f'step = "auto" is {choice}; the same run has step = "{choice.step_ns} ns"'
        choices[name] = Section("step_choice", note=note, data=choice.as_json(), value=choice)
        done[name] = replace(case, case=case.case.model_copy(update=step)).with_options(**step)
    if problems:
        raise DescriptionError(*problems)
    tables = {
        name: done[name].case if name in choices else experiment.case[name]
        for name in experiment.case
    }
    return experiment.model_copy(update={"case": tables}), done, choices


#: An output whose peak is no larger, as a share of the largest of its component, is zero.
_ZERO = 1e-9
#: The error with H is at most this many times the difference to H/2, if it falls with the first
#: power of H or faster.
_WHOLE = 2.0


class PeakError(Struct):
    """How far the peak values of a run are off.

    step_ns: The communication step H, ns.
    output: That which is farthest off; empty if there is none with a peak.
    peaks: Its largest magnitudes with H and with H/2, in its own unit.
    share: The error with H as a share of the peak: twice the difference.
    wall_seconds: That the run with H took.
    """

    step_ns: int
    output: str
    peaks: tuple[float, float]
    share: float
    wall_seconds: float


class PeakChoice(Struct):
    """The step that peak values leave.

    step_ns: The largest one that was run and is within the tolerance; ``None`` if there is none.
    runs: In the order in which they were made, the longest step first.
    """

    step_ns: int | None
    runs: tuple[PeakError, ...]


def peak_error(system: System, settings: ExecutionSettings) -> PeakError:
    """Run a system with a step and with half of it, and compare the peaks of what is recorded.

    Integers, Booleans and outputs that depend on draws have none.
    """
    refinement = Refinement.of(system, settings)
    coarse = simulate_with(system, settings)
    fine = simulate_with(system, replace(refinement.with_step_divided(2), every=settings.every))
    kinds = kinds_of(system, coarse.names, settings.faults)
    names = [n for n in coarse.names if n not in kinds.discrete and n not in kinds.random]
    before, after = (
        {name: float(np.abs(run[name]).max()) for name in names} for run in (coarse, fine)
    )
    largest: dict[str, float] = {}
    for name, peak in after.items():
        component = name.partition(".")[0]
        largest[component] = max(peak, largest.get(component, 0.0))
    shares = {
        name: _WHOLE * abs(before[name] - peak) / peak
        for name, peak in after.items()
        if peak > _ZERO * largest[name.partition(".")[0]]
    }
    if not shares:
        return PeakError(refinement.step_ns, "", (0.0, 0.0), 0.0, coarse.wall_seconds)
    worst = max(shares, key=shares.__getitem__)
    return PeakError(
        refinement.step_ns,
        worst,
        (before[worst], after[worst]),
        shares[worst],
        coarse.wall_seconds,
    )


#: Steps that are run, each with H/2.
_MOST = 8


def peaks_of_case(case: PreparedCase, reference: StepReference, choice: StepChoice) -> PeakChoice:
    """Run a case with a chosen step, and shorter ones until its peaks are within the tolerance."""
    first = choice.step_ns
    if first is None:
        return PeakChoice(None, ())
    system, settings = as_simulated(case)
    even = [step for step in reference.steps if step % DIVISORS[-1] == 0]
    rungs = [step for step in ladder(even) if step < first]
    start = [first] if first in even else [step for step in even if step < first][-1:]
    runs = []
    for step_ns in [*start, *reversed(rungs)][:_MOST]:
        master = at_step(reference.linear, step_ns, choice.algorithm).master
        peak_options = replace(
            settings,
            step=f"{step_ns} ns",
            algorithm=master.algorithm,
            algorithm_options=master.algorithm_options,
            rates=master.rates,
        )
        runs.append(peak_error(system, peak_options))
        if runs[-1].share <= choice.tolerance:
            return PeakChoice(step_ns, tuple(runs))
    return PeakChoice(None, tuple(runs))
