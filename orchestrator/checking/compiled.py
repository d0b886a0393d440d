"""A system as its algorithm would run it, as far as that can be found out without any unit."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.checking.subject import Run, Subject, without_ends
from orchestrator.errors import DescriptionError
from orchestrator.master import Plan, Schedule, compile_schedule, plan_of, refusals
from orchestrator.system import Problem, System, closed_loops


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
    refused: tuple[Problem, ...] = ()

    def loop_count(self) -> int:
        """Return the number of closed loops; rings along lines that act alike are one."""
        if self.schedule is not None:
            return sum(len(loop.loops) for loop in self.schedule.loop_delays)
        return len(closed_loops(self.system))


def compiled(subject: Subject) -> Compiled | None:
    """Plan and compile a system; ``None`` if it is not sound enough for that."""
    if subject.flat is None or not subject.is_known or not subject.flat.components:
        return None
    system, run = without_ends(subject.flat), subject.run
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
        return Compiled(system, run, None, None, (Problem("CAP104", "", error),))
    refused = refusals(system, run.algorithm, plan, run.rates)
    if refusal is not None and not refused:
        refused = [Problem("CAP109", "", refusal)]
    return Compiled(system, run, plan, None, tuple(refused))


def _plan(system: System, run: Run) -> Plan:
    return plan_of(run.algorithm, system, run.options)
