"""Energy that flows into a component while the displacement that belongs to it is still on its way.

A spring with a damper takes the displacement and the flow of its port as two inputs. A delayed or
held displacement stays at its initial value until its first sample arrives, but the flow is there
from the start: the damper dissipates, and nothing has moved. Steps of a source that are longer than
those of its target do the same between two samples. The work of the effort along the displacement
lacks this energy.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.structs import Struct
from orchestrator.core.system import Connection, System, signal_of
from orchestrator.study.energy.plan import LedgerPort
from orchestrator.study.energy.samples import Samples

Floats = NDArray[np.float64]

#: Own steps by which a displacement may be late without any delay.
_STEPS = 3


class _Late(Struct, eq=False):
    """One effort of a port whose displacement and flow are both inputs, in its component's steps.

    power: Absolute mean of effort times flow over each step, W, shape (n - 1,).
    largest: Largest effort of the run, in its unit.
    flow: Mean over each step, shape (n - 1, size), in W per unit of the effort.
    speed: Root mean square of the flow over each step, shape (n - 1,), in W per unit of the effort:
        it is not 0 where the flow changes its sign.
    behind: What the flow has moved in each step less what the displacement has, shape
        (n - 1, size), in J per unit of the effort.
    """

    power: Floats
    largest: float
    flow: Floats
    speed: Floats
    behind: Floats


def late_motion(samples: Samples, system: System, port: LedgerPort, lost: Floats) -> Floats:
    """Return the work of a port's flow that its displacement has not done, J since the begin.

    In each step it is ``P / v * (v h - dx)``: the effort that dissipates, times the way that the
    flow ``v`` is ahead of the displacement ``x``. An effort that stores is along the displacement,
    and needs no part of it. At an initial flow ``v`` a damper ``d`` thus gets ``d v**2 tau`` until
    the motion arrives, ``tau`` later.

    lost: What the port's component dissipates, J since the begin, in the rows of the run.
    Returns: Shape (n,); zero if the port does not take both as inputs, or if the displacement is
        further behind than delays, faults and three steps of the connections explain.
    """
    ticks, pace = samples.ticks(*port.bond.connectors), samples.pace(*port.bond.connectors)
    step_samples, longer = samples.at_steps(ticks), samples.at_steps(pace)
    energy = step_samples.spread(_late_work(step_samples, system, port, lost[::ticks]))
    if pace > ticks and longer.is_long:
        energy = longer.corrected(energy, _late_work(longer, system, port, lost[::pace]))
    return energy


def _late_work(step_samples: Samples, system: System, port: LedgerPort, lost: Floats) -> Floats:
    """Return it at the ends of some steps."""
    lengths, dissipated = np.diff(step_samples.time), np.diff(lost)
    parts = list(_parts(step_samples, system, port))
    total = sum((part.power for part in parts), np.zeros_like(lengths))
    work = np.zeros_like(lengths)
    for part in parts:
        speed = np.linalg.norm(part.flow, axis=1)
        effort = _ratio(dissipated / lengths, part.speed).clip(-part.largest, part.largest)
        along = _ratio((part.flow * part.behind).sum(axis=1), speed)
        work += _ratio(part.power, total) * effort * along
    return np.concatenate([[0.0], np.cumsum(work)])


def _ratio(over: Floats, under: Floats) -> Floats:
    """Divide where the divisor is not 0; else 0."""
    return np.divide(over, under, out=np.zeros_like(over), where=under > 0.0)


def _parts(samples: Samples, system: System, port: LedgerPort) -> Iterator[_Late]:
    """Yield the efforts of a port whose motion comes late by no more than its delays explain."""
    lines = {str(line.target): line for line in system.connections}
    motion, lengths = port.bond.motion, np.diff(samples.time)
    for effort, moved, flow in zip(
        port.bond.effort, motion.displacement, motion.flow, strict=False
    ):
        feeds = [lines.get(str(signal_of(system, name).end)) for name in (moved, flow)]
        inputs = samples.is_input(moved) and samples.is_input(flow)
        if not inputs or None in feeds:
            continue
        rows, displacement = samples.scale("W", effort, flow) * samples.at(flow), samples.at(moved)
        mean = 0.5 * (rows[1:] + rows[:-1])
        squares = (rows**2).sum(axis=1)
        root_mean_square = np.sqrt(0.5 * (squares[1:] + squares[:-1]))
        behind = mean * lengths[:, None]
        behind -= samples.scale("J", effort, moved) * np.diff(displacement, axis=0)
        late_s = sum(_longest_s(line, samples, float(lengths.max())) for line in feeds if line)
        faulty = any(samples.has_fault(line) for line in feeds if line)
        far = float(np.abs(np.cumsum(behind, axis=0)).max(initial=0.0))
        if not faulty and far > late_s * float(np.abs(mean).max(initial=0.0)):
            continue
        pushed = samples.at(effort)
        power = np.abs((0.5 * (pushed[1:] + pushed[:-1]) * mean).sum(axis=1))
        yield _Late(
            power, float(np.linalg.norm(pushed, axis=1).max()), mean, root_mean_square, behind
        )


def _longest_s(line: Connection, samples: Samples, step_s: float) -> float:
    """Return by how much a connection may be late, with its steps."""
    source, target = samples.ticks(str(line.source)), samples.ticks(str(line.target))
    return samples.longest_ns(line) / 1e9 + _STEPS * step_s * max(1.0, source / target)
