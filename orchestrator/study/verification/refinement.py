"""The same run with a shorter communication step, and what has no such run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.master import ExecutionSettings, Plan, plan_of
from orchestrator.core.simunits import description_of, resolve
from orchestrator.core.system import System, seconds
from orchestrator.core.system.step_length import StepLength, divided, step_text
from orchestrator.study.prepare.simulate import horizon

#: By what the step is divided.
DIVISORS = (2, 4)


@dataclass(frozen=True, slots=True)
class Refinement:
    """How a run is repeated with shorter steps.

    Parameters
    ----------
    system, settings
        Of the run itself.
    step_ns
        Its communication step in nanoseconds.
    rates
        Components that keep the length of their steps, and how many communication steps of the
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
