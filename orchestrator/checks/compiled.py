"""A system as its algorithm would run it, as far as that can be found out without any unit."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.checks.context import CheckContext, Run, without_ends
from orchestrator.checks.finding import of_error
from orchestrator.core.diagnostics import DescriptionError, Diagnostic
from orchestrator.core.master import Plan, Schedule, compile_schedule, plan_of, refusals
from orchestrator.core.system import System, closed_loops


@dataclass(frozen=True, slots=True)
class Compiled:
    """What comes out of planning and compiling.

    Parameters
    ----------
    system
        Flat, without connectors of its own.
    run
        How it is to be run.
    plan
        ``None`` where it cannot be made, or nothing is iterated.
    schedule
        ``None`` where it cannot be made, or there is no step to make one for.
    refused
        Why not.
    """

    system: System
    run: Run
    plan: Plan | None
    schedule: Schedule | None
    refused: tuple[Diagnostic, ...] = ()

    def loop_count(self) -> int:
        """Return the number of closed loops; rings along lines that act alike are one."""
        if self.schedule is not None:
            return sum(len(loop.loops) for loop in self.schedule.loop_delays)
        return len(closed_loops(self.system))


def compiled(context: CheckContext) -> Compiled | None:
    """Plan and compile a system; ``None`` if it is not sound enough for that."""
    if context.flat is None or not context.is_known or not context.flat.components:
        return None
    system, run = without_ends(context.flat), context.run
    refusal = None
    if run.step_ns:
        try:
            schedule = compile_schedule(
                system, run.algorithm, run.step_ns, run.mode, (), run.options, run.rates
            )
        except DescriptionError as error:
            refusal = error
        else:
            return Compiled(system, run, _plan(system, run) if schedule.loops else None, schedule)
    try:
        plan = _plan(system, run)
    except DescriptionError as error:
        return Compiled(system, run, None, None, tuple(of_error(error, code="CAP104")))
    refused = [
        found
        for error in refusals(system, run.algorithm, plan, run.rates)
        for found in of_error(error)
    ]
    if refusal is not None and not refused:
        refused = list(of_error(refusal, code="CAP109"))
    return Compiled(system, run, plan, None, tuple(refused))


def _plan(system: System, run: Run) -> Plan:
    return plan_of(run.algorithm, system, run.options)
