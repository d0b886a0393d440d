"""Linear model of a unit that says nothing of its inside: from its responses to small pulses."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.simunits import SimulationUnit
from orchestrator.core.structs import replace
from orchestrator.core.system import DataType
from orchestrator.loops.block_model import SHORTER, SHORTEST
from orchestrator.loops.loop_account import signal_names
from orchestrator.loops.periodic_model import (
    MOST_HIDDEN,
    SILENT,
    PulseTrial,
    Rewound,
    StepGrid,
    hidden_period,
    missed_by,
    periodic_model,
)
from orchestrator.loops.state_space import Floats, StateSpace, UnitModel, of_transition

_log = logging.getLogger(__name__)
#: Steps that a response is followed for, and the largest order that is looked for.
_STEPS = 64
_MOST_STATES = 24
#: A pulse as a share of the input's value (or of 1), and singular values that are noise then.
_PULSE = 1e-3
_NOISE = 1e-8
#: Share of the largest answer that one map of all steps may miss of an excitation: a unit that
#: samples misses it wholly.
_VARIES = 1e-2
#: Seconds that the responses of a unit take without being told.
_LONG = 60.0
#: Steps that the responses of a unit may take that restarts for each of them.
MOST_STEPS = 100_000
#: Share of a response that may differ between a pulse up and one down: the size of a pulse.
_ODD = 1e-3
#: The same of an output, of all inputs: what differs as much as it answers is no linear answer.
_CROOKED = 1.0
#: Share of its largest response that a model may leave: more is noise, and its modes are nobody's.
_LEFT = 1e-3
#: Share of a response to shorter steps that a model may miss: what a unit's own integration leaves.
#: A mode above half the rate of the steps misses it wholly.
_MISSED = 1e-3
#: The same of the responses to the steps themselves, by a model of shorter ones.
_COMPOSED = 1e-2
#: Share of a motion that may differ between a unit that goes back and one that was restarted.
_ALIKE = 0.01


def response_model(
    unit: SimulationUnit,
    inputs: Floats,
    time_ns: int,
    step_ns: int,
    replayed: Rewound | None,
    fresh: Callable[[], SimulationUnit] | None = None,
) -> UnitModel:
    """Identify a unit from what its outputs do after a pulse of one step in each input.

    For each input the unit goes back to its present state, or is stepped there again where it
    cannot. The responses make a Hankel matrix, whose factors are a state-space model of the steps
    (Ho and Kalman, with singular values): the part that inputs reach and outputs show, which is
    what a loop feels.

    unit: Between two steps.
    inputs: What its bound inputs are, float64 of shape (m,).
    time_ns, step_ns: Begin and length of its next step.
    replayed: Gives another instance, from a run that was led to this point; ``None``: nothing does.
    fresh: Gives one once, to see whether the unit goes back as it says; ``None``: it is trusted.
    Raises CapabilityError: if the unit cannot go back and nothing gives another, it fails where it
        is tried, or no linear model of few states answers as it does.
    """
    goes_back = _goes_back(unit, inputs, time_ns, step_ns, fresh)
    rewound = rewinding(unit, None if goes_back else replayed)
    ports = signal_names(unit.name, unit.inputs), signal_names(unit.name, unit.outputs)

    def responses(length_ns: int) -> Floats:
        return _responses(unit, rewound, inputs, time_ns, length_ns)[0]

    can = unit.description.capabilities
    pulses, odd, crooked = _responses(unit, rewound, inputs, time_ns, step_ns)
    transition, order, misfit = _realised(pulses)
    trial = PulseTrial(rewound, unit, inputs, StepGrid.of(time_ns, step_ns), 0)
    missed, answers = missed_by(trial, transition, order)
    allowed = max(_VARIES, odd)
    varies = (missed > allowed or misfit > _LEFT) and crooked <= _CROOKED
    if varies and (phases := hidden_period(trial)) > 1:
        trial.order = can.input_order
        return periodic_model(trial, phases, trial.grid.first, "answers as a unit that samples")
    _expect_linear(unit, crooked, order, misfit)
    if missed > allowed:
        _refuse_varying(trial, missed)
    own_space = of_transition(transition, step_ns / 1e9, _names(unit, order), *ports)
    space, length_ns = own_space, 0
    if can.can_vary_step and (order or answers):
        space, length_ns = _unfolded(own_space, responses, (step_ns, pulses), unit, ports)
    alone = not length_ns and bool(order or (can.can_vary_step and answers))
    remarks = [
        *_how_known(unit, order, misfit, goes_back=goes_back),
        *_doubts(unit, step_ns, odd, answers=answers, alone=alone),
    ]
    if space is not None and order and not alone and length_ns != step_ns:
        remarks.append(
            f"component '{unit.name}' has modes above half the rate of its steps of"
            f" {step_ns / 1e6:g} ms: it is identified from steps of {length_ns / 1e6:.4g} ms"
        )
        transition = space.transition(step_ns / 1e9, order=0)
    names = _names(unit, order) if space is None else space.states
    if alone and can.can_vary_step and can.input_order:
        trial.order = can.input_order  # what it does of inputs that move, no rates tell
        model = periodic_model(trial, 1, trial.grid.first, "is known by its steps alone")
        return replace(model, continuous=own_space, remarks=tuple(remarks))

    def after(length_ns: int, *, order: int) -> Floats:
        if length_ns == step_ns and not order:
            return transition
        if space is None:
            raise CapabilityError(
                f"component '{unit.name}' is known for steps of {step_ns / 1e6:g} ms with held"
                " inputs only"
            )
        return space.transition(length_ns / 1e9, order=order)

    return UnitModel(unit.name, "responses", names, after, space, tuple(remarks))


def _how_known(unit: SimulationUnit, order: int, misfit: float, *, goes_back: bool) -> list[str]:
    provenance = f"identified from {_STEPS} steps, order {order}, to {misfit:.1e} of its largest"
    remarks = [f"component '{unit.name}' is {provenance} response"]
    if not goes_back:
        says_so = unit.description.capabilities.can_roll_back
        cannot = "does not rightly" if says_so else "cannot"
        remarks.append(
            f"component '{unit.name}' {cannot} go back to a state (canGetAndSetFMUstate): it"
            " restarted for every response"
        )
    return remarks


def _doubts(
    unit: SimulationUnit, step_ns: int, odd: float, *, answers: bool, alone: bool
) -> list[str]:
    remarks = []
    if not answers and unit.outputs and unit.inputs:
        remarks.append(
            f"no output of component '{unit.name}' answered to its inputs within"
            f" {SILENT * step_ns / 1e9:g} s: if it samples them with a longer period, its loops are"
            " not those that are listed"
        )
    if odd > _ODD:
        remarks.append(
            f"component '{unit.name}' answers a pulse up and one down differently: by {odd:.1e} of"
            " its largest response"
        )
    if alone:
        remarks.append(
            f"component '{unit.name}' is known by its steps of {step_ns / 1e6:g} ms alone: it is"
            " sampled, or what it does above half their rate is not seen"
        )
    return remarks


def _refuse_varying(trial: PulseTrial, missed: float) -> NoReturn:
    """Refuse a unit whose steps have different maps and no period."""
    trial.refuse(
        f"how it answers to its inputs changes from step to step, by {missed:.1e} of the"
        f" largest answer, and does not repeat within {MOST_HIDDEN} steps of"
        f" {float(trial.grid.step_ns) / 1e6:g} ms: it samples with a longer period or one that"
        " has none in common with the step, or it is not linear; choose a step that divides its"
        " sample period, or linearise it at another time"
    )


def _expect_linear(unit: SimulationUnit, crooked: float, order: int, misfit: float) -> None:
    """Expect responses that a linear model of few states gives: no other modes are its own."""
    reason = ""
    if crooked > _CROOKED:
        reason = (
            "an output answers pulses up and down differently, by"
            f" {crooked:.1e} of its largest response; linearise it at another time"
        )
    elif misfit > _LEFT:
        reason = (
            f"of its responses over {_STEPS} steps a model of {order} states leaves {misfit:.1e} of"
            " the largest; linearise it at another time or with a longer step"
        )
    if reason:
        raise CapabilityError(f"component '{unit.name}' cannot be linearised: {reason}")


def _goes_back(
    unit: SimulationUnit,
    inputs: Floats,
    time_ns: int,
    step_ns: int,
    fresh: Callable[[], SimulationUnit] | None,
) -> bool:
    """Whether a unit goes back to a state, and steps on from there as one of which none is kept.

    Some begin each step at the stored state where they learn that they may be restored.
    """
    if not unit.description.capabilities.can_roll_back or fresh is None:
        return unit.description.capabilities.can_roll_back
    pushed = inputs + np.where(_reals(unit), _PULSE * np.where(inputs, np.abs(inputs), 1.0), 0.0)
    rows = np.zeros((3, sum(c.size for c in unit.outputs)))
    unit.get(rows[0])
    begun = unit.get_state()
    for row, stepped in ((rows[1], unit), (rows[2], fresh())):
        stepped.set(pushed)
        stepped.do_step(time_ns, step_ns)
        stepped.do_step(time_ns + step_ns, step_ns)
        stepped.get(row)
    unit.set_state(begun)
    moved = np.abs(rows[1:] - rows[0]).max(axis=0)
    return bool((np.abs(rows[2] - rows[1]) <= _ALIKE * moved + _NOISE * np.abs(rows[0])).all())


def _reals(unit: SimulationUnit) -> NDArray[np.bool_]:
    """Return which of the inputs are real numbers."""
    return np.array([c.type is DataType.REAL for c in unit.inputs for _ in range(c.size)], bool)


def rewinding(unit: SimulationUnit, replayed: Rewound | None) -> Rewound:
    """Return what gives the unit as it is now: another that was led here, or else itself."""
    if replayed is not None:
        return replayed
    if not unit.description.capabilities.can_roll_back:
        raise CapabilityError(
            f"component '{unit.name}' cannot be linearised: it has no interface for Model Exchange"
            " and cannot go back to a state (canGetAndSetFMUstate), and its system has components"
            " that are not started anew for it: expected FMUs and blocks alone"
        )
    saved = unit.get_state()

    @contextmanager
    def restored() -> Iterator[SimulationUnit]:
        unit.set_state(saved)
        try:
            yield unit
        finally:
            unit.set_state(saved)

    return restored


def _names(unit: SimulationUnit, order: int) -> tuple[str, ...]:
    return tuple(f"{unit.name}.x[{i}]" for i in range(1, order + 1))


def _unfolded(
    own_space: StateSpace | None,
    responses: Callable[[int], Floats],
    reference: tuple[int, Floats],
    unit: SimulationUnit,
    ports: tuple[tuple[str, ...], tuple[str, ...]],
) -> tuple[StateSpace | None, int]:
    """Return the continuous model that gives shorter steps as well, and the steps that it is from.

    The logarithm of a step has no modes above half its rate; see :mod:`.block_model`. Where no
    shorter steps are answered, or none alike, it is the own one, and from 0 ns. So it is where the
    model of shorter steps does not give the responses to the steps themselves: a unit that samples
    answers nothing in the shorter ones.

    known: Length of the steps in ns, and the responses to pulses of one of them.
    """
    step_ns, reference_pulses = reference
    space, length_ns = own_space, step_ns
    while (shorter_ns := round(SHORTER * length_ns)) and step_ns < SHORTEST * length_ns:
        try:
            pulses = responses(shorter_ns)
        except CapabilityError:
            break
        if space is not None:
            predicted = _pulses_of(space.transition(shorter_ns / 1e9, order=0), pulses.shape)
            if np.abs(predicted - pulses).max() <= _MISSED * np.abs(pulses).max():
                predicted = _pulses_of(
                    space.transition(step_ns / 1e9, order=0), reference_pulses.shape
                )
                if (
                    np.abs(predicted - reference_pulses).max()
                    > _COMPOSED * np.abs(reference_pulses).max()
                ):
                    break
                return space, length_ns
        transition, order, _ = _realised(pulses)
        length_ns, names = shorter_ns, _names(unit, order)
        space = of_transition(transition, shorter_ns / 1e9, names, *ports)
    return own_space, 0


def _pulses_of(transition: Floats, shape: tuple[int, ...]) -> Floats:
    """Return the responses (steps, outputs, inputs) of a model to pulses of one step."""
    steps, p = shape[:2]
    n = len(transition) - p
    pulses = np.empty(shape)
    pulses[0], state = transition[n:, n:], transition[:n, n:]
    for k in range(1, steps):
        pulses[k], state = transition[n:, :n] @ state, transition[:n, :n] @ state
    return pulses


def _responses(
    unit: SimulationUnit, rewound: Rewound, inputs: Floats, time_ns: int, step_ns: int
) -> tuple[Floats, float, float]:
    """Return the responses (steps, outputs, inputs) to pulses of height 1, and how odd they are.

    The first share is of an input's largest response, the second of an output's to all inputs, as
    far as it is more than what its own integration leaves.
    """
    count = sum(c.size for c in unit.outputs)
    reals = _reals(unit)
    many, steps = 1 + 2 * int(reals.sum()), time_ns // step_ns + _STEPS
    if not unit.description.capabilities.can_roll_back and many * steps > MOST_STEPS:
        raise CapabilityError(
            f"component '{unit.name}' cannot be linearised: it cannot go back to a state"
            f" (canGetAndSetFMUstate), and {many} responses, for each of which it starts anew and"
            f" takes {steps} steps, are more than {MOST_STEPS} steps; linearise it at an earlier"
            " time or with a longer step"
        )
    began = monotonic()
    at_rest = _followed(rewound, inputs, inputs, count, time_ns, step_ns)
    expected_s = (many - 1) * (monotonic() - began)
    if expected_s > _LONG:
        _log.warning(
            "component '%s' is slow: its %d responses at steps of %g ms take about %.0f s",
            *(unit.name, many - 1, step_ns / 1e6, expected_s),
        )
    all_of = np.zeros((_STEPS, count, inputs.size))
    odd, alike, unlike = 0.0, np.zeros(count), np.zeros(count)
    for i in np.flatnonzero(reals):  # Integers and Booleans stay as they are
        pulse = inputs.copy()
        size = _PULSE * (abs(inputs[i]) or 1.0)
        pulse[i] += size
        up = _followed(rewound, pulse, inputs, count, time_ns, step_ns) - at_rest
        pulse[i] = inputs[i] - size
        down = at_rest - _followed(rewound, pulse, inputs, count, time_ns, step_ns)
        all_of[:, :, i] = (up + down) / (2.0 * size)
        scale = np.abs(all_of[:, :, i]).max(initial=0.0)
        if scale:
            odd = max(odd, float(np.abs(up - down).max() / (size * scale)))
        alike = np.maximum(alike, np.abs(up + down).max(axis=0) / 2.0)
        unlike = np.maximum(unlike, np.abs(up - down).max(axis=0))
    crooked = unlike > _ODD * _PULSE * np.abs(at_rest).max(axis=0)
    with np.errstate(divide="ignore"):
        return all_of, odd, float((unlike[crooked] / alike[crooked]).max(initial=0.0))


def _followed(
    rewound: Rewound,
    first: Floats,
    then: Floats,
    count: int,
    time_ns: int,
    step_ns: int,
) -> Floats:
    rows = np.zeros((_STEPS, count))
    with rewound() as unit:
        for k in range(_STEPS):
            unit.set(np.ascontiguousarray(first if k == 0 else then))
            result = unit.do_step(time_ns + k * step_ns, step_ns)
            if result.status > 1:
                raise CapabilityError(
                    f"component '{unit.name}' cannot be linearised: it failed in step {k + 1} of a"
                    f" response: {result.reason or f'status {result.status}'}"
                )
            unit.get(rows[k])
    if not np.isfinite(rows).all():
        raise CapabilityError(
            f"component '{unit.name}' cannot be linearised: an output is not finite in a response"
            " to a pulse at this point; linearise it at another time"
        )
    return rows


def _realised(pulses: Floats) -> tuple[Floats, int, float]:
    """Return the transition ((n + p) x (n + m)) of a model with these responses, n, its misfit.

    Where noise would have more states than are given, it is the smallest that is good enough: more
    states have modes of the noise.
    """
    steps, p, m = pulses.shape
    half = (steps - 1) // 2
    hankel = np.block([[pulses[1 + i + j] for j in range(half)] for i in range(half)])
    left_vectors, values, right = np.linalg.svd(hankel, full_matrices=False)
    scale = np.abs(pulses).max(initial=0.0)
    floor = max(values.max(initial=0.0), scale)

    def of_order(order: int) -> tuple[Floats, int, float]:
        root = np.sqrt(values[:order])
        observed, reached = left_vectors[:, :order] * root, root[:, None] * right[:order]
        a = np.linalg.lstsq(observed[:-p], observed[p:], rcond=None)[0] if order else observed[:0]
        b, c = reached[:, :m], observed[:p]
        state, worst = b.copy(), 0.0
        for k in range(1, steps):
            worst = max(worst, float(np.abs(c @ state - pulses[k]).max(initial=0.0)))
            state = a @ state
        return np.block([[a, b], [c, pulses[0]]]), order, worst / scale if scale else 0.0

    order = int(np.sum(values > _NOISE * floor))
    if order <= _MOST_STATES:
        return of_order(order)
    orders = (of_order(order) for order in range(1, _MOST_STATES))
    return next(
        (candidate for candidate in orders if candidate[2] <= _LEFT), of_order(_MOST_STATES)
    )
