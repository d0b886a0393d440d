"""Iteration of loops in plain Python: see fixed_point.cpp and newton.cpp of the engine."""

from __future__ import annotations

from itertools import count
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from oracle.reference_tangent import differentiate

from orchestrator.core.master.plan import Iteration

if TYPE_CHECKING:
    from oracle.reference import Reference

Vector = list[float]
_PERTURBATION = 1e-6
_LEAST_PIVOT = 1e-8
_DEEPEST = 5
_MOST_JUMP = 1e16
_MOST_HALVINGS = 6


class RefusedError(RuntimeError):
    """A unit did not do a step, or gave what is no number."""


class LoopError(RuntimeError):
    """A loop did not converge."""


def solve(reference: Reference, number: int, first: int, end: int) -> None:
    """Iterate the operations ``first`` to ``end - 1`` until loop ``number`` has converged."""
    body = _Body(reference, number, first, end)
    try:
        if body.table.method in (Iteration.NEWTON, Iteration.NEWTON_BY_DERIVATIVES):
            _newton(body)
        else:
            _fixed_point(body)
    except RefusedError as error:
        if body.count > 1:
            raise LoopError(f"loop {number}: {error}") from error
        raise


class _Body:
    """One pass through a loop as a function of its unknowns."""

    def __init__(self, reference: Reference, number: int, first: int, end: int) -> None:
        self.reference = reference
        self.number = number
        self.table = reference.plan.loops[number]
        self.range = first, end
        self.units = [reference.units[i] for i in self.table.members]
        self.states = [unit.get_state() for unit in self.units]
        self.x = [float(reference.signals[i]) for i in self.table.unknowns]
        self.discrete = [float(reference.signals[i]) for i in self.table.discrete]
        self.texts = [reference.texts[i] for i in self.table.texts]
        self.changed = False
        self.count = 0
        self.uncounted = 0
        self.g: Vector = []
        self.residual: Vector = []

    def evaluate(self, x: Vector) -> None:
        if self.count:
            for unit, state in zip(self.units, self.states, strict=True):
                unit.set_state(state)
        self.count += 1
        self.reference.evaluations += 1
        signals = self.reference.signals
        for slot, value in zip(self.table.unknowns, x, strict=True):
            signals[slot] = value
        for slot, value in zip(self.table.discrete, self.discrete, strict=True):
            signals[slot] = value
        for row, text in zip(self.table.texts, self.texts, strict=True):
            self.reference.texts[row] = text
        self.reference.execute(*self.range)
        found = [float(signals[i]) for i in self.table.discrete]
        texts = [self.reference.texts[i] for i in self.table.texts]
        self.changed = (found, texts) != (self.discrete, self.texts)
        self.discrete, self.texts = found, texts
        self.g = [float(signals[i]) for i in self.table.unknowns]
        self.residual = [g - value for g, value in zip(self.g, x, strict=True)]

    def excess(self) -> float:
        tolerance = self.table.tolerance
        errors = [
            abs(r) / (tolerance * max(1.0, abs(g)))
            for r, g in zip(self.residual, self.g, strict=True)
        ]
        return max([2.0 if self.changed else 0.0, *errors])

    def exhausted(self) -> bool:
        return self.count - self.uncounted >= self.table.most_iterations

    def expect_more(self) -> None:
        if self.exhausted():
            raise LoopError(f"loop {self.number}: {self.residual}")


def _dot(a: Vector, b: Vector) -> float:
    total = 0.0
    for one, other in zip(a, b, strict=True):
        total += one * other
    return total


def _fixed_point(body: _Body) -> None:
    basis: list[tuple[Vector, Vector]] = []
    relaxation = 1.0
    last: tuple[Vector, Vector] | None = None
    while True:
        body.evaluate(body.x)
        if body.excess() <= 1.0:
            return
        body.expect_more()
        before = body.x
        if body.table.method is Iteration.ANDERSON:
            body.x = _mixed(body, basis, last)
        else:
            if last is not None and body.table.method is Iteration.AITKEN:
                change = [a - b for a, b in zip(body.residual, last[0], strict=True)]
                below = _dot(change, change)
                relaxation *= -_dot(last[0], change) / below if below > 0.0 else 1.0
            body.x = [x + relaxation * r for x, r in zip(body.x, body.residual, strict=True)]
        last = body.residual, body.g
        jump = [x - b for x, b in zip(body.x, before, strict=True)]
        if _dot(jump, jump) > _MOST_JUMP * _dot(body.residual, body.residual):
            raise LoopError(f"loop {body.number}: it jumps")


def _mixed(
    body: _Body, basis: list[tuple[Vector, Vector]], last: tuple[Vector, Vector] | None
) -> Vector:
    if last is not None:
        _remember(body, basis, last)
    rest, x = list(body.residual), list(body.g)
    for change, step in basis:
        gamma = _dot(change, rest)
        rest = [r - gamma * c for r, c in zip(rest, change, strict=True)]
        x = [value - gamma * s for value, s in zip(x, step, strict=True)]
    return x


