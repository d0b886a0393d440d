"""Verification of a run: it is repeated with H/2 and H/4, and all are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Unpack

from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.master import ExecutionSettings, RunKeywords
from orchestrator.core.notebook import Progress
from orchestrator.core.recording import Result
from orchestrator.core.system import System, seconds
from orchestrator.study.prepare.simulate import (
    InterruptedRun,
    RunHooks,
    simulate_with,
)
from orchestrator.study.verification.comparison import Kinds, compare
from orchestrator.study.verification.kinds import kinds_of
from orchestrator.study.verification.refinement import DIVISORS, Refinement
from orchestrator.study.verification.verification import Flag, Verification


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
