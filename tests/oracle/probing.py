"""Delays of loops, measured: a system is compiled, and its rings are probed."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from orchestrator.core.coupling import DelayMode
from orchestrator.core.master import compile_schedule
from orchestrator.core.system import System
from orchestrator.loops import ProbedDelay, probe_loop


def probe_delays(
    system: System,
    *,
    step_ns: int,
    algorithm_name: str = "gauss-seidel",
    mode: DelayMode = DelayMode.MEAN,
    rates: Mapping[str, int] | None = None,
    frequency: float | None = None,
) -> list[ProbedDelay]:
    """Measure the delay of every loop of a resolved system."""
    schedule = compile_schedule(system, algorithm_name, step_ns, mode, (), rates=rates)
    return [
        probe_loop(system, schedule, delay, ring, frequency)
        for delay in schedule.loop_delays
        for ring in delay.loops
    ]


def probe_delay(
    system: System,
    components: Collection[str],
    *,
    step_ns: int,
    algorithm_name: str = "gauss-seidel",
    mode: DelayMode = DelayMode.MEAN,
    rates: Mapping[str, int] | None = None,
    frequency: float | None = None,
) -> ProbedDelay:
    """Measure the delay around the loop of these components, in any order."""
    schedule = compile_schedule(system, algorithm_name, step_ns, mode, (), rates=rates)
    for delay in schedule.loop_delays:
        for ring in delay.loops:
            if sorted(ring.components) == sorted(components):
                return probe_loop(system, schedule, delay, ring, frequency)
    raise AssertionError(f"no loop of {', '.join(components)}")
