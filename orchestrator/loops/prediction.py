"""Growth of contact loops, predicted with the values and the delays of a finished run.

Of a linear one, in continuous time:

    m s^2 + b s exp(-s h_b) + K exp(-s h_K) = 0

Spring and damper each have the delay of the loops that go through their component: a damper in
software may have none where the spring is hardware.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product

import numpy as np
from pydantic import Field

from orchestrator.core.coupling import LoopDelay
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.diagnostics.validation import Table
from orchestrator.core.recording import Result
from orchestrator.core.system import Loop, System
from orchestrator.loops import StateSpace
from orchestrator.loops.contact import BodyChain, ContactLoop, ForceCorrection, SampledContactLoop
from orchestrator.loops.delayed_loop import DelayedLoop

#: A number, or the parameter that holds it: ``"component.parameter"``.
Quantity = float | str


class ContactLoopSpec(Table):
    """A linear contact loop, to predict a growth rate from the delay that a run reports.

    Each is a number (kg, N/m, N.s/m) or the parameter that holds it, ``"component.parameter"``.
    """

    mass: Quantity
    stiffness: Quantity
    damping: Quantity

    def problems(self, system: System) -> Iterator[str]:
        """Say what keeps the figures from being read off a system."""
        for name, value in self:
            if isinstance(value, str):
                try:
                    system.value(value)
                except DescriptionError as error:
                    yield f"{name}: {error}"

    def growth_rate(self, result: Result, system: System, later: Mapping[str, int]) -> float:
        """Predict the growth rate of a finished run, 1/s.

        result, system: The run, for its delays, and what was run.
        later: By how much faults make connections later, in nanoseconds.
        Raises DescriptionError: if a figure is none, or the loops of spring or damper have no
            common delay.
        """
        mass, stiffness, damping = (
            number_of(figure, system) for figure in (self.mass, self.stiffness, self.damping)
        )
        spring = _delay("stiffness", self.stiffness, result, later)
        damper = _delay("damping", self.damping, result, later)
        loop = ContactLoop(mass, stiffness, damping, spring)
        return loop.growth_rate if damper == spring else _growth_rate(loop, damper)


class SampledLoopSpec(Table):
    """A chain of bodies that meets hardware at samples, to predict how fast a run grows.

    See :class:`orchestrator.loops.contact.SampledContactLoop` for the figures; each is a number, or
    the parameter that holds it. ``force_line`` is the connection on which the measured force comes
    back to the bodies or to the compensation; with a compensation, ``position_line`` brings it the
    robot's position and ``desired_line`` that of the bodies. The delays of the loops through these
    lines, as the run reports them, are the loop's.
    """

    masses: tuple[Quantity, ...] = Field(min_length=2)
    link_stiffness: tuple[Quantity, ...] = ()
    link_damping: tuple[Quantity, ...] = ()
    stiffness: Quantity
    damping: Quantity
    bandwidth: Quantity
    zeta: Quantity
    sensor_lag: Quantity
    lead_rest: Quantity = 1.0
    believed_stiffness: Quantity | None = None
    believed_damping: Quantity | None = None
    half_sample: bool | str = True
    force_line: str
    position_line: str | None = None
    desired_line: str | None = None

    def problems(self, system: System) -> Iterator[str]:
        """Say what keeps the figures from being read off a system."""
        believed = self.believed_stiffness, self.believed_damping
        present = [
            value is not None for value in (*believed, self.position_line, self.desired_line)
        ]
        if any(present) and not all(present):
            yield (
                "believed_stiffness, believed_damping, position_line and desired_line: expected"
                " all of them with a compensation, else none"
            )
        for name in type(self).model_fields:
            number = getattr(self, name)
            figures = number if isinstance(number, tuple) else (number,)
            if name.endswith("_line"):
                if number is not None and number not in map(str, system.connections):
                    yield f"{name}: no connection '{number}'"
                continue
            for figure in figures:
                if isinstance(figure, str):
                    try:
                        number_of(figure, system)
                    except DescriptionError as error:
                        yield f"{name}: {error}"

    def growth_rate(self, result: Result, system: System, later: Mapping[str, int]) -> float:
        """Predict the growth rate of a run, 1/s; see :meth:`ContactLoopSpec.growth_rate`."""
        at = partial(number_of, system=system)
        step = result.step_ns / 1e9
        correction, force, position, held = None, _around(self.force_line, result, later), 0.0, 0.0
        if self.desired_line is not None and self.position_line is not None:
            # The loop without hardware has the half step of the hold, which the matrix has, too.
            held = _around(self.desired_line, result, later) - 0.5 * step
            force -= held
            position = _around(self.position_line, result, later) - held
            half = self.half_sample
            correction = ForceCorrection(
                at(self.believed_stiffness or 0.0),
                at(self.believed_damping or 0.0),
                bool(system.value(half)) if isinstance(half, str) else half,
            )
        links = self.masses, self.link_stiffness, self.link_damping
        chain = BodyChain(*(tuple(map(at, figures)) for figures in links))
        loop = SampledContactLoop(
            chain,
            at(self.stiffness),
            at(self.damping),
            step,
            bandwidth=at(self.bandwidth),
            zeta=at(self.zeta),
            sensor_lag=at(self.sensor_lag),
            lead_rest=at(self.lead_rest),
            correction=correction,
            force_delay=force,
            position_delay=position,
            output_delay=held,
        )
        return loop.growth_rate


#: What a growth rate is predicted from.
Prediction = ContactLoopSpec | SampledLoopSpec


def number_of(figure: Quantity, system: System) -> float:
    """Give a figure as a number."""
    value = system.value(figure) if isinstance(figure, str) else figure
    if isinstance(value, str | tuple):
        raise DescriptionError(f"'{figure}': expected a number, found {value!r}")
    return float(value)


def totals_of(entry: LoopDelay, ring: Loop, later: Mapping[str, int]) -> set[int]:
    """Give the delays of all rings that a loop stands for, with what faults add, in nanoseconds.

    entry, ring: Delay of a loop, and the loop; between two components a ring goes along any of its
        lines.
    later: By how much faults make connections later, in nanoseconds.
    """
    added: dict[tuple[str, str], set[int]] = {}
    for line in ring.lines:
        ends = line.source.component, line.target.component
        added.setdefault(ends, set()).add(later.get(str(line), 0))
    return {round(entry.total_ns + sum(along)) for along in product(*added.values())}


def _around(line: str, result: Result, later: Mapping[str, int]) -> float:
    """Delay of all loops through a connection, s; lags of units are not counted."""
    totals = {
        total
        for entry in result.loops
        for ring in entry.loops
        if line in map(str, ring.lines)
        for total in totals_of(entry, ring, later)
    }
    if len(totals) != 1:
        delays = ", ".join(f"{total / 1e6:g} ms" for total in sorted(totals)) or "none"
        raise DescriptionError(
            f"case '{result.name}': a prediction needs one delay common to all loops through"
            f" {line}, found: {delays}"
        )
    return totals.pop() / 1e9


def _growth_rate(loop: ContactLoop, damper: float) -> float:
    """Growth rate with another delay of the damper, s, than the loop's, which is the spring's."""
    body = StateSpace(
        np.array([[0.0, 1.0], [0.0, 0.0]]),
        np.array([[0.0], [1.0 / loop.mass]]),
        np.eye(2),
        np.zeros((2, 1)),
        ("position", "velocity"),
        ("force",),
        ("position", "velocity"),
    )
    gains = {
        loop.delay: np.array([[-loop.stiffness, 0.0]]),
        damper: np.array([[0.0, -loop.damping]]),
    }
    return DelayedLoop.closed(body, gains).roots(1)[0].real


def _delay(name: str, figure: float | str, result: Result, later: Mapping[str, int]) -> float:
    """Delay of all loops through the component that holds a figure, s; of a number, of all."""
    rings = [(entry, ring) for entry in result.loops for ring in entry.loops]
    component = figure.rpartition(".")[0] if isinstance(figure, str) else None
    through = [(entry, ring) for entry, ring in rings if component in entry.components]
    totals = {total for entry, ring in through or rings for total in totals_of(entry, ring, later)}
    if len(totals) == 1:
        return totals.pop() / 1e9
    delays = ", ".join(f"{total / 1e6:g} ms" for total in sorted(totals)) or "none"
    those = f"the loops through '{component}'" if through else "the loops"
    name_it = "" if through else "; name the parameter of a component that is in one of them"
    raise DescriptionError(
        f"case '{result.name}', predict.{name}: expected one delay of all {those}, found:"
        f" {delays}{name_it}"
    )
