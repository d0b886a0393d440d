"""A loop of connections alone, its components replaced by relays, to be measured."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.core.coupling import DelayPlan
from orchestrator.core.master.schedule.schedule import Schedule
from orchestrator.core.system import (
    Causality,
    Compensation,
    Component,
    Connection,
    Connector,
    Endpoint,
    Extrapolation,
    Interpolation,
    Loop,
    Source,
    SourceKind,
    System,
)

#: Output of the first component that shows what its input brings.
RETURNED = "what came round"


def relay_system(
    system: System, schedule: Schedule, ring: Loop
) -> tuple[System, dict[Endpoint, DelayPlan]]:
    """Make a system of the ring alone, and say how the whole system reads its lines.

    It carries scalars without units.
    """
    of_target = {plan.connection.target: plan for plan in schedule.plans}
    plans = {}
    lines = []
    for line in ring.connections:
        alone = replace(line, transformation=None)
        if line.interpolation is Interpolation.SLERP:
            alone = replace(alone, interpolation=Interpolation.LINEAR)
        if line.compensation is Compensation.ENERGY:
            # Takes back as much as the bond's powers differ: no delay, and nothing of one line.
            alone = replace(alone, compensation=None)
        lines.append(alone)
        plan = of_target.get(line.target)
        if plan is not None:
            plans[line.target] = _scalar(replace(plan, connection=alone))
    components = {}
    for into, line in zip(
        (ring.connections[-1], *ring.connections), ring.connections, strict=False
    ):
        components[line.source.component] = _relay(system, into, line)
    first = components[ring.components[0]]
    returned = {RETURNED: Connector(RETURNED, Causality.OUTPUT)}
    components[first.name] = replace(first, connectors={**first.connectors, **returned})
    return System(system.name, components, tuple(lines)), plans


def _relay(system: System, into: Connection, out: Connection) -> Component:
    name = out.source.component
    ports = {
        into.target.connector: Connector(into.target.connector, Causality.INPUT),
        out.source.connector: Connector(out.source.connector, Causality.OUTPUT),
    }
    source = Source(SourceKind.BLOCK, "relay")
    order = system.components[name].input_order
    return Component(name, source, ports, input_order=order)


def _scalar(plan: DelayPlan) -> DelayPlan:
    """A quaternion is late as a scalar is that is interpolated, and held beyond the newest."""
    if plan.interpolation is not Interpolation.SLERP:
        return plan
    return replace(plan, interpolation=Interpolation.LINEAR, extrapolation=Extrapolation.HOLD)
