"""Measure the delay around a loop: its coupling alone is run, and the phase of a sine is read."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.coupling import DelayPlan, LoopDelay
from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.master import Coupling, Group, Plan, Schedule, validate_plan
from orchestrator.core.master.run.assembly import make_engine
from orchestrator.core.master.schedule.compensation_table import FaultRows
from orchestrator.core.master.schedule.compile import lay_out
from orchestrator.core.master.schedule.input_hold import InputHold
from orchestrator.core.master.schedule.schedule import Buffer
from orchestrator.core.structs import Struct, replace
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
    MappingTransformation,
    Source,
    SourceKind,
    System,
)
from orchestrator.engine import Relay

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
            if plan.interpolation is Interpolation.SLERP:  # late as a scalar that is interpolated
                scalar = Interpolation.LINEAR, Extrapolation.HOLD  # is, and held beyond the newest
                plan = replace(plan, interpolation=scalar[0], extrapolation=scalar[1])
            plans[line.target] = replace(plan, connection=alone)
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


#: Periods of the sine that are evaluated, after as many delays of the loop and periods to settle.
_PERIODS = 8
_SETTLING_PERIODS = 2
#: The sine is slow against the step and the delay: this many of them in a period.
_STEPS_PER_PERIOD = 64
_DELAYS_PER_PERIOD = 8


class ProbedDelay(Struct):
    """Delay of one loop, predicted and measured.

    loop: The ring of ports.
    physical_ns, predicted_ns: Declared delay, and with what the co-simulation adds to it.
    measured_ns: Phase of the sine over its angular frequency.
    frequency: Of the sine in Hz.
    gain: Of the sine around the loop; below 1 where holds smooth it.
    """

    loop: Loop
    physical_ns: int
    predicted_ns: float
    measured_ns: float
    frequency: float
    gain: float


def probe_loop(
    system: System,
    schedule: Schedule,
    delay: LoopDelay,
    ring: Loop,
    frequency: float | None = None,
) -> ProbedDelay:
    """Measure one ring of a schedule that was compiled from a system.

    The ring is opened behind its first component, which sends a sine instead of its output. All
    components become relays that are stepped, read and kept as the schedule of the whole system
    says: one with direct feed-through passes its input on, one that responds through a state
    integrates it (90 degrees, which are taken off). What comes round is fitted by least squares.

    A held or linearly interpolated sample of a sine has a phase that is a delay of the predicted
    size up to terms of the third order in (angular frequency x step): the hold itself,
    ``exp(-jwH/2) sin(wH/2) / (wH/2)``, is late by H/2 exactly.

    system, schedule: The schedule and what it was compiled from.
    delay, ring: One of the schedule's loops, and one of its rings.
    frequency: Of the sine in Hz; ``None``: slow against step and delay. The delay is known up to a
        period: the figure nearest to the predicted one is given.
    Raises DescriptionError: if a table of values stands on the ring, or the frequency is not
        between 0 and a quarter of the sampling frequency.
    """
    tables = [c for c in ring.connections if isinstance(c.transformation, MappingTransformation)]
    if tables:
        raise DescriptionError(
            f"the loop {ring} cannot be measured by a sine: a table of values is applied on"
            f" {tables[0]}"
        )
    ticks = {member.name: member.ticks for member in schedule.members}
    slowest = max(ticks[name] for name in ring.components)
    step = slowest * schedule.step_ns / 1e9
    total = max(delay.total_ns, 0.0) / 1e9
    if frequency is None:
        frequency = 1.0 / max(_STEPS_PER_PERIOD * step, _DELAYS_PER_PERIOD * total)
    if not 0.0 < frequency <= 0.25 / step:
        raise DescriptionError(
            f"frequency of a probe: expected above 0 to {0.25 / step:g} Hz, a quarter of the"
            f" sampling frequency; found {frequency:g} Hz"
        )
    rate = 2.0 * math.pi * frequency
    settling = slowest * (math.ceil((total + _SETTLING_PERIODS / frequency) / step) + 4)
    steps = settling + slowest * math.ceil(_PERIODS / frequency / step)
    rows = _run(system, schedule, ring, rate, steps)
    time = np.arange(1, steps + 1, dtype=np.float64) * schedule.step_ns / 1e9
    first = ticks[ring.components[0]]
    window = slice(
        first * (settling // first) + first - 1, None, first
    )  # when the sine's unit steps
    integrals = ring.feedthrough.count(False)
    phase, gain = _fit(time[window], rows[window], rate, integrals)
    expected = rate * delay.total_ns / 1e9
    off = math.remainder(phase - 0.5 * math.pi * integrals - expected, 2.0 * math.pi)
    measured = delay.total_ns + off / rate * 1e9
    return ProbedDelay(ring, delay.physical_ns, delay.total_ns, measured, frequency, gain)


def _fit(
    time: NDArray[np.float64], values: NDArray[np.float64], rate: float, integrals: int
) -> tuple[float, float]:
    """Fit ``gain sin(rate t - phase)`` plus the polynomial that integrals may leave."""
    middle = (time - time.mean()) / (time[-1] - time[0])
    powers = [middle**k for k in range(integrals + 1)]
    columns = np.stack([np.sin(rate * time), np.cos(rate * time), *powers], axis=1)
    along, across = np.linalg.lstsq(columns, values, rcond=None)[0][:2]
    return math.atan2(-across, along), math.hypot(along, across)


def _run(
    system: System, schedule: Schedule, ring: Loop, rate: float, steps: int
) -> NDArray[np.float64]:
    """Run the ring as relays; return what came round after each step."""
    relays, plans = relay_system(system, schedule, ring)
    plan = validate_plan(system, schedule.algorithm)
    groups = (
        Group(tuple(name for name in group.members if name in relays.components))
        for group in plan.groups
    )
    if plan.coupling is not Coupling.NEWEST or plan.loops is not None:
        raise CapabilityError(
            f"the delays of algorithm '{schedule.algorithm}' are not measured: relays follow"
            " algorithms that hold the newest value; choose 'jacobi' or 'gauss-seidel'"
        )
    alone = Plan(tuple(group for group in groups if group.members), latch_at_end=plan.latch_at_end)
    first = ring.components[0]
    returned = f"{first}.{RETURNED}"
    rates = {member.name: member.ticks for member in schedule.members}
    buffer = Buffer(relays, alone, rates, [returned])
    input_hold = InputHold(relays, alone, rates)
    faults, step_ns, rule = FaultRows(relays, ()), schedule.step_ns, schedule.rule
    coupling = lay_out(
        relays, alone, buffer, input_hold, plans, {}, faults, step_ns, rule, follows_steps=False
    )
    direct = {
        line.target.component: through
        for line, through in zip(ring.connections, ring.feedthrough, strict=True)
    }
    units = [
        Relay(
            member.name,
            direct[member.name],
            relays.components[member.name].input_order,
            member.name == first,
            rate,
        )
        for member in coupling.members
    ]
    engine = make_engine(coupling, units, 1)
    rows = np.empty((steps, 1))
    engine.start(0, schedule.step_ns)
    engine.record([buffer.slots[returned][0]], 1, rows, np.empty(steps, dtype=np.int64))
    engine.run(steps, steps * schedule.step_ns)
    return rows[:, 0]
