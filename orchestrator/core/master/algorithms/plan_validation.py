"""An algorithm's plan for a system, with all refusals that need no running unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from orchestrator.core.diagnostics import CapabilityError, DescriptionError, UnknownNameError
from orchestrator.core.master.algorithms.plan import Coupling, Plan
from orchestrator.core.master.algorithms.registry import plan_of
from orchestrator.core.system import Compensation, Connection, System, nearest


def wrong_compensations(
    system: System, algorithm: str, plan: Plan, rates: Mapping[str, int]
) -> Iterator[DescriptionError]:
    """Refuse compensations where steps differ or are repeated, or values change at events."""
    lines = [line for line in system.connections if line.compensation is not None]
    own_way = plan.coupling is not Coupling.NEWEST or plan.loops is not None
    if lines and (own_way or plan.step_size_control is not None):
        text = (
            f"algorithm '{algorithm}' has its own way to bring inputs up to time, and connection"
            f" {lines[0]} has the compensation '{lines[0].compensation}': choose 'jacobi' or"
            " 'gauss-seidel', or leave the compensation out"
        )
        yield CapabilityError.about(text, code="CAP114", key=str(lines[0]))
    for line in lines:
        for name in (line.source.component, line.target.component):
            if rates.get(name, 1) != 1:
                text = (
                    f"connection {line} has the compensation '{line.compensation}', which counts"
                    f" one communication step after the other, and '{name}' has the rate"
                    f" {rates[name]}: expected 1"
                )
                yield CapabilityError.about(text, code="CAP114", key=str(line))
        corrects = line.compensation is Compensation.CORRECTOR
        if corrects and not system.components[line.target.component].has_derivatives:
            text = (
                f"connection {line} has the compensation 'corrector', which corrects outputs by"
                f" directional derivatives, and '{line.target.component}' gives none: expected an"
                " FMU that does; choose 'nepce'"
            )
            yield CapabilityError.about(text, code="CAP114", key=str(line))
        if at := _at_events(system, line):
            text = (
                f"connection {line} has the compensation '{line.compensation}', and '{at}' changes"
                " at events only: there is nothing between two of them; leave the compensation out"
            )
            yield CapabilityError.about(text, code="CAP114", key=str(line))


def _at_events(system: System, line: Connection) -> str:
    """Name the end of a line that changes at events only, if there is one."""
    for end in (line.source, line.target):
        if system.components[end.component].changes_at_events(end.connector):
            return str(end)
    return ""


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
    found = []
    if plan.loops is None and not plan.delays_loops:  # nothing iterates
        found += system.algebraic_loops()
    found += _wrong_rates(system, algorithm, plan, rates)
    varying = [line for line in system.connections if line.delay and line.delay.variation]
    if plan.step_size_control is not None and varying:
        text = (
            f"algorithm '{algorithm}' varies the communication step, and the delay of connection"
            f" {varying[0]} varies from sample to sample: choose an algorithm of fixed steps"
        )
        found.append(CapabilityError.about(text, code="TIM105", key=str(varying[0])))
    found += _wrong_predictions(system, algorithm, plan, rates)
    found += wrong_compensations(system, algorithm, plan, rates)
    return found


def _wrong_predictions(
    system: System, algorithm: str, plan: Plan, rates: Mapping[str, int]
) -> Iterator[DescriptionError]:
    """Refuse predicted inputs where an algorithm has its own way to bring inputs up to time."""
    predicted = [line for line in system.connections if line.is_predicted]
    own_way = plan.coupling is not Coupling.NEWEST or plan.loops is not None
    if predicted and (own_way or plan.step_size_control is not None):
        text = (
            f"algorithm '{algorithm}' has its own way between samples, and connection"
            f" {predicted[0]} predicts its input ('{predicted[0].extrapolation}'): choose 'jacobi'"
            " or 'gauss-seidel', or leave the extrapolation out"
        )
        yield CapabilityError.about(text, code="CAP105", key=str(predicted[0]))
    for line in predicted:
        for name in (line.source.component, line.target.component):
            if rates.get(name, 1) != 1:
                text = (
                    f"connection {line} predicts its input ('{line.extrapolation}') over one"
                    f" communication step, and '{name}' has the rate {rates[name]}: expected 1"
                )
                yield CapabilityError.about(text, code="CAP105", key=str(line))


def _wrong_rates(
    system: System, algorithm: str, plan: Plan, rates: Mapping[str, int]
) -> Iterator[DescriptionError]:
    for name, ticks in rates.items():
        if name not in system.components:
            text = (
                f"rate of '{name}': no such component{nearest(name, system.components)};"
                f" components: {', '.join(system.components)}"
            )
            yield UnknownNameError.about(text, code="TIM106", key=name)
        if isinstance(ticks, bool) or not isinstance(ticks, int) or not 1 <= ticks <= 1_000_000:
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
