"""What keeps an algorithm from running connections that are compensated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.master.algorithms.plan import Coupling, Plan
from orchestrator.core.system import Compensation, Connection, System


def wrong_compensations(
    system: System, algorithm: str, plan: Plan, rates: Mapping[str, int]
) -> Iterator[DescriptionError]:
    """Refuse compensations where steps differ or are repeated, or values change at events.

    Parameters
    ----------
    system, rates
        As for :func:`~orchestrator.core.master.algorithms.plan_validation.validate_plan`.
    algorithm, plan
        The algorithm's name, and what it returned.
    """
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
