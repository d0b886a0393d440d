"""Times that a run has no room for: sums of them would not fit the engine's 64 bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orchestrator.core.coupling import channel_of
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import Connection, Fault, System, out_of_reach


def expect_in_reach(times: Mapping[str, int | None]) -> None:
    """Refuse times, in nanoseconds by what they are, that a run has no room for.

    Raises
    ------
    DescriptionError
        Which are too far; all together.
    """
    problems = [
        text for what, ns in times.items() if ns is not None for text in out_of_reach(what, ns)
    ]
    if problems:
        raise DescriptionError(*problems)


def expect_schedule_in_reach(
    system: System, step_ns: int, rates: Mapping[str, int], faults: Sequence[Fault]
) -> None:
    """Refuse steps, delays and faults that a run has no room for.

    Raises
    ------
    DescriptionError
        Which are too far; all together.
    """
    times: dict[str, int | None] = {"communication step": step_ns}
    for name, rate in rates.items():
        times[f"step of component '{name}'"] = rate * step_ns
    for line in system.connections:
        times |= _of_line(line)
    for fault in faults:
        name = f"fault '{fault.name}' on '{fault.on}'"
        times |= {f"begin of {name}": fault.begin_ns, f"delay of {name}": fault.delay_ns}
    expect_in_reach(times)


def _of_line(line: Connection) -> dict[str, int | None]:
    if line.delay is None:
        return {}
    where = f"connection {line.source} -> {line.target}"
    times: dict[str, int | None] = {f"{where}: delay": line.delay.nominal_ns}
    channel = channel_of(line)
    if channel is not None:
        times[f"{where}: longest delay of a sample"] = channel.longest_ns
    if channel is not None and channel.times_ns:
        times[f"{where}: begin of its trace"] = channel.times_ns[0]
        times[f"{where}: end of its trace"] = channel.times_ns[-1]
    return times
