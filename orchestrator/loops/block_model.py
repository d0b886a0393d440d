"""Linear model of a Python block, and Jacobians: by differences, which tell where there is none."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import CapabilityError, exits_are_errors
from orchestrator.core.simunits import Block, BlockUnit
from orchestrator.core.structs import Struct
from orchestrator.core.system import Causality, DataType
from orchestrator.loops.loop_account import signal_names
from orchestrator.loops.state_space import StateSpace, UnitModel, of_transition

Floats = NDArray[np.float64]

#: Half width of a difference, as a share of the point's size; its square is the share of the error
#: that extrapolation leaves, and rounding is amplified by its inverse.
_WIDTH = 1e-3
#: One-sided slopes that differ by more than this share of themselves, at half the width as well.
_KINK = 1e-2
#: Widths by which the point lies beyond a kink if one side of it is wanted.
_BEYOND = 4.0


class Side(StrEnum):
    """Which side of a kink is taken: where more acts, as a contact does that is closed, or less."""

    MEAN = "mean"
    OPEN = "open"
    CLOSED = "closed"

    @property
    def description(self) -> str:
        """What is taken, in words."""
        both = "the mean of both sides is taken"
        return both if self is Side.MEAN else f"the side of {self} contact is taken"


class Jacobian(Struct):
    """Derivatives at a point.

    matrix: float64 of shape (results, arguments).
    kinks: Numbers of the arguments at which slopes to both sides differ: a contact that is just
        open, a limit that is just reached.
    """

    matrix: Floats
    kinks: tuple[int, ...]


def jacobian(
    function: Callable[[Floats], Floats], point: Floats, sizes: Floats, side: Side = Side.MEAN
) -> Jacobian:
    """Differentiate by central differences of two widths, extrapolated to the fourth order."""
    middle = function(point)
    columns, shift = np.zeros((middle.size, point.size)), np.zeros(point.size)
    kinks = []
    for i, size in enumerate(sizes):
        slopes, gaps, sides = [], [], []
        for width in (_WIDTH * size, 0.5 * _WIDTH * size):
            ahead, behind = point.copy(), point.copy()
            ahead[i] += width
            behind[i] -= width
            up, down = function(ahead), function(behind)
            width_up, width_down = ahead[i] - point[i], point[i] - behind[i]
            slopes.append((up - down) / (width_up + width_down))
            gaps.append(np.abs((up - middle) / width_up - (middle - down) / width_down))
            sides.append((up, down))
        columns[:, i] = (4.0 * slopes[1] - slopes[0]) / 3.0
        # The gap of a smooth function halves with the width; that of a kink stays.
        rounding = 1e-10 * np.abs(middle).max(initial=0.0) / (_WIDTH * size)
        large = gaps[1] > _KINK * np.abs(slopes[1]) + rounding
        if np.any(large & (gaps[1] > 0.75 * gaps[0])):
            kinks.append(i)
            # Between two points on one side: what jumps at the kink itself has no part in it.
            ahead_acts, behind_acts = (
                np.abs(np.subtract(*ends)).sum() for ends in zip(*sides, strict=True)
            )
            shift[i] = math.copysign(_BEYOND * _WIDTH * size, ahead_acts - behind_acts)
    if kinks and side is not Side.MEAN:
        there = point + shift if side is Side.CLOSED else point - shift
        return Jacobian(jacobian(function, there, sizes).matrix, tuple(kinks))
    return Jacobian(columns, tuple(kinks))


#: Two halves of a step make the whole one, up to this share, where a block lives in continuous
#: time: what differences and the block's own integration leave.
_COMPOSES = 1e-6
#: Shorter steps, as a share that no whole numbers make: a mode that one length shows folded is not
#: folded alike by the next; and how much shorter they become.
SHORTER, SHORTEST = 0.381966, 1000.0
#: What changes a step by no more than this share does not act: where an iteration began.
_ACTS = 1e-9


def block_model(unit: BlockUnit, time_ns: int, step_ns: int, side: Side = Side.MEAN) -> UnitModel:
    """Linearise a running block about its present states and inputs.

    Its states are its declared ones that are made of floating-point numbers, and its outputs, as
    far as a step reads them; all others are kept as they are.
    """
    step = _Step(unit, time_ns, side)

    @lru_cache(maxsize=32)
    def differences(length_ns: int) -> Jacobian:
        return step.jacobian(length_ns, 0)

    def transition(length_ns: int, *, order: int) -> Floats:
        return step.jacobian(length_ns, order).matrix if order else differences(length_ns).matrix

    differences_at = differences(step_ns)
    space, remark = _continuous(step, differences, step_ns)
    kinks = tuple((*step.names, *step.inputs)[i] for i in differences_at.kinks)
    remarks = [f"{name} is at a kink: {side.description}" for name in kinks]
    return UnitModel(
        unit.name,
        "differences",
        step.names,
        transition,
        space,
        (*remarks, *remark),
        kinks,
    )


class _Step:
    """One step of a block as a function of numbers."""

    def __init__(self, unit: BlockUnit, time_ns: int, side: Side) -> None:
        self._unit, self._time, self._side = unit, time_ns / 1e9, side
        saved = unit.get_state()
        if not isinstance(saved, Mapping):
            raise CapabilityError(
                f"component '{unit.name}' cannot be linearised: its block saves no states by name"
            )
        self._saved = dict(saved)
        connectors = unit.description.connectors
        self._inputs = [c.name for c in unit.inputs]
        self._outputs = [c.name for c in unit.outputs]
        others = {
            name
            for name, c in connectors.items()
            if c.causality is not Causality.OUTPUT or c.type is not DataType.REAL
        }
        #: Where the numbers are: the name, and the way to it in lists, tuples and dictionaries.
        self._places = [
            (name, *keys)
            for name, value in self._saved.items()
            if name not in others
            for keys in _ways(value)
        ]
        self.owner = unit.name
        self.names = tuple(
            f"{unit.name}.{name}{''.join(f'[{key}]' for key in keys)}"
            for name, *keys in self._places
        )
        self.inputs = signal_names(unit.name, unit.inputs)
        self.outputs = signal_names(unit.name, unit.outputs)

    def jacobian(self, step_ns: int, order: int) -> Jacobian:
        """Differentiate (states, outputs) after a step by what was before it.

        That is states, inputs, and derivatives of all inputs up to an order.
        """
        begin = [_at(self._saved, path) for path in self._places]
        inputs = [float(v) for name in self._inputs for v in np.ravel(self._saved[name])]
        point = np.array([*begin, *inputs, *[0.0] * (order * len(inputs))], dtype=np.float64)
        sizes = np.abs(point)
        sizes[sizes == 0.0] = 1.0
        for k in range(1, order + 1):  # what moves an input by its size until the end
            rate = math.factorial(k) / (step_ns / 1e9) ** k
            first = len(begin) + k * len(inputs)
            sizes[first : first + len(inputs)] = rate * sizes[len(begin) :][: len(inputs)]

        def after(point: Floats) -> Floats:
            return self._after(point, step_ns / 1e9)

        try:
            with exits_are_errors():
                derivatives = jacobian(after, point, sizes, self._side)
        except CapabilityError:
            raise
        except Exception as error:
            raise CapabilityError(
                f"component '{self._unit.name}' cannot be linearised: a step of its block failed:"
                f" {type(error).__name__}: {error}"
            ) from error
        finally:
            self._unit.block.set_state(copy.deepcopy(self._saved))
        self._expect_finite(derivatives)
        return derivatives

    def _expect_finite(self, derivatives: Jacobian) -> None:
        bad_rows = np.flatnonzero(~np.isfinite(derivatives.matrix).all(axis=1))
        if not len(bad_rows):
            return
        name = (*self.names, *self.outputs)[bad_rows[0]]
        at = (
            f" ({self._side.description})"
            if self._side is not Side.MEAN and derivatives.kinks
            else ""
        )
        raise CapabilityError(
            f"component '{self._unit.name}' cannot be linearised: next to this point{at} '{name}'"
            " is not finite after a step"
        )

    def _moving(self, block: Block, derivatives: list[float]) -> Mapping[str, Floats]:
        """Return the inputs over a step, of the derivatives of all inputs, order after order."""
        held_inputs = block.held_inputs()
        slopes = iter(derivatives)
        for k in range(1, 1 + len(derivatives) // max(1, len(self.inputs))):
            for name in self._inputs:
                connector = self._unit.description.connectors[name]
                values = [next(slopes) for _ in range(connector.size)]
                if name in held_inputs:
                    held_inputs[name][k] = np.reshape(values, connector.shape)
        return held_inputs

    def _after(self, point: Floats, length: float) -> Floats:
        block = self._unit.block
        state = {
            name: value if isinstance(value, float | int | str) else copy.deepcopy(value)
            for name, value in self._saved.items()
        }
        for path, value in zip(self._places, point, strict=False):
            state[path[0]] = _with(state[path[0]], path[1:], float(value))
        inputs = iter(point[len(self._places) :])
        connectors = self._unit.description.connectors
        for name in self._inputs:
            connector = connectors[name]
            values = [float(next(inputs)) for _ in range(connector.size)]
            if connector.shape:
                state[name] = np.array(values).reshape(connector.shape)
            elif connector.type is DataType.REAL:
                state[name] = values[0]  # Integers and Booleans stay as they are
        block.set_state(state)
        if block.follows_inputs():
            block.follow(self._time, length, self._moving(block, list(inputs)))
        else:
            block.step(self._time, length)
        ended = block.get_state()
        outputs = [float(v) for name in self._outputs for v in np.ravel(ended[name])]
        return np.array([*(_at(ended, path) for path in self._places), *outputs])


def _ways(value: Any) -> Iterator[tuple[Any, ...]]:
    """Give the way to each floating-point number in a value."""
    if isinstance(value, float):
        yield ()
    elif isinstance(value, np.ndarray) and value.dtype.kind == "f":
        yield from np.ndindex(value.shape)
    elif isinstance(value, (list, tuple)):
        yield from ((i, *keys) for i, entry in enumerate(value) for keys in _ways(entry))
    elif isinstance(value, dict):
        yield from ((key, *keys) for key, entry in value.items() for keys in _ways(entry))


def _at(state: Any, path: tuple[Any, ...]) -> float:
    for i, key in enumerate(path):
        if isinstance(state, np.ndarray):
            return float(state[path[i:]])
        state = state[key]
    return float(state)


def _with(held: Any, path: tuple[Any, ...], value: float) -> Any:
    """Return a value with another number in one place; tuples are copied."""
    if not path:
        return value
    if isinstance(held, np.ndarray):
        held[path] = value
        return held
    changed = _with(held[path[0]], path[1:], value)
    if isinstance(held, tuple):
        return (*held[: path[0]], changed, *held[path[0] + 1 :])
    held[path[0]] = changed
    return held


def _continuous(
    step: _Step, differences: Callable[[int], Jacobian], step_ns: int
) -> tuple[StateSpace | None, tuple[str, ...]]:
    """Find the continuous model of the block; ``None``: there is none.

    Outputs that no step reads are no states of it. The logarithm of a step has no modes above half
    its rate: the model holds if it gives a shorter step as well, else it is that of a shorter one.
    """
    matrix = differences(step_ns).matrix
    n = len(step.names)
    scale = np.abs(matrix).max(initial=0.0)
    active = [i for i in range(n) if np.abs(matrix[:, i]).max() > _ACTS * scale]
    window = np.ix_([*active, *range(n, matrix.shape[0])], [*active, *range(n, matrix.shape[1])])
    names = tuple(step.names[i] for i in active)

    def steps(length_ns: int) -> Floats:
        return np.asarray(differences(length_ns).matrix[window])

    def model(length_ns: int) -> StateSpace | None:
        transition = steps(length_ns)
        return of_transition(transition, length_ns / 1e9, names, step.inputs, step.outputs)

    reference = model(step_ns)
    if not active:
        return reference, ()
    length_ns, space = step_ns, reference
    while (shorter_ns := round(SHORTER * length_ns)) and step_ns < SHORTEST * length_ns:
        if space is not None and _same(
            space.transition(shorter_ns / 1e9, order=0), steps(shorter_ns)
        ):
            if length_ns == step_ns:
                return space, ()
            message = (
                f"component '{step.owner}' has modes above half the rate of its steps of"
                f" {step_ns / 1e6:g} ms: in continuous time it is what gives steps of"
                f" {length_ns / 1e6:.4g} ms"
            )
            return space, (message,)
        if not _composes(steps, len(active), length_ns):
            break
        length_ns, space = shorter_ns, model(shorter_ns)
    subject = (
        "no rates give its step"
        if reference is None
        else "in continuous time it is what gives its steps"
    )
    return reference, (f"component '{step.owner}' is sampled: {subject}",)


def _composes(steps: Callable[[int], Floats], states: int, length_ns: int) -> bool:
    """Whether both halves of a step, with inputs held, make the whole one."""
    first, second = steps(length_ns // 2), steps(length_ns - length_ns // 2)
    both = second[:, :states] @ first[:states]
    both[:, states:] += second[:, states:]
    return _same(both, steps(length_ns))


def _same(a: Floats, b: Floats) -> bool:
    return bool(np.abs(a - b).max() <= _COMPOSES * np.abs(b).max())
