"""The outside of a system as two components: what goes in, and what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from orchestrator.core.coupling import DelayPlan
from orchestrator.core.master.algorithms.plan import Group, Plan
from orchestrator.core.system import (
    Causality,
    Component,
    Connection,
    Connector,
    Endpoint,
    Source,
    SourceKind,
    System,
)

#: Names that no component can have: a path does not begin with a slash.
SOURCE, SINK = "/inputs", "/outputs"


def crosses(line: Connection) -> bool:
    """Whether a connection comes from outside, or leads there."""
    return line.source.component == SOURCE or line.target.component == SINK


def interior(system: System) -> System:
    """Return a flat system without its own connectors; what they fed is held from outside."""
    inside = (c for c in system.connections if c.source.component and c.target.component)
    return replace(system, connections=tuple(inside), connectors={}, values={})


def with_boundary(system: System) -> System:
    """Turn the own connectors of a flat system into components that are connected like others.

    The inputs are the outputs of one component, the outputs the inputs of another: no ring passes
    through the outside. An output shows the newest value, whatever its connection says of
    extrapolation; own parameters are no signals and are left out with their connections.
    """
    inputs = [c for c in system.connectors.values() if c.causality is Causality.INPUT]
    outputs = [c for c in system.connectors.values() if c.causality is Causality.OUTPUT]
    components = dict(system.components)
    if inputs:
        turned = {c.name: replace(c, causality=Causality.OUTPUT) for c in inputs}
        components[SOURCE] = _component(SOURCE, turned)
    if outputs:
        turned = {c.name: replace(c, causality=Causality.INPUT) for c in outputs}
        components[SINK] = _component(SINK, turned)
    lines = []
    for line in system.connections:
        source, target = line.source, line.target
        if not source.component:
            if system.connectors[source.connector].causality is not Causality.INPUT:
                continue
            line = replace(line, source=Endpoint(SOURCE, source.connector))  # noqa: PLW2901
        if not target.component:
            way = None if line.delay is None else line.extrapolation
            end = Endpoint(SINK, target.connector)
            line = replace(  # noqa: PLW2901
                line, target=end, extrapolation=way, compensation=None
            )
        lines.append(line)
    return replace(
        system, components=components, connections=tuple(lines), connectors={}, values={}
    )


def _component(name: str, connectors: Mapping[str, Connector]) -> Component:
    return Component(name, Source(SourceKind.SYSTEM, name), connectors, has_states=False)


def around(plan: Plan, system: System) -> Plan:
    """Let a plan of the inside end with the boundary: outputs are taken after all have stepped.

    Parameters
    ----------
    plan
        Of the components inside.
    system
        As :func:`with_boundary` returned it.
    """
    names = tuple(name for name in (SINK, SOURCE) if name in system.components)
    if not names:
        return plan
    return replace(plan, groups=(*plan.groups, Group(names)))


def at_end(
    plans: Mapping[Endpoint, DelayPlan], step_ns: int, *, exact: bool
) -> dict[Endpoint, DelayPlan]:
    """Read delayed outputs at the end of the step, where they are looked at.

    An output is a sample, not something that is held over a step: no half of a step is taken off.
    """
    return {
        target: plan if target.component != SINK else _sampled(plan, step_ns, exact=exact)
        for target, plan in plans.items()
    }


def _sampled(plan: DelayPlan, step_ns: int, *, exact: bool) -> DelayPlan:
    delay = plan.connection.delay
    nominal_ns = delay.nominal_ns if delay else 0
    seen_ns = float(nominal_ns) if exact else plan.seen_ns
    return replace(
        plan, shift_ns=step_ns - nominal_ns, seen_ns=seen_ns, extrapolation_ns=0, held_ns=0
    )
