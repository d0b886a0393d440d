"""How one system is run, and why an algorithm's plan for it cannot be carried out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from orchestrator.core.coupling import DEFAULT_DELAY, DelayMode
from orchestrator.core.diagnostics import (
    CapabilityError,
    DescriptionError,
    UnknownNameError,
    choices_for,
)
from orchestrator.core.master.algorithms import DEFAULT_ALGORITHM, plan_of
from orchestrator.core.master.plan import Coupling, Plan
from orchestrator.core.structs import Struct, field
from orchestrator.core.system import (
    Compensation,
    Connection,
    Fault,
    FaultKind,
    System,
    fault_problems,
)
from orchestrator.core.system.experiment import WAY
from orchestrator.core.system.naming import is_whole
from orchestrator.core.system.time import step_text

if TYPE_CHECKING:
    from orchestrator.core.coupling import Tuned
    from orchestrator.core.realtime import RealTime
    from orchestrator.core.system.ports import Limits


def _expect_system(value: object) -> None:
    if not isinstance(value, System):
        advice = f"; read_system({value!r}) reads a file" if isinstance(value, str) else ""
        raise DescriptionError(f"expected a System, found {value!r}{advice}")


def validate_plan(
    system: System,
    algorithm: str,
    options: Mapping[str, Any] | None = None,
    rates: Mapping[str, int] | None = None,
) -> Plan:
    """Let an algorithm plan a system, and check that the plan can be carried out."""
    if not isinstance(rates, Mapping | None):
        raise DescriptionError(
            f"rates: expected communication steps by component, such as {{'sensor': 5}}, found"
            f" {rates!r}"
        )
    plan = plan_of(algorithm, system, options or {})
    if refused := refusals(system, algorithm, plan, rates or {}):
        raise DescriptionError.collect(refused)
    return plan


def refusals(
    system: System, algorithm: str, plan: Plan, rates: Mapping[str, int]
) -> list[DescriptionError]:
    """Say why a plan cannot be carried out, as far as that needs no unit."""
    errors: list[DescriptionError] = []
    if plan.loops is None and not plan.delays_loops:  # nothing iterates
        errors += system.algebraic_loops()
    errors += _wrong_rates(system, algorithm, plan, rates)
    varying = [line for line in system.connections if line.delay and line.delay.variation]
    if plan.step_size_control is not None and varying:
        text = (
            f"algorithm '{algorithm}' varies the communication step, and the delay of connection"
            f" {varying[0]} varies from sample to sample: choose an algorithm of fixed steps"
        )
        errors.append(CapabilityError.about(text, code="TIM105", key=str(varying[0])))
    predicted = [line for line in system.connections if line.is_predicted]
    compensated = [line for line in system.connections if line.compensation is not None]
    is_held = plan.coupling is Coupling.NEWEST and plan.loops is None
    has_own_way = not is_held or plan.step_size_control is not None
    if has_own_way and predicted:
        text = (
            f"algorithm '{algorithm}' interpolates by itself, and connection {predicted[0]}"
            f" predicts its input ('{predicted[0].extrapolation}'): choose 'jacobi' or"
            " 'gauss-seidel', or remove the extrapolation"
        )
        errors.append(CapabilityError.about(text, code="CAP105", key=str(predicted[0])))
    for line in predicted:
        does = f"predicts its input ('{line.extrapolation}') over one communication step"
        errors += _wrong_ends(line, does, rates, "CAP105")
    if has_own_way and compensated:
        text = (
            f"algorithm '{algorithm}' extrapolates inputs by itself, and connection"
            f" {compensated[0]} has the compensation '{compensated[0].compensation}': choose"
            " 'jacobi' or 'gauss-seidel', or remove the compensation"
        )
        errors.append(CapabilityError.about(text, code="CAP114", key=str(compensated[0])))
    for line in compensated:
        errors += _wrong_compensation(system, line, rates)
    return errors


def _wrong_ends(
    line: Connection, does: str, rates: Mapping[str, int], code: str
) -> Iterator[DescriptionError]:
    """Refuse a line that counts communication steps where an end takes several at once."""
    for name in (line.source.component, line.target.component):
        if rates.get(name, 1) != 1:
            text = f"connection {line} {does}, and '{name}' has the rate {rates[name]}: expected 1"
            yield CapabilityError.about(text, code=code, key=str(line))


def _wrong_compensation(
    system: System, line: Connection, rates: Mapping[str, int]
) -> Iterator[DescriptionError]:
    has = f"has the compensation '{line.compensation}'"
    counts = f"{has}, which needs an exchange in every communication step"
    yield from _wrong_ends(line, counts, rates, "CAP114")
    corrects = line.compensation is Compensation.CORRECTOR
    if corrects and not system.components[line.target.component].has_derivatives:
        text = (
            f"connection {line} {has}, which corrects outputs by directional derivatives, and"
            f" '{line.target.component}' gives none: expected an FMU that does; choose 'nepce'"
        )
        yield CapabilityError.about(text, code="CAP114", key=str(line))
    for end in (line.source, line.target):
        if system.components[end.component].changes_at_events(end.connector):
            text = (
                f"connection {line} {has}, and '{end}' changes at events only, so there is"
                " nothing to compensate; remove the compensation"
            )
            yield CapabilityError.about(text, code="CAP114", key=str(line))
            return


def _wrong_rates(
    system: System, algorithm: str, plan: Plan, rates: Mapping[str, int]
) -> Iterator[DescriptionError]:
    for name, ticks in rates.items():
        if name not in system.components:
            text = (
                f"rate of '{name}': no such component"
                f"{choices_for(name, system.components, 'component')}"
            )
            yield UnknownNameError.about(text, code="TIM106", key=name)
        if not is_whole(ticks) or not 1 <= ticks <= 1_000_000:
            text = (
                f"rate of '{name}': expected a whole number of communication steps, 1 to"
                f" 1000000, found {ticks!r}"
            )
            yield DescriptionError.about(text, code="TIM106", key=name)
    if rates and (plan.loops is not None or plan.step_size_control is not None):
        text = (
            f"algorithm '{algorithm}' steps all components together: rates need 'jacobi' or"
            f" 'gauss-seidel' (rates are given for {', '.join(rates)})"
        )
        yield CapabilityError.about(text, code="TIM106", key=next(iter(rates)))


def fault_refusals(
    system: System, algorithm: str, plan: Plan, faults: Sequence[Fault]
) -> list[str]:
    """List why faults cannot act."""
    if not faults:
        return []
    return [
        *fault_problems(faults, system),
        *(
            f"fault {fault}: algorithm '{algorithm}' varies the communication step, and white noise"
            " is drawn at a rate: choose an algorithm of fixed steps"
            for fault in faults
            if plan.step_size_control is not None and fault.kind is FaultKind.NOISE
        ),
    ]


class StepKeywords(TypedDict, total=False):
    """What decides on how a system is stepped; see :class:`orchestrator.Execution`."""

    step: str | float | None
    start: str | float | None
    algorithm: str | None
    algorithm_options: Mapping[str, Any] | None
    rates: Mapping[str, int] | None
    delay: DelayMode | str | None
    early_return: bool | None


class RunKeywords(StepKeywords, total=False):
    """What can be asked of a run; see :class:`orchestrator.Execution`."""

    stop: str | float | None
    record: Sequence[str] | str | None
    every: int | None
    threads: int | None
    faults: Sequence[Fault]
    strict: bool
    realtime: RealTime | None
    tuned: Sequence[Tuned]
    limits: Mapping[str, Limits | tuple[float, float]] | None


class ExecutionSettings(Struct):
    """How one system is run, whatever is done with it; see :class:`orchestrator.Execution`.

    Times are as they were given. ``None``: no step is given, no stop is announced, all outputs are
    recorded, and as many threads are used as there are processors.
    """

    step: str | float | None = None
    start: str | float = 0
    stop: str | float | None = None
    algorithm: str = DEFAULT_ALGORITHM
    algorithm_options: Mapping[str, Any] = field(default_factory=dict)
    rates: Mapping[str, int] = field(default_factory=dict)
    delay: DelayMode | str = DEFAULT_DELAY
    early_return: bool = True
    record: Sequence[str] | str | None = None
    every: int = 1
    threads: int | None = None
    faults: Sequence[Fault] = ()
    strict: bool = False
    realtime: RealTime | None = None
    tuned: Sequence[Tuned] = ()
    limits: Mapping[str, Limits | tuple[float, float]] | None = None

    @classmethod
    def of(cls, system: System, **keywords: Unpack[RunKeywords]) -> ExecutionSettings:
        """Complete the requested settings.

        What is ``None`` comes from the system's default experiment, but for the stop, else is the
        default of Softdock. Options of the experiment are for its own algorithm: with another they
        are left.
        """
        _expect_system(system)
        if unknown := [name for name in keywords if name not in cls.__struct_fields__]:
            raise UnknownNameError(
                *(
                    f"no option '{name}'{choices_for(name, cls.__struct_fields__, 'option')}"
                    for name in unknown
                )
            )
        default = system.experiment
        algorithm = default.algorithm or DEFAULT_ALGORITHM
        defaults: dict[str, Any] = {
            "step": None if default.step_ns is None else step_text(default.step_ns),
            "start": f"{default.start_ns} ns",
            "algorithm": algorithm,
            "rates": default.rates,
            "early_return": default.early_return is not False,
        }
        if keywords.get("algorithm") in {None, default.algorithm}:
            defaults["algorithm_options"] = default.algorithm_options
        return cls(
            **defaults | {name: value for name, value in keywords.items() if value is not None}
        )

    @property
    def mode(self) -> DelayMode:
        """What becomes of declared delays."""
        try:
            return DelayMode(self.delay)
        except ValueError:
            raise UnknownNameError(
                f"delay mode: expected one of {', '.join(DelayMode)}, found '{self.delay}'"
            ) from None

    @property
    def stepping(self) -> dict[str, Any]:
        """What decides on how it is stepped, by keyword."""
        return {name: getattr(self, name) for name in WAY}
