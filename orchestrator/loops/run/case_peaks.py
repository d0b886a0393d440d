"""Peaks of a case with the step that its linear loops allow, and with shorter ones."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.loops.step_choice.candidates import ladder
from orchestrator.loops.step_choice.choice import StepChoice, StepReference
from orchestrator.loops.step_choice.step_error import at_step
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.run.case_run import as_simulated
from orchestrator.study.verification.peaks import PeakChoice, PeakError, choose_by_peaks, peak_error
from orchestrator.study.verification.refinement import DIVISORS

#: Steps that are run, each with H/2.
_MOST = 8


def peaks_of_case(case: PreparedCase, reference: StepReference, choice: StepChoice) -> PeakChoice:
    """Run a case with a chosen step, and shorter ones until its peaks are within the tolerance."""
    first = choice.step_ns
    if first is None:
        return PeakChoice(None, ())
    system, settings = as_simulated(case)

    def run(step_ns: int) -> PeakError:
        master = at_step(reference.linear, step_ns, choice.algorithm).master
        given = replace(
            settings,
            step=f"{step_ns} ns",
            algorithm=master.algorithm,
            algorithm_options=master.algorithm_options,
            rates=master.rates,
        )
        return peak_error(system, given)

    even = [step for step in reference.steps if step % DIVISORS[-1] == 0]
    rungs = [step for step in ladder(even) if step < first]
    start = [first] if first in even else [step for step in even if step < first][-1:]
    return choose_by_peaks(run, [*start, *reversed(rungs)][:_MOST], choice.tolerance)
