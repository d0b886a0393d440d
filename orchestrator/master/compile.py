"""Compilation of a system and an algorithm into a schedule."""

from __future__ import annotations

from collections.abc import Collection

from orchestrator.coupling import DelayMode, plan_delays
from orchestrator.errors import CapabilityError, PluginError
from orchestrator.master.algorithms import algorithm
from orchestrator.master.buffer import Buffer
from orchestrator.master.lines import Lines, Operation
from orchestrator.master.schedule import Code, Schedule
from orchestrator.system import (
    Connection,
    DataType,
    Endpoint,
    System,
    closed_loops,
)


def compile_schedule(
    system: System,
    algorithm_name: str,
    step_ns: int,
    mode: DelayMode,
    recorded: Collection[str],
) -> Schedule:
    """Compile a checked system.

    Parameters
    ----------
    system
        Resolved and checked.
    algorithm_name
        A registered algorithm.
    step_ns
        Communication step in nanoseconds, > 0.
    mode
        How declared delays are realised.
    recorded
        Outputs to keep in the buffer although nothing is connected to them
        (``component.connector``).
    """
    if step_ns <= 0:
        raise CapabilityError(f"communication step: expected > 0 s, found {step_ns / 1e9:g} s")
    if not system.components:
        raise CapabilityError(f"system '{system.name}' has no components: there is nothing to step")
    _check_types(system, recorded)
    groups = algorithm(algorithm_name)(system)
    if sorted(name for group in groups for name in group) != sorted(system.components):
        raise PluginError(
            f"algorithm '{algorithm_name}' returned the groups {groups}; expected every component"
            f" once: {', '.join(system.components)}"
        )
    place = {name: i for i, group in enumerate(groups) for name in group}

    def steps_before(line: Connection) -> bool:
        return place[line.source.component] < place[line.target.component]

    plans, loops = plan_delays(
        system.connections, closed_loops(system), step_ns, mode, steps_before
    )
    buffer = Buffer(system, groups, recorded)
    lines = Lines(system, groups, buffer, plans, mode, step_ns)
    operations: list[Operation] = []
    member = 0
    for group in groups:
        operations += lines.exchange(c for c in system.connections if c.target.component in group)
        operations += [(Code.STEP, member + i, 1) for i in range(len(group))]
        operations += lines.push(group)
        member += len(group)
    return Schedule(
        algorithm_name,
        mode,
        step_ns,
        buffer.size,
        tuple(buffer.members),
        buffer.slots,
        tuple(lines.histories),
        tuple(lines.copies),
        tuple(lines.reads),
        tuple(operations),
        # Enough passes for a chain of all components, and one more where delays cut a ring.
        len(buffer.members) + bool(plans),
        tuple(plans.values()),
        tuple(loops),
        buffer.text_size,
        tuple(lines.text_copies),
    )


def _check_types(system: System, recorded: Collection[str]) -> None:
    def kind(end: Endpoint) -> DataType:
        return system.components[end.component].connectors[end.connector].type

    wrong = [
        f"recording of '{name}': it is a {kind(end)}; only numbers are recorded, so leave it out"
        for name in recorded
        if kind(end := Endpoint.parse(name)).is_text
    ]
    for line in system.connections:
        carried = kind(line.source)
        if carried.is_text and line.delay is not None:
            wrong.append(
                f"connection {line}: a {carried} cannot be delayed: only numbers have a past;"
                " remove the delay, or pass it on in a block"
            )
        if carried.is_text and line.transformation is not None:
            wrong.append(f"connection {line}: a {carried} has no factor or offset; remove them")
    if wrong:
        raise CapabilityError(*wrong)
