"""Linear model of a unit that samples: one transition for each step of its common period.

A unit with a sample clock answers an input only in the steps in which it samples, so its steps have
no single linear map. Its sample instants and the communication steps repeat together after a common
period of N steps. Over that period the unit is periodically time-varying: responses to pulses in
each of the N steps make one Hankel matrix for the begin of each step, whose factors are what the
unit remembers there (Ho and Kalman's method, as it is for periodic systems).

References
----------
Verhaegen, Yu: A class of subspace model identification algorithms to identify periodically and
arbitrarily time-varying systems, Automatica 31 (1995), 201-216: the realisation, a transition from
the factors of two neighbouring Hankel matrices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from typing import NoReturn

import numpy as np

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.simunits import SimulationUnit
from orchestrator.core.structs import Struct
from orchestrator.core.system import DataType
from orchestrator.core.system.time import exact_ns
from orchestrator.engine import MeUnit
from orchestrator.loops.state_space import Floats, StepTransition, UnitModel

#: Steps of a common period, at most: a longer one is refused by name.
MOST_PHASES = 100
#: Steps that the responses of a unit may take.
MOST_STEPS = 400_000
#: Largest number of states at the begin of a step.
_MOST_STATES = 24
#: Steps after a pulse, and before one, that a Hankel matrix has at least.
_HALF = 26
#: A pulse as a share of the input's value (or of 1).
_PULSE = 1e-3
#: Singular values that are noise, as a share of the largest response; more where pulses up and down
#: differ, which is what the unit's own integration leaves.
_NOISE, _MORE_NOISE, _MOST_NOISE = 1e-9, 10.0, 1e-4
#: Share of the largest response that a model may miss of an excitation of all inputs.
_MISSED = 1e-3
#: Share by which two responses may differ and still count as alike.
_ALIKE = 1e-4
#: Steps of an excitation, at least, and those after which none has answered.
EXCITED, SILENT = 192, 2048
#: Steps of a period that no time event declares, at most.
MOST_HIDDEN = 64
#: Steps after a pulse in which two phases are compared, to find a period that nobody declares.
_COMPARED = 26

#: Gives the unit as it is at the point, once more each time.
Rewound = Callable[[], AbstractContextManager[SimulationUnit]]


class StepGrid(Struct):
    """The steps of a unit, counted from the start of the run.

    step_ns: Exact length of a step.
    first: Number of the step that begins at the point.
    """

    step_ns: Fraction
    first: int

    @classmethod
    def of(cls, time_ns: int, step_ns: int, ticks: int = 1) -> StepGrid:
        """Return the steps from a time on; each is some communication steps long."""
        exact = ticks * exact_ns(step_ns)
        return cls(exact, round(time_ns / exact))

    def step(self, number: int) -> tuple[int, int]:
        """Return begin and length of a step in whole nanoseconds."""
        begin, end = (math.floor(k * self.step_ns + Fraction(1, 2)) for k in (number, number + 1))
        return begin, end - begin


class PulseTrial:
    """A unit that is tried again and again from the same point with other inputs.

    rewound: Gives the unit at the point.
    unit: For its ports and capabilities.
    inputs: What its bound inputs are, float64 of shape (m,).
    grid: Its steps.
    order: Highest derivative of inputs that is tried within a step.
    """

    def __init__(
        self, rewound: Rewound, unit: SimulationUnit, inputs: Floats, grid: StepGrid, order: int
    ) -> None:
        self._rewound, self._unit, self._inputs, self.grid = rewound, unit, inputs, grid
        self.name, self.order = unit.name, order
        self.outputs = sum(c.size for c in unit.outputs)
        self._begin = grid.first
        self._states: dict[int, object] = {}
        self._rest = np.zeros((0, self.outputs))
        self._goes_back = unit.description.capabilities.can_roll_back
        self.reals = np.array(
            [c.type is DataType.REAL for c in unit.inputs for _ in range(c.size)], dtype=bool
        )
        self.sizes = _PULSE * np.where(inputs, np.abs(inputs), 1.0)
        self.steps = 0

    @contextmanager
    def at_rest(self, begin: int, phases: int, steps: int) -> Iterator[None]:
        """Let the unit go on undisturbed, so that it can be disturbed from some of its steps on.

        begin: Number of the first step of the period.
        phases: Steps of the period, in each of which a disturbance may begin.
        steps: That a disturbance is followed for.
        """
        self._begin, self._states = begin, {}
        with self._rewound() as unit:
            lead = begin - self.grid.first
            self._follow(unit, self.grid.first, np.zeros((0, 0)), lead)
            self._rest = np.zeros((phases + steps, self.outputs))
            for k in range(phases + steps):
                if k < phases and self._goes_back:
                    self._states[k] = unit.get_state()
                self._rest[k] = self._follow(unit, begin + k, np.zeros((0, 0)), 1)[0]
            self._again = unit
            yield

    def disturbed(self, phase: int, moves: Floats, steps: int) -> Floats:
        """Return how outputs differ at the ends of some steps from what they are undisturbed.

        phase: Steps after the begin of the period at which the first of these steps begins.
        moves: Of the inputs and their derivatives, order after order, in the first steps; float64
            of shape (k, (1 + order) m).
        """
        if self._goes_back:
            self._again.set_state(self._states[phase])
            rows = self._follow(self._again, self._begin + phase, moves, steps)
        else:
            with self._rewound() as unit:
                lead = self._begin + phase - self.grid.first
                self._follow(unit, self.grid.first, np.zeros((0, 0)), lead)
                rows = self._follow(unit, self._begin + phase, moves, steps)
        return rows - self._rest[phase : phase + steps]

    def _follow(self, unit: SimulationUnit, begin: int, moves: Floats, steps: int) -> Floats:
        rows = np.zeros((steps, self.outputs))
        still, m = np.zeros(self.order * self._inputs.size), self._inputs.size
        for k in range(steps):
            time_ns, step_ns = self.grid.step(begin + k)
            move = moves[k] if k < len(moves) else None
            unit.set(self._inputs if move is None else self._inputs + move[:m])
            if self.order:
                slopes = still if move is None else np.ascontiguousarray(move[m:])
                unit.native.set_input_derivatives(slopes, self.order)
            result = unit.do_step(time_ns, step_ns)
            if result.failed:
                reason = result.reason or f"status {result.status}"
                self.refuse(f"it failed in step {k + 1} of a response: {reason}")
            unit.get(rows[k])
        self.steps += steps
        if not np.isfinite(rows).all():
            self.refuse(
                "an output is not finite in a response to a pulse at this point; linearise it at"
                " another time"
            )
        return rows

    def refuse(self, reason: str) -> NoReturn:
        """Raise CapabilityError with a reason."""
        raise CapabilityError(f"component '{self.name}' cannot be linearised: {reason}")

    def expect_steps(self, pulses: int, steps: int) -> None:
        """Expect that some pulses, each followed for some steps, are not too many."""
        lead = 0 if self._goes_back else self._begin  # each begins at the start of the run
        if pulses * (steps + lead) > MOST_STEPS:
            self.refuse(
                f"it samples, and {pulses} responses of {steps + lead} steps, which its common"
                f" period with the communication step needs, are more than {MOST_STEPS} steps;"
                " choose a communication step nearer to its sample period"
            )


def common_period(name: str, sample_s: float, step_ns: Fraction) -> int:
    """Return after how many steps the sample instants of a unit repeat.

    Raises CapabilityError: if they do not within :data:`MOST_PHASES` steps.
    """
    ratio = sample_s * 1e9 / float(step_ns)
    share = Fraction(ratio).limit_denominator(MOST_PHASES)
    if share.numerator and abs(float(share) - ratio) <= 1e-9 * ratio:
        if share.numerator <= MOST_PHASES:
            return share.numerator
        many = f"{share.numerator} steps, more than {MOST_PHASES}"
    else:
        many = "no whole number of steps"
    raise CapabilityError(
        f"component '{name}' cannot be linearised: it samples every {sample_s:g} s, and with steps"
        f" of {float(step_ns) / 1e6:g} ms that repeats after {many}; choose a communication step"
        " that has a short common period with it"
    )


#: Time events that are looked at, and how many may pass until they repeat.
_EVENTS, _PATTERN = 48, 16
#: Steps within which the next time event is looked for.
_NEAR_STEPS = 100_000


class SampleTimes(Struct):
    """Time events of a unit from a point on.

    times: In s.
    period: Seconds after which they repeat; 0: they do not.
    """

    times: tuple[float, ...]
    period: float

    @classmethod
    def of(cls, unit: SimulationUnit, native: MeUnit, time_ns: int, step_ns: int) -> SampleTimes:
        """Let a unit go on from event to event; it stays where the last of them was."""
        times: list[float] = []
        last_ns = time_ns + _NEAR_STEPS * step_ns
        while len(times) < _EVENTS and math.isfinite(due := native.next_event):
            end_ns = math.ceil(due * 1e9 - 1e-6 * (1.0 + due))  # but for the rounding of a double
            if end_ns > last_ns or unit.do_step(time_ns, max(end_ns - time_ns, 1)).failed:
                break
            time_ns = max(end_ns, time_ns + 1)
            times.append(due)
        for count in range(1, min(_PATTERN, len(times) // 3) + 1):
            intervals = np.subtract(times[count:], times[:-count])
            if np.ptp(intervals) <= 1e-9 * (abs(times[-1]) + intervals[0]):
                return cls(tuple(times), float(np.mean(intervals)))
        return cls(tuple(times), 0.0)


class Realisation(Struct):
    """What a unit does in each step of its period.

    steps: What takes (x, u, derivatives of u) to (x, y), one for each step, counted from the start
        of the run; float64 of shape (n + p, n + (1 + order) m).
    order: Number of states n.
    misfit: Share of the largest response that is missed of a random excitation.
    odd: Share of a response by which a pulse up and one down differ: the unit is not linear.
    """

    steps: tuple[Floats, ...]
    order: int
    misfit: float
    odd: float


def realised(trial: PulseTrial, phases: int, begin: int) -> Realisation:
    """Identify a unit whose steps repeat after some, from responses to pulses in each of them.

    begin: Number of a step at which the period of the unit has begun.
    """
    half = max(_HALF, 2 * phases + 2)
    length = 2 * half
    columns = (1 + trial.order) * trial.reals.size
    trial.expect_steps(2 * phases * (1 + trial.order) * int(trial.reals.sum()), length)
    pulses = np.zeros((phases, length, trial.outputs, columns))
    odd = 0.0
    excited = max(EXCITED, 4 * phases)
    with trial.at_rest(begin, phases, max(length, excited)):
        for phase in range(phases):
            odd = max(odd, _pulses(trial, phase, pulses[phase]))
        moves, answers = _excitation(trial, excited)
    scale = float(np.abs(pulses).max(initial=0.0))
    noise = min(max(_NOISE, _MORE_NOISE * odd), _MOST_NOISE)
    inner = pulses[..., : trial.reals.size]
    # Phases are counted from the start of the run, where the engine counts them too.
    steps, order = _periodic_realisation(inner, pulses, half, noise)
    steps = tuple(steps[(k - begin) % phases] for k in range(phases))
    model = _simulated(steps, begin, order, moves)
    largest = float(np.abs(answers).max(initial=0.0))
    missed = float(np.abs(model - answers).max(initial=0.0))
    floor = 1e-9 * scale * float(np.abs(moves).max(initial=0.0))
    return Realisation(steps, order, missed / largest if largest > floor else 0.0, odd)


def _pulses(trial: PulseTrial, phase: int, into: Floats) -> float:
    """Fill in the responses to pulses in one step; return how pulses up and down differ."""
    m, odd = trial.reals.size, 0.0
    _, step_ns = trial.grid.step(trial.grid.first)
    for r in range(1 + trial.order):
        for i in np.flatnonzero(trial.reals):  # Integers and Booleans stay as they are
            size = trial.sizes[i] * math.factorial(r) / (step_ns / 1e9) ** r
            move = np.zeros((1, into.shape[2]))
            move[0, r * m + i] = size
            up = trial.disturbed(phase, move, len(into))
            down = -trial.disturbed(phase, -move, len(into))
            into[:, :, r * m + i] = (up + down) / (2.0 * size)
            largest = float(np.abs(up + down).max(initial=0.0)) / 2.0
            if largest:
                odd = max(odd, float(np.abs(up - down).max()) / largest)
    if odd > 1.0:
        trial.refuse(
            "an output answers pulses up and down differently, by"
            f" {odd:.1e} of its largest response; linearise it at another time"
        )
    return odd


def _excitation(trial: PulseTrial, steps: int) -> tuple[Floats, Floats]:
    """Return random moves of all inputs in every step, and how the outputs answer to them."""
    m = trial.reals.size
    moves = np.zeros((steps, (1 + trial.order) * m))
    shares = np.random.default_rng(5).uniform(-1.0, 1.0, (steps, m))
    moves[:, :m] = shares * np.where(trial.reals, trial.sizes, 0.0)
    return moves, trial.disturbed(0, moves, steps)


def _periodic_realisation(
    held: Floats, pulses: Floats, half: int, noise: float
) -> tuple[tuple[Floats, ...], int]:
    """Return the transitions of a period from responses (phases, steps, outputs, inputs).

    held: To inputs alone, of which the Hankel matrices are made.
    pulses: To their derivatives as well.
    """
    phases, _, p, columns = pulses.shape
    scale = np.abs(held).max(initial=0.0)
    factors = [_factors(held, k, half, noise * scale) for k in range(phases)]
    order = max(observed.shape[1] for observed, _ in factors)
    phases_found = []
    for k in range(phases):
        observed, following = factors[k][0], factors[(k + 1) % phases][0]
        n, after = observed.shape[1], following.shape[1]
        step = np.zeros((order + p, order + columns))
        if after:
            if n:
                matrix = np.linalg.lstsq(following[:-p], observed[p:], rcond=None)[0]
                step[:after, :n] = matrix
            tail = pulses[k, 1 : 1 + half].reshape(half * p, columns)
            step[:after, order:] = np.linalg.lstsq(following, tail, rcond=None)[0]
        step[order:, :n] = observed[:p]
        step[order:, order:] = pulses[k, 0]
        phases_found.append(step)
    return tuple(phases_found), order


def _factors(pulses: Floats, k: int, half: int, floor: float) -> tuple[Floats, Floats]:
    """Return what is seen of the states at the begin of a step, and how they are reached."""
    phases = len(pulses)
    hankel = np.block(
        [[pulses[(k - 1 - j) % phases, i + 1 + j] for j in range(half)] for i in range(half)]
    )
    left_vectors, values, right = np.linalg.svd(hankel, full_matrices=False)
    order = min(int(np.sum(values > floor)), _MOST_STATES)
    root = np.sqrt(values[:order])
    return left_vectors[:, :order] * root, root[:, None] * right[:order]


def _simulated(steps: Sequence[Floats], begin: int, order: int, moves: Floats) -> Floats:
    """Return what a model answers to moves of its inputs."""
    state, p = np.zeros(order), len(steps[0]) - order
    rows = np.zeros((len(moves), p))
    for k, move in enumerate(moves):
        after = steps[(begin + k) % len(steps)] @ np.concatenate([state, move])
        state, rows[k] = after[:order], after[order:]
    return rows


def periodic_model(trial: PulseTrial, phases: int, begin: int, reason: str) -> UnitModel:
    """Return the model of a unit whose steps repeat after some.

    begin: Number of a step at which the unit's period has begun.
    why: How the period is known, for the remarks.
    Raises CapabilityError: if no linear model with that period answers as the unit does.
    """
    realisation = realised(trial, phases, begin)
    step_ns = float(trial.grid.step_ns)
    if realisation.misfit > max(_MISSED, realisation.odd):
        trial.refuse(
            f"{reason}, and of an excitation of its inputs a linear model that repeats"
            f" after {phases} steps of {step_ns / 1e6:g} ms leaves {realisation.misfit:.1e} of the"
            " largest answer; linearise it at another time or with another step"
        )
    m = trial.reals.size

    def of_phase(matrix: Floats) -> StepTransition:
        def after(length_ns: int, *, order: int) -> Floats:
            if abs(length_ns - step_ns) > 1.0 or order > trial.order:
                raise CapabilityError(
                    f"component '{trial.name}' samples: it is known for steps of"
                    f" {step_ns / 1e6:g} ms alone, with inputs"
                    + (f" up to derivative {trial.order}" if trial.order else " that are held")
                )
            return matrix[:, : realisation.order + (1 + order) * m]

        return after

    remark = (
        f"component '{trial.name}' {reason}: it is identified over {phases}"
        f" step{'s' if phases > 1 else ''} of {step_ns / 1e6:g} ms, order {realisation.order}, to"
        f" {realisation.misfit:.1e} of its largest answer"
    )
    return UnitModel(
        trial.name,
        "responses",
        tuple(f"{trial.name}.x[{i}]" for i in range(1, realisation.order + 1)),
        of_phase(realisation.steps[0]),
        None,
        (remark,),
        cycle=tuple(map(of_phase, realisation.steps)) if phases > 1 else (),
    )


def hidden_period(trial: PulseTrial, begin: int | None = None) -> int:
    """Return after how many steps the responses of a unit repeat; 0: too many.

    All inputs are moved together in one step, and that in each of the steps of two periods.

    begin: Number of a step at which the period has begun; ``None``: the first.
    """
    longest, count = MOST_HIDDEN, 2 * MOST_HIDDEN
    moves = _excitation_once(trial)
    rows = np.zeros((count, _COMPARED * trial.outputs))
    trial.expect_steps(count, _COMPARED)
    first = trial.grid.first if begin is None else begin
    with trial.at_rest(first, count, _COMPARED):
        for phase in range(count):
            rows[phase] = trial.disturbed(phase, moves, _COMPARED).ravel()
    largest = np.abs(rows).max(initial=0.0)
    for period in range(1, longest + 1):
        difference = np.abs(rows[period:] - rows[:-period]).max(initial=0.0)
        if difference <= _ALIKE * largest:
            return period
    return 0


def _excitation_once(trial: PulseTrial) -> Floats:
    m = trial.reals.size
    moves = np.zeros((1, (1 + trial.order) * m))
    shares = np.random.default_rng(7).uniform(0.5, 1.0, m)
    moves[0, :m] = shares * np.where(trial.reals, trial.sizes, 0.0)
    return moves


def missed_by(
    trial: PulseTrial, transition: Floats, order: int, steps: int = 0, longest: int = SILENT
) -> tuple[float, bool]:
    """Return the share of an excitation's answer that one transition misses, and if any came.

    transition, order: What is tried, and how many states it has.
    steps: For which the unit is excited at least; one that does not answer is followed for longer,
        as it may sample with a long period.
    longest: Steps for which it is followed then, at least ``EXCITED``.
    """
    steps = max(steps, EXCITED)
    while True:
        with trial.at_rest(trial.grid.first, 1, steps):
            moves, answers = _excitation(trial, steps)
        largest = float(np.abs(answers).max(initial=0.0))
        if largest or steps >= longest:
            break
        steps = longest
    model = _simulated((transition,), 0, order, moves[:, : trial.reals.size])
    size = max(largest, float(np.abs(model).max(initial=0.0)))
    missed = float(np.abs(model - answers).max(initial=0.0))
    return (missed / size if size else 0.0), bool(largest)
