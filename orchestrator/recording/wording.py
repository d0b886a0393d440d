"""Delays in words that an engineer reads without a manual."""

from __future__ import annotations

from orchestrator.coupling import LoopDelay


def milliseconds(ns: float) -> str:
    """Write a time in milliseconds, to the microsecond: ``"16 ms"``, ``"0.5 ms"``."""
    return f"{round(ns / 1e6, 3) + 0.0:.10g} ms"


def path_of(delay: LoopDelay) -> str:
    """Components around a loop: ``"chaser → sheet → chaser"``."""
    return " → ".join([*delay.components, delay.components[0]])


def sentence(delay: LoopDelay) -> str:
    """Say what a loop's delay is made of."""
    extra = round(delay.numerical_ns / 1e6, 3)
    if extra == 0:
        added = "the co-simulation adds nothing"
    elif extra > 0:
        added = f"the co-simulation adds {milliseconds(delay.numerical_ns)}"
    else:
        added = f"the co-simulation takes {milliseconds(-delay.numerical_ns)} away"
    return (
        f"{milliseconds(delay.physical_ns)} declared, {added}:"
        f" {milliseconds(delay.total_ns)} in total"
    )
