"""Verification of a run: it is repeated with shorter steps, and all are compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Unpack

from orchestrator.core.diagnostics import CapabilityError, DescriptionError, SoftdockError
from orchestrator.core.display import Progress
from orchestrator.core.master import ExecutionSettings, Plan, RunKeywords, plan_of
from orchestrator.core.recording import Result
from orchestrator.core.simulation import InterruptedRun, RunHooks, simulate_with
from orchestrator.core.simunits import description_of, resolve
from orchestrator.core.structs import Struct
from orchestrator.core.system import System, horizon, seconds
from orchestrator.core.system.time import StepLength, divided, step_text
from orchestrator.study.verification import (
    Flag,
    Kinds,
    Verification,
    compare,
    kinds_of,
)

#: By what the step is divided.
DIVISORS = (2, 4)


class Refinement(Struct):
    """How a run is repeated with shorter steps.

    system, settings: Of the run itself.
    step_ns: Its communication step in nanoseconds.
    rates: Components that keep the length of their steps, and how many communication steps of the
        run itself that is.
    """

    system: System
    settings: ExecutionSettings
    step_ns: int
    rates: Mapping[str, int]

    @classmethod
    def of(cls, system: System, settings: ExecutionSettings) -> Refinement:
        """Find out how a run is repeated.

        Components with a rate keep the length of their steps, as that is their sample time; so do
        FMUs whose ``fixedInternalStepSize`` does not fit into the shorter steps.
        """
        flat = resolve(system).flat().closed()
        step_ns = horizon(system, settings.start, settings.stop, settings.step)[2]
        algorithm = settings.algorithm
        plan = plan_of(algorithm, flat, settings.algorithm_options)
        can = {
            name: description_of(component).capabilities
            for name, component in flat.components.items()
            if name not in settings.rates
        }
        fixed = {
            name: capabilities.fixed_step
            for name, capabilities in can.items()
            if capabilities.fixed_step is not None
            and not capabilities.fits_fixed_step(step_ns // DIVISORS[-1])
        }
        rates = {**settings.rates, **dict.fromkeys(fixed, 1)}
        problems = list(_problems(algorithm, plan, step_ns))
        problems += _cannot_keep(flat, algorithm, plan, {**dict.fromkeys(rates), **fixed})
        if problems:
            raise DescriptionError.collect(problems)
        return cls(system, settings, step_ns, {name: rates[name] for name in sorted(rates)})

    def with_step_divided(self, divisor: int) -> ExecutionSettings:
        """Return the settings of the run with a shorter step, which records at the same times."""
        return replace(
            self.settings,
            step=step_text(divided(self.step_ns, divisor)),
            every=self.settings.every * divisor,
            rates={name: ticks * divisor for name, ticks in self.rates.items()},
        )

    def remarks(self) -> Iterator[str]:
        """Say which components keep the length of their steps."""
        for name, ticks in self.rates.items():
            yield (
                f"component '{name}' keeps its step of {ticks * self.step_ns / 1e6:.9g} ms in all"
                " runs: the differences do not show the error of that step"
            )


def _problems(algorithm: str, plan: Plan, step_ns: int) -> Iterator[DescriptionError]:
    if plan.step_size_control is not None:
        yield CapabilityError(
            f"algorithm '{algorithm}' chooses its steps, so runs with H/2 and H/4 cannot verify"
            " it: run it again with a smaller tolerance (its options 'relative' and 'absolute'),"
            " or choose an algorithm of fixed steps"
        )
    if not isinstance(step_ns, StepLength) and step_ns % DIVISORS[-1]:
        yield CapabilityError(
            f"the communication step of {seconds(step_ns):.9g} s cannot be divided by"
            f" {DIVISORS[-1]} in whole nanoseconds, so runs with H/2 and H/4 cannot verify it:"
            " choose another step"
        )


def _cannot_keep(
    flat: System, algorithm: str, plan: Plan, step_lengths: Mapping[str, float | None]
) -> Iterator[DescriptionError]:
    """Components that can neither follow nor keep the length of their steps.

    ``kept``: those that should keep it, and of what their steps are multiples in s, if of anything.
    """
    for name, length in step_lengths.items():
        if name in flat.components and flat.components[name].shares_events:
            hindrance = "it shares events with components that must be at the same time"
        elif plan.loops is not None and length is not None:
            hindrance = f"algorithm '{algorithm}' steps all components together"
        else:
            continue
        reason, remedy = "has a rate and so keeps its step", "leave out its rate"
        if length is not None:
            reason = (
                f"takes whole multiples of {length:g} s (fixedInternalStepSize) and so cannot"
                f" follow H/{DIVISORS[-1]}"
            )
            remedy = f"choose a communication step that is {DIVISORS[-1]} such multiples"
        yield CapabilityError(f"component '{name}' {reason}, but {hindrance}: {remedy}")


def verify(
    system: System,
    *,
    name: str | None = None,
    progress: Progress | None = None,
    keep: bool = False,
    **keywords: Unpack[RunKeywords],
) -> Verification:
    """Run a system with steps of H, H/2 and H/4 and compare the outputs.

    The runs are compared at the recorded times of the run with H. Declared delays keep their
    length in seconds. A component with a rate keeps its step, which is its sample time: a rate of
    1 declares that H itself is one.

    Parameters
    ----------
    system
        What to run.
    name
        As of :func:`~orchestrator.simulate`.
    progress
        Called with the finished share of all three runs, 0 to 1.
    keep
        Whether to keep the results of the finer runs.
    **given
        Of the run with H: see :func:`~orchestrator.simulate`.

    Returns
    -------
    Verification
        Its ``result`` is the run with H. ``failures`` names finer runs that failed.

    Raises
    ------
    CapabilityError
        If there is no run with H/2 or H/4: the algorithm chooses its steps, the step is not
        divisible, or a component takes no shorter one.
    FailedRunError, InterruptedRun, DescriptionError, LoadError
        As of :func:`~orchestrator.simulate`, of the run with H.
    """
    settings = ExecutionSettings.of(system, **keywords)
    refinement = Refinement.of(system, settings)
    tell = progress or (lambda _share: None)
    works = 1 + sum(DIVISORS)  # H/n is n times the work of H
    result = simulate_with(system, settings, RunHooks(lambda share: tell(share / works)), name)

    def report_rest(share: float) -> None:
        tell((1.0 + (works - 1) * share) / works)

    return verified(refinement, result, progress=report_rest, keep=keep)


def verified(
    refinement: Refinement,
    result: Result,
    *,
    progress: Progress,
    keep: bool = False,
) -> Verification:
    """Repeat a run that is done with H/2 and H/4, and compare; see :func:`verify`."""
    results, failures = [result], []
    done, works = 0, sum(DIVISORS)
    for divisor in DIVISORS:

        def tell(share: float, before: float = done / works, part: float = divisor / works) -> None:
            progress(before + part * share)

        settings = refinement.with_step_divided(divisor)
        try:
            finer_result = simulate_with(refinement.system, settings, RunHooks(tell), result.name)
            results.append(finer_result)
        except SoftdockError as error:
            step = seconds(refinement.step_ns // divisor)
            failures.append(f"the run with H/{divisor} = {step:.9g} s failed: {error}")
            break
        except InterruptedRun:
            raise KeyboardInterrupt from None  # the run that counts is recorded
        done += divisor
    kinds = kinds_of(refinement.system, result.names, refinement.settings.faults)
    verification = compare(results, kinds)
    return replace(
        verification,
        remarks=(*refinement.remarks(), *_remarks(verification, kinds)),
        failures=tuple(failures),
        results=tuple(results) if keep else (result,),
    )


def _remarks(verification: Verification, kinds: Kinds) -> Iterator[str]:
    if kinds.random:
        components = sorted({name.partition(".")[0] for name in kinds.random})
        yield (
            "finer runs draw different random numbers, so the order cannot be computed for the"
            f" outputs of {', '.join(components)}"
        )
    if stuck := sum(Flag.NOT_CONVERGING in flags for flags in verification.flags):
        yield (
            f"{stuck} of {len(verification.names)} outputs do not converge with shorter steps, so"
            " their"
            " errors are unknown"
        )
