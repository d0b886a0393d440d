"""Verification of a run: it is repeated with shorter steps, and all are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Unpack

import numpy as np

from orchestrator.core.diagnostics import CapabilityError, DescriptionError, SoftdockError
from orchestrator.core.master import ExecutionSettings, Plan, RunKeywords, plan_of
from orchestrator.core.notebook import Progress
from orchestrator.core.recording import Result
from orchestrator.core.simunits import description_of, resolve
from orchestrator.core.system import System, seconds
from orchestrator.core.system.time import StepLength, divided, step_text
from orchestrator.study.prepare.simulate import InterruptedRun, RunHooks, horizon, simulate_with
from orchestrator.study.verification.verification import (
    Flag,
    Kinds,
    Verification,
    compare,
    kinds_of,
)

#: By what the step is divided.
DIVISORS = (2, 4)


@dataclass(frozen=True, slots=True)
class Refinement:
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
        fixed = _fixed(flat, step_ns, settings.rates)
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
                " runs: what that step does is in none of the differences"
            )


def _fixed(flat: System, step_ns: int, rates: Mapping[str, int]) -> dict[str, float]:
    """Components without a rate whose steps cannot be so short, and of what they are multiples."""
    found = {}
    for name, component in flat.components.items():
        can = description_of(component).capabilities
        if can.fixed_step is None or name in rates:
            continue
        if not can.fits_fixed_step(step_ns // DIVISORS[-1]):
            found[name] = can.fixed_step
    return found


def _problems(algorithm: str, plan: Plan, step_ns: int) -> Iterator[DescriptionError]:
    if plan.step_size_control is not None:
        yield CapabilityError(
            f"algorithm '{algorithm}' chooses its steps, so that there are no runs with H/2 and"
            " H/4 to verify it by: run it again with a smaller tolerance (its options 'relative'"
            " and 'absolute'), or choose an algorithm of fixed steps"
        )
    if not isinstance(step_ns, StepLength) and step_ns % DIVISORS[-1]:
        yield CapabilityError(
            f"the communication step of {seconds(step_ns):.9g} s cannot be divided by"
            f" {DIVISORS[-1]} in whole nanoseconds, so that there are no runs with H/2 and H/4 to"
            " verify it by: choose another step"
        )


def _cannot_keep(
    flat: System, algorithm: str, plan: Plan, kept: Mapping[str, float | None]
) -> Iterator[DescriptionError]:
    """Components that can neither follow nor keep the length of their steps.

    ``kept``: those that should keep it, and of what their steps are multiples in s, if of anything.
    """
    for name, length in kept.items():
        if name in flat.components and flat.components[name].shares_events:
            hindrance = "it shares events with others, which are at one time with it"
        elif plan.loops is not None and length is not None:
            hindrance = f"algorithm '{algorithm}' steps all components together"
        else:
            continue
        why, way = "has a rate and so keeps its step", "leave out its rate"
        if length is not None:
            why = (
                f"takes whole multiples of {length:g} s (fixedInternalStepSize) and so cannot"
                f" follow H/{DIVISORS[-1]}"
            )
            way = f"choose a communication step that is {DIVISORS[-1]} such multiples"
        yield CapabilityError(f"component '{name}' {why}, but {hindrance}: {way}")


def verify(
    system: System,
    *,
    name: str | None = None,
    progress: Progress | None = None,
    keep: bool = False,
    **given: Unpack[RunKeywords],
) -> Verification:
    """Run a system with H, H/2 and H/4, and say how far the outputs are apart.

    All runs are compared at the times that the one with H records. Declared delays stay what they
    are in seconds. A component with a rate keeps the length of its steps, as that is its sample
    time: a rate of 1 says that H itself is one.

    Parameters
    ----------
    system
        What to run.
    name
        As of :func:`~orchestrator.simulate`.
    progress
        Called with the share of all three runs that is done, 0 to 1.
    keep
        Whether the results of the finer runs are kept, too.
    **given
        Of the run with H: see :func:`~orchestrator.simulate`.

    Returns
    -------
    Verification
        Its ``result`` is the run with H. A finer run that fails is told in ``failures``.

    Raises
    ------
    CapabilityError
        If there is no run with H/2 or H/4: the algorithm chooses its steps, the step is not
        divisible, or a component takes no shorter one.
    FailedRunError, InterruptedRun, DescriptionError, LoadError
        As of :func:`~orchestrator.simulate`, of the run with H.
    """
    settings = ExecutionSettings.of(system, **given)
    refinement = Refinement.of(system, settings)
    tell = progress or (lambda _share: None)
    works = 1 + sum(DIVISORS)
    result = simulate_with(system, settings, RunHooks(lambda s: tell(s / works)), name)
    rest = partial(_behind, tell, works)
    return verified(refinement, result, progress=rest, keep=keep)


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
        tell = partial(_part, progress, done / works, divisor / works)
        settings = refinement.with_step_divided(divisor)
        try:
            one = simulate_with(refinement.system, settings, RunHooks(tell), result.name)
            results.append(one)
        except SoftdockError as error:
            step = seconds(refinement.step_ns // divisor)
            failures.append(f"the run with H/{divisor} = {step:.9g} s failed: {error}")
            break
        except InterruptedRun:
            raise KeyboardInterrupt from None  # the run that counts is recorded
        done += divisor
    kinds = kinds_of(refinement.system, result.names, refinement.settings.faults)
    found = compare(results, kinds)
    return replace(
        found,
        remarks=(*refinement.remarks(), *_remarks(found, kinds)),
        failures=tuple(failures),
        results=tuple(results) if keep else (result,),
    )


def _part(progress: Callable[[float], None], before: float, length: float, share: float) -> None:
    progress(before + length * share)


def _behind(progress: Callable[[float], None], works: int, share: float) -> None:
    """Tell the share of the finer runs as one of all runs; H/n is n times the work of H."""
    progress((1.0 + (works - 1) * share) / works)


def _remarks(found: Verification, kinds: Kinds) -> Iterator[str]:
    if kinds.random:
        components = sorted({name.partition(".")[0] for name in kinds.random})
        yield (
            "each sample makes its own draws, so that the finer runs have others: no order of the"
            f" outputs of {', '.join(components)}"
        )
    stuck = [name for name, flags in zip(found.names, found.flags, strict=True) if _stuck(flags)]
    if stuck:
        yield (
            f"{len(stuck)} of {len(found.names)} outputs differ no less between the shorter steps:"
            " their errors are not known"
        )


def _stuck(flags: Sequence[Flag]) -> bool:
    return Flag.NOT_CONVERGING in flags


#: An output whose peak is no larger, as a share of the largest of its component, is zero.
_ZERO = 1e-9
#: The error with H is at most so many times the difference to H/2, if it falls with the first
#: power of H or faster.
_WHOLE = 2.0


@dataclass(frozen=True, slots=True)
class PeakError:
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


@dataclass(frozen=True, slots=True)
class PeakChoice:
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
    before, after = _peaks(coarse, names), _peaks(fine, names)
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


def choose_by_peaks(
    run: Callable[[int], PeakError], steps: Sequence[int], tolerance: float
) -> PeakChoice:
    """Run with one step after the other until the peaks are within a tolerance.

    run: Runs with a step in nanoseconds and with half of it.
    steps: The longest first.
    tolerance: Of the peaks, as a share of them.
    """
    runs = []
    for step_ns in steps:
        runs.append(run(step_ns))
        if runs[-1].share <= tolerance:
            return PeakChoice(step_ns, tuple(runs))
    return PeakChoice(None, tuple(runs))


def _peaks(result: Result, names: Sequence[str]) -> dict[str, float]:
    return {name: float(np.abs(result[name]).max()) for name in names}
