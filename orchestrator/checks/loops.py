"""Closed loops: what delay each has, which are algebraic, and who solves them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from orchestrator.checks.context import Compiled, finding
from orchestrator.core.coupling import LoopDelay, missed, unsolved
from orchestrator.core.diagnostics import Diagnostic, first_of
from orchestrator.core.diagnostics.errors import Code, error, note, warning
from orchestrator.core.master import Group, plan_of
from orchestrator.core.system import Component, Connection, SourceKind, System

CODES: tuple[Code, ...] = (
    note(
        "LOO101",
        "a closed loop and its delay",
        "The message lists the delay that is declared on the connections of the loop, the delay"
        " that the communication step adds or removes with this algorithm, order and delay mode,"
        " and the sum. Lags inside the components are not counted. See docs/explanation/delay.md.",
    ),
    error(
        "LOO102",
        "an algebraic loop that the algorithm does not solve",
        "Direct feed-through leads around a ring without a delay, and the algorithm does not"
        " iterate: no order of steps makes the values agree. The message names algorithms that"
        " solve the loop.",
    ),
    note(
        "LOO103",
        "an algebraic loop that is iterated",
        "In every step the algorithm repeats these components in this order until the cut outputs"
        " agree. See docs/explanation/loops.md.",
    ),
    warning(
        "LOO104",
        "a loop misses its declared delay",
        "In `mean` and `waveform` mode every loop has the declared delay, but the step leaves no"
        " room for it on this loop. The message states the difference and the reason. Shorten the"
        " step, declare a longer delay, or choose another interpolation.",
    ),
    note(
        "LOO105",
        "further loops",
        "Softdock lists a limited number of loops one by one. `softdock analyze delays` lists all.",
    ),
    warning(
        "LOO106",
        "too many loops to compensate all of them",
        "Softdock plans a limited number of loops; rings along signals that act alike count as"
        " one. Further loops are neither reported nor compensated. Combine signals in fewer"
        " components.",
    ),
    warning(
        "LOO107",
        "an algebraic loop is delayed, not solved",
        "With algebraic_loops = 'delay', 'gauss-seidel' and 'jacobi' pass an algebraic loop on"
        " from step to step. That adds the delay of a step, with 'jacobi' for each component of"
        " the loop. The results then depend on the step, and a loop with a gain above 1 diverges.",
    ),
)

#: Loops that are listed one by one; all are looked at.
LISTED = 20
#: Lines at which a loop is cut that are named.
_CUTS = 4


def check(compiled: Compiled) -> Iterator[Diagnostic]:
    """Say what loops there are."""
    for problem in compiled.refused:
        if problem.code == "LOO102":
            would = _would_solve(compiled.system)
            yield replace(problem, message=problem.message + would)
    plan = compiled.plan
    if plan is not None and plan.loops is not None:
        rings = compiled.system.algebraic_loops()
        for group in plan.groups:
            inside = [ring for ring in rings if ring.diagnostics[0].key in group.members]
            if group.loop and inside:
                yield _iterated(compiled, group)
    if compiled.schedule is not None:
        yield from _delays(compiled)


def _iterated(compiled: Compiled, group: Group) -> Diagnostic:
    assert compiled.plan is not None  # noqa: S101 - who has a group has a plan
    loops = compiled.plan.loops
    method = loops.method.name.lower().replace("_", " ") if loops else ""
    text = (
        f"'{compiled.run.algorithm}' iterates it ({method}) in the order"
        f" {' -> '.join(group.members)}, cut at {_cuts(compiled.system, group)}"
    )
    return finding("LOO103", group.members[0], text)


def _cuts(system: System, group: Group) -> str:
    positions = {name: number for number, name in enumerate(group.members)}
    cut = [
        str(line)
        for line in system.connections
        if line.delay is None
        and line.target.component in positions
        and positions.get(line.source.component, -1) >= positions[line.target.component]
    ]
    return first_of(cut, _CUTS)


def _would_solve(system: System) -> str:
    """Say how an algorithm that iterates would go about the loops of a system."""
    groups = [group for group in plan_of("newton", system, {}).groups if group.loop]
    orders = (f"{' -> '.join(g.members)}, cut at {_cuts(system, g)}" for g in groups)
    return f" (they would iterate in the order {'; '.join(orders)})"


def _delays(compiled: Compiled) -> Iterator[Diagnostic]:
    schedule, run = compiled.schedule, compiled.run
    assert schedule is not None  # noqa: S101 - the caller has looked
    for loop in islice(schedule.loop_delays, LISTED):
        yield finding("LOO101", str(loop.loops[0].connections[0]), _delay_text(loop, compiled))
    unlisted = schedule.loop_delays[LISTED:]
    if unlisted:
        shortest, longest = (pick(loop.total_ns for loop in unlisted) / 1e6 for pick in (min, max))
        text = f"{len(unlisted)} more loops, of {shortest:g} to {longest:g} ms in total"
        yield finding("LOO105", "", text)
    for loop in () if schedule.loops else schedule.loop_delays:
        for text in unsolved([loop]):
            yield finding("LOO107", str(loop.loops[0].connections[0]), text)
    for loop in schedule.loop_delays:
        for text in missed(schedule.plans, [loop], str(run.mode)):
            yield finding("LOO104", str(loop.loops[0].connections[0]), text)


def _delay_text(loop: LoopDelay, compiled: Compiled) -> str:
    run = compiled.run
    ring = " -> ".join([*loop.components, loop.components[0]])
    count = f" ({loop.ring_count} rings of ports)" if loop.ring_count > 1 else ""
    parts = compiled.system.components
    devices = [n for n in loop.components if parts[n].source.kind is SourceKind.DEVICE]
    delayed = [line.source.component for line in loop.loops[0].connections if _late_ns(parts, line)]
    devices_text = f", besides the delay of device {', '.join(devices)}, which arming counts"
    if modelled := [name for name in devices if name in delayed]:
        devices_text = f", with the delay of device {', '.join(modelled)} by its twin"
        if unknown := [name for name in devices if name not in delayed]:
            devices_text += f", besides that of {', '.join(unknown)}, which arming counts"
    return (
        f"loop {ring}{count}: declared {loop.physical_ns / 1e6:g} ms, the step adds"
        f" {loop.numerical_ns / 1e6:+g} ms, in total {loop.total_ns / 1e6:g} ms"
        f" ({run.algorithm}, {run.mode}, step {(run.step_ns or 0) / 1e6:g} ms)"
        f"{devices_text if devices else ''}"
    )


def _late_ns(parts: Mapping[str, Component], line: Connection) -> int:
    return parts[line.source.component].late_ns.get(line.source.connector, 0)
