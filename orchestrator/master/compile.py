"""Compilation of a system and an algorithm into a schedule."""

from __future__ import annotations

from collections.abc import Collection

from orchestrator.coupling import DelayMode, plan_delays
from orchestrator.errors import CapabilityError, PluginError
from orchestrator.master.algorithms import algorithm
from orchestrator.master.buffer import Buffer
from orchestrator.master.lines import Lines
from orchestrator.master.schedule import Schedule
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

    def takes_slopes(line: Connection) -> bool:
        return system.components[line.target.component].takes_slopes

    plans, loops = plan_delays(
        system.connections, closed_loops(system), step_ns, mode, steps_before, takes_slopes
    )
    buffer = Buffer(system, groups, recorded)
    lines = Lines(system, groups, buffer, plans, step_ns)
    operations = lines.operations(groups)
    return Schedule(
        algorithm_name,
        mode,
        step_ns,
        buffer.size,
        tuple(buffer.members),
        buffer.slots,
        tuple(lines.histories),
        tuple(lines.channels),
        tuple(lines.copies),
        tuple(lines.reads),
        operations,
        # Enough passes for a chain of all components, and one more where delays cut a ring.
        len(buffer.members) + bool(plans),
        tuple(plans.values()),
        tuple(loops),
        lines.watched,
    )


def _check_types(system: System, recorded: Collection[str]) -> None:
    ends = [(line.source, f"connection {line}") for line in system.connections]
    ends += [(Endpoint.parse(name), f"recording of '{name}'") for name in recorded]
    wrong = [
        f"{where}: '{end}' is a String; connections and recordings carry Real, Integer and Boolean"
        " signals"
        for end, where in ends
        if system.components[end.component].connectors[end.connector].type is DataType.STRING
    ]
    if wrong:
        raise CapabilityError(*wrong)