def _remember(body: _Body, basis: list[tuple[Vector, Vector]], last: tuple[Vector, Vector]) -> None:
    if len(basis) == min(_DEEPEST, len(body.x)):
        basis.clear()
    change = [a - b for a, b in zip(body.residual, last[0], strict=True)]
    step = [a - b for a, b in zip(body.g, last[1], strict=True)]
    whole = sqrt(_dot(change, change))
    for old_change, old_step in basis:
        part = _dot(old_change, change)
        change = [c - part * o for c, o in zip(change, old_change, strict=True)]
        step = [s - part * o for s, o in zip(step, old_step, strict=True)]
    rest = sqrt(_dot(change, change))
    if rest > 1e-10 * whole:
        basis.append(([c / rest for c in change], [s / rest for s in step]))


def _newton(body: _Body) -> None:
    jacobians = body.reference.jacobians
    body.evaluate(body.x)
    before = body.excess()
    fresh = False
    while body.excess() > 1.0:
        body.expect_more()
        jacobian = jacobians[body.number]
        if jacobian is None:
            fresh = not _by_derivatives(body)
            made = _differences(body) if fresh else _derivatives(body)
            jacobian = jacobians[body.number] = made
        step = _direction(jacobian, body.residual)
        if step is None:
            if fresh:
                raise LoopError(f"loop {body.number}: its Jacobian is singular")
            _renew(body)
            continue
        _go(body, jacobian, step, before)
        now = body.excess()
        if now > 0.5 * before and now > 1.0 and not fresh:
            _renew(body)
        fresh = False
        before = now


def _evaluated(body: _Body, x: Vector) -> bool:
    """Evaluate, unless a unit refuses the point."""
    try:
        body.evaluate(x)
    except RefusedError:
        if body.exhausted():
            raise
        return False
    return True


def _go(body: _Body, jacobian: list[Vector], step: Vector, before: float) -> None:
    base, part = body.residual, 1.0
    for halving in count():
        there = [x + part * s for x, s in zip(body.x, step, strict=True)]
        if _evaluated(body, there):
            enough = body.excess() <= max(1.0, 1.5 * before)
            if enough or halving >= _MOST_HALVINGS or body.exhausted():
                break
        part *= 0.5
    body.x = there
    square = 0.0
    for value in step:
        square += part * part * value * value
    if square == 0.0:
        return
    for i, row in enumerate(jacobian):
        miss = body.residual[i] - base[i]
        for k, value in enumerate(step):
            miss -= row[k] * part * value
        for k, value in enumerate(step):
            row[k] += miss * part * value / square


def _by_derivatives(body: _Body) -> bool:
    by_units = body.table.method is Iteration.NEWTON_BY_DERIVATIVES
    return by_units and body.number not in body.reference.differenced


def _renew(body: _Body) -> None:
    body.reference.differenced.add(body.number)
    body.reference.jacobians[body.number] = None


def _derivatives(body: _Body) -> list[Vector]:
    columns = []
    for slot in body.table.unknowns:
        tangent = np.zeros(len(body.reference.signals))
        tangent[slot] = 1.0
        differentiate(body.reference, *body.range, tangent)
        columns.append([float(tangent[i]) for i in body.table.unknowns])
    size = len(columns)
    return [
        [columns[k][i] - 1.0 if i == k else columns[k][i] for k in range(size)] for i in range(size)
    ]


def _differences(body: _Body) -> list[Vector]:
    base, image = body.residual, body.g
    size = len(base)
    jacobian = [[0.0] * size for _ in range(size)]
    for k in range(size):
        there = list(body.x)
        change = _PERTURBATION * max(1.0, abs(body.x[k]))
        there[k] = body.x[k] + change
        body.uncounted += 1
        try:
            body.evaluate(there)
        except RefusedError:  # the edge of where it is defined
            there[k] = body.x[k] - change
            body.uncounted += 1
            body.evaluate(there)
        for i in range(size):
            jacobian[i][k] = (body.residual[i] - base[i]) / (there[k] - body.x[k])
    body.residual, body.g = base, image
    return jacobian


def _direction(jacobian: list[Vector], residual: Vector) -> Vector | None:
    """Solve ``J s = -r`` by elimination with row pivots; ``None`` where J is singular."""
    rows = [list(row) for row in jacobian]
    step = [-r for r in residual]
    size = len(step)
    for k in range(size):
        pivot = k
        for i in range(k + 1, size):
            if abs(rows[i][k]) > abs(rows[pivot][k]):
                pivot = i
        if not abs(rows[pivot][k]) > _LEAST_PIVOT:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        step[k], step[pivot] = step[pivot], step[k]
        for i in range(k + 1, size):
            factor = rows[i][k] / rows[k][k]
            for j in range(k + 1, size):
                rows[i][j] -= factor * rows[k][j]
            step[i] -= factor * step[k]
    for k in reversed(range(size)):
        for j in range(k + 1, size):
            step[k] -= rows[k][j] * step[j]
        step[k] /= rows[k][k]
    return step
