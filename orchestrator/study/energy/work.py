"""Work of samples: integrals of powers, and of efforts along motions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.structs import Struct
from orchestrator.core.system import product_of
from orchestrator.study.energy.course import work_within
from orchestrator.study.energy.plan import Bond
from orchestrator.study.energy.samples import Samples

Floats = NDArray[np.float64]


class Work(Struct, eq=False):
    """Energy since the begin, J, shape (n,), and an estimate of its error at the end, J."""

    energy: Floats
    error: float = 0.0


def energy_of(samples: Samples, name: str) -> Work:
    """Return an energy, or the integral of a power; J since the begin in both cases."""
    step_samples = samples.at_steps(samples.ticks(name))
    rows = step_samples.at(name)[:, 0]
    factor = product_of("J", samples.connector(name))
    if factor is not None:
        return Work(step_samples.spread(factor * (rows - rows[0])))
    scale = samples.scale("W", name)
    power, (begins, ends) = scale * rows, step_samples.over(name)
    steps = np.diff(step_samples.time)
    fine = since_begin(0.5 * scale * steps * (begins + ends)[:, 0])
    coarse, last = _halved(step_samples.time, power)
    energy = step_samples.spread(fine)
    longer = samples.at_steps(samples.pace(name))
    if longer.is_long:
        curve = scale * longer.smooth(name)
        energy = longer.corrected(energy, since_begin(curve.integral()[:, 0]))
    return Work(energy, abs(fine[last] - coarse) / 3.0)


def work_of(samples: Samples, bond: Bond) -> Work:
    """Return the integral of efforts times flows.

    A held effort does the work of its value times the difference of the displacement, without any
    error of the quadrature. Where an input follows its signal within the steps, as the master let
    it, the work is that of its polynomials, and outputs are on cubics through four rows; the error
    is the difference to parabolas through three. All else is the trapezoidal rule over the steps.
    Of a component that takes several communication steps at once these are its own steps, and the
    work is known at their ends. Where effort and motion have steps of unequal lengths, each is on
    its own curves, or held for its own steps, within the communication steps.
    The error is a third of the difference to steps twice as long, or with a held effort a twelfth
    of the changes that the slope of the flow has, times the effort and the step.
    """
    total, error = np.zeros(len(samples.time)), 0.0
    for index in range(len(bond.effort)):
        part = _Pair(samples, bond, index).work()
        total, error = total + part.energy, error + part.error
    return Work(total, error)


def unsure_work(samples: Samples, bond: Bond, missed: Floats) -> float:
    """Return by how much the work of a bond may be wrong since cycles were missed, J.

    In a step in which a device missed the share ``m`` of the step's time, two things are not known.
    The motion is that of a time which differs by ``m``: at the step's power, whose size is at most
    ``max|e| |dx|`` over the step, that is ``m max|e| |dx|``. And the effort changed by ``de`` at an
    unknown moment within the step, so that each of its values may have acted on all of ``dx``:
    ``|de| |dx|``. Of a flow ``v`` in a step ``h``, ``|dx|`` is at most ``h max|v|``, and it changes
    at an unknown moment, too: ``h max|e| |dv|``. The bound is their sum over the steps with
    ``m > 0``; the work of all others is as sure as without a device.
    """
    indices = range(len(bond.effort))
    return sum(_Pair(samples, bond, index).unsure(missed) for index in indices)


class _Pair:
    """One effort and what it acts on."""

    def __init__(self, samples: Samples, bond: Bond, index: int) -> None:
        motion, effort = bond.motion, bond.effort[index]
        self._held = samples.is_input(effort)
        self._moved = index < len(motion.displacement)
        if not self._moved and index >= len(motion.flow):
            raise DescriptionError(f"effort '{effort}': expected a flow or a displacement")
        motion_name = motion.displacement[index] if self._moved else motion.flow[index]
        self._scale = samples.scale("J" if self._moved else "W", effort, motion_name)
        self._names = effort, motion_name
        self._about = bond if motion.arm and index == 1 else None
        arm = (motion.arm, bond.effort[0]) if self._about else ()
        lengths = {samples.ticks(name) for name in (effort, motion_name, *arm)}
        self._mixed = len(lengths) > 1
        self._all = samples
        self._samples = samples = samples if self._mixed else samples.at_steps(*lengths)
        self._motion = self._scale * samples.at(motion_name)
        self._begin, self._end = samples.over(effort)
        if self._begin.shape[1] != self._motion.shape[1]:
            raise DescriptionError(
                f"effort '{effort}' has {self._begin.shape[1]} elements, '{motion_name}' has"
                f" {self._motion.shape[1]}; expected as many"
            )
        if self._about:
            self._begin, self._end = self._about_arm(self._about)

    def _about_arm(self, bond: Bond) -> tuple[Floats, Floats]:
        arm = self._samples.at(bond.motion.arm)
        begin, end = self._samples.over(bond.effort[0])
        if not arm.shape[1] == begin.shape[1] == self._begin.shape[1] == 3:
            raise DescriptionError(f"arm '{bond.motion.arm}': expected three elements everywhere")
        return self._begin - np.cross(arm[:-1], begin), self._end - np.cross(arm[1:], end)

    def work(self) -> Work:
        """Return the work in all rows of the run."""
        step_work = self._work()
        energy = self._samples.spread(step_work.energy)
        longer = self._all.at_steps(self._all.pace(*self._names))
        if not (self._held or self._mixed or self._about) and longer.is_long:
            effort, motion = (longer.smooth(name) for name in self._names)
            first = longer.at(self._names[1])[0] if self._moved else None
            energy = longer.corrected(
                energy, since_begin(self._scale * work_within(effort, motion, first))
            )
        return Work(energy, step_work.error)

    def _work(self) -> Work:
        inputs = [*self._names, *(self._about.effort[:1] if self._about else ())]
        if self._mixed or any(self._samples.followed(name) is not None for name in inputs):
            best, coarse = self._within(4), self._within(3)
            return Work(best, float(abs(best[-1] - coarse[-1])))
        time = self._samples.time
        x, begin, end = self._motion, self._begin, self._end
        if self._moved:
            energy = since_begin((0.5 * (begin + end) * np.diff(x, axis=0)).sum(axis=1))
            return Work(energy, 0.0 if self._held else self._richardson(energy))
        steps = np.diff(time)
        energy = since_begin(0.5 * steps * (begin * x[:-1] + end * x[1:]).sum(axis=1))
        if not self._held:
            return Work(energy, self._richardson(energy))
        slopes = np.diff(x, axis=0) / steps[:, None]
        bent = np.diff(slopes, axis=0) * begin[1:]
        return Work(energy, float(abs((steps[1:, None] ** 2 * bent).sum()) / 12.0))

    def _within(self, rows: int) -> Floats:
        """Return the work since the first row, of outputs on curves through ``rows`` rows each."""
        samples = self._samples
        effort, motion = (samples.course(name, rows) for name in self._names)
        arm_and_force = None
        if self._about:
            names = self._about.motion.arm, self._about.effort[0]
            arm_and_force = tuple(samples.course(name, rows) for name in names)
        first = samples.at(self._names[1])[0] if self._moved else None
        return since_begin(self._scale * work_within(effort, motion, first, arm_and_force))

    def unsure(self, missed: Floats) -> float:
        """Return by how much the work of steps with missed cycles may be wrong."""
        x, begin, end = self._motion, self._begin, self._end
        before = np.vstack([begin[:1], end[:-1]]) if self._held else begin
        largest, change = np.maximum(abs(before), abs(end)), abs(end - before)
        moved = abs(np.diff(x, axis=0))
        turned = np.zeros_like(moved)
        if not self._moved:
            steps = np.diff(self._samples.time)[:, None]
            moved, turned = steps * np.maximum(abs(x[:-1]), abs(x[1:])), steps * moved
        share = self._samples.within(missed)[:, None]
        uncertainty = share * largest * moved + change * moved + largest * turned
        return float(uncertainty[share[:, 0] > 0.0].sum())

    def _richardson(self, fine: Floats) -> float:
        """Estimate the error from steps twice as long; efforts are samples here."""
        effort = np.vstack([self._begin[:1], self._end])
        if not self._moved:
            power = (effort * self._motion).sum(axis=1)
            coarse, last = _halved(self._samples.time, power)
        else:
            rows = effort[::2]
            coarse = float(
                (0.5 * (rows[1:] + rows[:-1]) * np.diff(self._motion[::2], axis=0)).sum()
            )
            last = 2 * (len(rows) - 1)
        return abs(float(fine[last]) - coarse) / 3.0


def since_begin(parts: Floats) -> Floats:
    """Return the sums of parts of steps, with 0 in front of the first step."""
    return np.concatenate([[0.0], np.cumsum(parts)])


def _halved(time: Floats, power: Floats) -> tuple[float, int]:
    """Trapezoidal rule over every second row, and the row at which that ends."""
    some, steps = power[::2], np.diff(time[::2])
    return float((0.5 * steps * (some[1:] + some[:-1])).sum()), 2 * len(steps)
