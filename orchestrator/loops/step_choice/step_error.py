"""What one communication step does to the loops of a system, as shares of what they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.loops.loop_account import (
    continuous_loop,
    coupled_groups,
    exact_roots,
    growth_size,
    sampled_roots,
)
from orchestrator.loops.period_map import PeriodMap
from orchestrator.loops.run_account import LinearSystem
from orchestrator.loops.step_choice.sampled_margin import LoopMargins

_TURN = 2.0 * math.pi
#: A mode counts as long as it dies down no faster than so many radians of the least damped one.
_LASTING = 10.0
#: What to do where a loop has no modes that steps could be held against.
_INSTEAD = (
    "no step is chosen by modes there: 'softdock analyze loop' tells the loop as sampled, at any"
    " --step, and 'softdock run --verify' compares runs with H and H/2"
)


@dataclass(frozen=True)
class LoopModes:
    """The modes of one loop in continuous time that a step must leave as they are.

    Parameters
    ----------
    components
        Those of the loop.
    roots
        Its characteristic roots, 1/s, the least damped first.
    free
        Number of its motions that are free, such as that of bodies that float as a whole.
    """

    components: tuple[str, ...]
    roots: tuple[complex, ...]
    free: int


@dataclass(frozen=True)
class Deviation:
    """One figure of a loop: what it is, and what a step makes of it.

    Parameters
    ----------
    name
        Such as ``growth of the mode of 0.29 Hz``.
    exact, sampled
        The figure in continuous time and as the schedule makes it, in ``unit``; the latter is
        ``None`` where samples do not show it.
    unit
        Of both.
    share
        Their difference as a share of the figure's size; infinite where ``sampled`` is ``None``.
    """

    name: str
    exact: float
    sampled: float | None
    unit: str
    share: float

    def as_json(self) -> dict[str, Any]:
        """Return plain data; an infinite share is ``None``."""
        return {
            "name": self.name,
            "exact": self.exact,
            "sampled": self.sampled,
            "unit": self.unit,
            "share": self.share if math.isfinite(self.share) else None,
        }


@dataclass(frozen=True)
class StepError:
    """What a step does to all loops.

    Parameters
    ----------
    step_ns
        The communication step, ns.
    deviations
        Of all figures that count.
    size
        How many numbers the schedule remembers.
    """

    step_ns: int
    deviations: tuple[Deviation, ...]
    size: int

    @property
    def worst(self) -> Deviation:
        """The figure that is farthest off."""
        return max(self.deviations, key=lambda one: one.share)

    @property
    def share(self) -> float:
        """How far that is."""
        return self.worst.share


def reference_modes(linear: LinearSystem, count: int) -> tuple[LoopModes, ...]:
    """Return the modes in continuous time that a step must leave as they are.

    They are the least damped ones of each loop: at most ``count`` of them, and none that dies down
    within a small part of a turn of the first.
    """
    period_map = linear.period_map()
    found: list[LoopModes] = []
    refused: list[DescriptionError] = []
    for group in coupled_groups(linear.system):
        free = sampled_roots(period_map, group)[1]
        try:
            loop = continuous_loop(linear.system, linear.models, group)
        except (CapabilityError, DescriptionError) as error:
            refused.append(type(error)(f"loop of {', '.join(group)}: {error}; {_INSTEAD}"))
            continue
        roots = exact_roots(loop, count)
        if roots:
            slowest = roots[0].real - _LASTING * abs(roots[0])
            kept = tuple(root for root in roots if root.real >= slowest)
            found.append(LoopModes(group, kept, free))
    if refused:
        raise DescriptionError.collect(refused)
    return tuple(found)


def step_error(
    linear: LinearSystem,
    modes: Sequence[LoopModes],
    margins: Sequence[LoopMargins] = (),
    tolerance: float = 1.0,
) -> StepError:
    """Say what a schedule does to some modes and margins."""
    period_map = linear.period_map()
    deviations = [one for loop in modes for one in _of_modes(period_map, loop)]
    worst = max((one.share for one in deviations), default=0.0)
    if worst <= tolerance:
        deviations += [
            Deviation(limit.name, limit.exact, sampled, limit.unit, limit.share(sampled))
            for loop in margins
            for limit, sampled in loop.as_sampled(linear)
        ]
    return StepError(linear.step_ns, tuple(deviations), period_map.size)


def at_step(linear: LinearSystem, step_ns: int, algorithm: str | None = None) -> LinearSystem:
    """Return a system with another step, and with another algorithm if one is given.

    Components with a rate keep the length of their steps, as that is their sample time. Options
    are those of the system's own algorithm: another one has its default ones.
    """
    master = linear.master
    rates = {}
    for name, ticks in master.rates.items():
        kept = ticks * linear.step_ns
        if kept % step_ns:
            raise DescriptionError(
                f"component '{name}' has steps of {kept / 1e6:.9g} ms, which are no multiple of"
                f" {step_ns / 1e6:.9g} ms"
            )
        rates[name] = kept // step_ns
    own = algorithm in {None, master.algorithm}
    master = replace(
        master,
        algorithm=algorithm or master.algorithm,
        algorithm_options=master.algorithm_options if own else {},
        rates=rates,
    )
    return replace(linear, step_ns=step_ns, master=master)


def _of_modes(period_map: PeriodMap, loop: LoopModes) -> list[Deviation]:
    """Compare the modes of one loop, each with the sampled root that is nearest."""
    sampled, _ = sampled_roots(period_map, loop.components)
    fastest = max((root.real for root in sampled), default=-math.inf)
    deviations = []
    left = list(sampled)
    for root in loop.roots:
        near = min(left, key=lambda one, root=root: abs(one - root), default=None)  # type: ignore[misc]
        if near is not None:
            left.remove(near)
        deviations += _of_mode(root, near)
    first = loop.roots[0]
    stray = max((root.real for root in left), default=-math.inf)
    if stray == fastest and stray > first.real:
        share = (stray - first.real) / growth_size(first)
        name = f"a mode that grows faster than any of {', '.join(loop.components)} does"
        deviations.append(Deviation(name, first.real, stray, "1/s", share))
    return deviations


def _of_mode(root: complex, near: complex | None) -> list[Deviation]:
    told = f"the mode of {abs(root.imag) / _TURN:.4g} Hz"
    if root.imag == 0.0:
        told = f"the mode of {root.real:.4g} 1/s"
    if near is None:
        return [Deviation(f"growth of {told}", root.real, None, "1/s", math.inf)]
    found = [
        Deviation(
            f"growth of {told}",
            root.real,
            near.real,
            "1/s",
            abs(near.real - root.real) / growth_size(root),
        )
    ]
    if root.imag:
        turned = abs(near.imag)
        found.append(
            Deviation(
                f"frequency of {told}",
                root.imag / _TURN,
                turned / _TURN,
                "Hz",
                abs(turned - root.imag) / abs(root),
            )
        )
    return found
