"""How a trajectory of an FMU with events changes with its start: variational equations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import (
    CapabilityError,
    DescriptionError,
    StepError,
    UnknownNameError,
)
from orchestrator.core.simunits import unpacked
from orchestrator.core.structs import MutableStruct, Struct, field

Floats = NDArray[np.float64]
_ROUNDS = 100


class ExchangeInstance:
    """One instance, initialised, in continuous-time mode.

    folder: Where the FMU is unpacked.
    values: Start values by the names of Real variables.
    Raises CapabilityError: if the FMU is not of FMI 2.0, offers no Model Exchange or no directional
        derivatives.
    Raises UnknownNameError: if it has no Real variable of a name.
    Raises StepError: if it refuses to be initialised.
    """

    def __init__(self, folder: Path, values: Mapping[str, float]) -> None:
        from fmpy import read_model_description
        from fmpy.fmi2 import FMU2Model

        self.description = read_model_description(folder.as_posix(), validate=False)
        self.name = str(self.description.modelName)
        exchange = _expect(self.name, self.description)
        self._references = {
            v.name: v.valueReference for v in self.description.modelVariables if v.type == "Real"
        }
        slopes = [unknown.variable for unknown in self.description.derivatives]
        self.slopes = [v.valueReference for v in slopes]
        self._states = [v.derivative.valueReference for v in slopes]
        self.indicator_count = int(self.description.numberOfEventIndicators or 0)
        self.next_event = np.inf
        self._model: Any = FMU2Model(
            guid=self.description.guid,
            unzipDirectory=folder.as_posix(),
            modelIdentifier=exchange.modelIdentifier,
            instanceName=self.name,
        )
        self._buffer = np.zeros(max(len(slopes), self.indicator_count, 1))
        self._said: list[str] = []
        self._model.instantiate(callbacks=self._callbacks())
        try:
            self._initialise(values)
        except BaseException:
            self._model.freeInstance()
            raise

    def _callbacks(self) -> Any:
        from fmpy import calloc, fmi2, free

        callbacks = fmi2.fmi2CallbackFunctions()
        callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(self._hear)
        callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(calloc)
        callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(free)
        self._kept = callbacks  # the FMU calls them as long as it lives
        return callbacks

    def _hear(self, _who: Any, _name: Any, _status: int, _category: Any, text: Any) -> None:
        self._said.append((text or b"").decode(errors="replace"))

    def _initialise(self, values: Mapping[str, float]) -> None:
        model = self._model
        model.setupExperiment(startTime=0.0)
        references = self.references(values)
        try:
            model.setReal(references, list(values.values()))
            model.enterInitializationMode()
            model.exitInitializationMode()
        except Exception as error:
            raise StepError.about(
                f"FMU '{self.name}' refuses to be initialised with these values: "
                + (self._said[-1] if self._said else str(error))
            ) from error
        self.settle()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._model.freeInstance()

    def references(self, names: Iterable[str]) -> list[int]:
        """Return the value references of Real variables."""
        references = []
        for name in names:
            if name not in self._references:
                raise UnknownNameError.about(f"FMU '{self.name}' has no Real variable '{name}'")
            references.append(self._references[name])
        return references

    def states(self) -> Floats:
        """Return the continuous states, float64 of shape (n,)."""
        return self._read(self._model.getContinuousStates, len(self._states))

    def derivatives(self, time: float, states: Floats) -> Floats:
        """Return the states' derivatives at a point, float64 of shape (n,)."""
        self.set_point(time, states)
        return self._read(self._model.getDerivatives, len(self._states))

    def indicators(self, time: float, states: Floats) -> Floats:
        """Return the event indicators at a point, float64 of shape (k,)."""
        self.set_point(time, states)
        return self._read(self._model.getEventIndicators, self.indicator_count)

    def set_point(self, time: float, states: Floats) -> None:
        """Set time and continuous states."""
        self._model.setTime(time)
        array = np.ascontiguousarray(states)
        self._model.setContinuousStates(_pointer(array), array.size)

    def values(self, references: list[int]) -> Floats:
        """Return Real variables where the instance stands, float64 of shape (m,)."""
        return np.array(self._model.getReal(references) if references else [])

    def along(self, references: list[int], directions: Floats) -> Floats:
        """Return the change of variables with the states, along directions of shape (n, p).

        Returns: By ``fmi2GetDirectionalDerivative``, where the instance stands.
        """
        if not references:
            return np.zeros((0, directions.shape[1]))
        ask = self._model.getDirectionalDerivative
        return np.array([ask(references, self._states, seed) for seed in directions.T.tolist()]).T

    def completed(self) -> bool:
        """Say that an integrator step is completed; return whether the FMU asks for an event."""
        enter, ends = self._model.completedIntegratorStep()
        if ends:
            raise StepError.about(f"FMU '{self.name}' ended the simulation")
        return bool(enter)

    def event(self) -> None:
        """Handle the event at the present point."""
        self._model.enterEventMode()
        self.settle()

    def settle(self) -> None:
        """Iterate events until none is left, and go on in continuous time."""
        for _ in range(_ROUNDS):
            again, ends, _, _, planned, time = self._model.newDiscreteStates()
            if ends:
                raise StepError.about(f"FMU '{self.name}' ended the simulation")
            self.next_event = time if planned else np.inf
            if not again:
                self._model.enterContinuousTimeMode()
                return
        raise StepError.about(f"FMU '{self.name}': {_ROUNDS} rounds of events have not settled")

    def _read(self, function: Any, count: int) -> Floats:
        function(_pointer(self._buffer), count)
        return self._buffer[:count].copy()


def _pointer(array: Floats) -> Any:
    import ctypes

    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def _expect(name: str, description: Any) -> Any:
    exchange = description.modelExchange
    if description.fmiVersion != "2.0" or exchange is None:
        offers = "Co-Simulation only" if exchange is None else f"FMI {description.fmiVersion}"
        raise CapabilityError.about(
            f"sensitivities need an FMU of FMI 2.0 with Model Exchange; '{name}' offers {offers}"
        )
    if not exchange.providesDirectionalDerivative:
        raise CapabilityError.about(
            f"sensitivities need directional derivatives; FMU '{name}' provides none"
        )
    return exchange


#: Share of a start value by which it is moved to see which states it sets.
_MOVE = 1e-5
#: Share of a state's size by which it is moved to see how an event indicator changes.
_TURN = 1e-6
#: A state may jump by this share of its size at an event: it is put on the boundary that it is at.
_JUMP = 1e-6
_HALVINGS = 48
_LONGEST_CHAIN = 1000


class Moment(Struct):
    """An event, as just before it.

    Parameters
    ----------
    time, moves
        When, in s, and how that changes with the parameters, float64 of shape (p,).
    value, derivative
        Of the outputs at the event wherever it is, float64 of shapes (m,) and (m, p).
    """

    time: float
    moves: Floats
    value: Floats
    derivative: Floats


class Sensitivity(Struct):
    """A trajectory and its derivatives with respect to parameters.

    Parameters
    ----------
    parameters, outputs
        Names, p and m of them.
    time
        s, float64 of shape (n,): ends of steps; an event is not among them.
    value
        Of the outputs, float64 of shape (n, m).
    derivative
        At the same times, float64 of shape (n, m, p).
    events
        In their order.
    """

    parameters: tuple[str, ...]
    outputs: tuple[str, ...]
    time: Floats
    value: Floats
    derivative: Floats
    events: tuple[Moment, ...]


def trajectory_sensitivity(
    path: Path,
    parameters: Mapping[str, float],
    outputs: Sequence[str],
    *,
    stop: float,
    step: float,
) -> Sensitivity:
    """Run a Model Exchange FMU and differentiate its trajectory with respect to start values.

    The states x and S = dx/dp go together through the classic Runge-Kutta method: S' = (df/dx) S by
    the FMU's directional derivatives. At an event on the boundary h(x) = 0, S jumps by (f- - f+)
    dt/dp with dt/dp = -(dh/dx S)/h': the saltation matrix. Derivatives hold as long as the same
    events happen in the same order.

    Parameters
    ----------
    path
        FMU of FMI 2.0 with Model Exchange and directional derivatives.
    parameters
        Real parameters by name, and their values. They may set where states start, nothing else.
    outputs
        Real variables to differentiate; they follow from states and time.
    stop, step
        s, above 0. The error is of the fourth order in the step.

    Raises
    ------
    DescriptionError
        If no parameter is named, or the FMU has none of a name.
    CapabilityError
        If the FMU does not offer what is needed, a parameter acts on more than the start, or an
        event resets states.
    StepError
        If the FMU refuses the values, or its events do not settle.

    References
    ----------
    Hiskens, Pai: Trajectory sensitivity analysis of hybrid systems, IEEE TCAS-I 47 (2000).
    """
    if not parameters:
        raise DescriptionError("name at least one parameter for the sensitivities")
    folder = unpacked(path)
    with ExchangeInstance(folder.path, parameters) as instance:
        start = _start(folder.path, parameters)
        return _Trajectory(instance, start, tuple(parameters), tuple(outputs)).run(stop, step)


def _start(folder: Path, parameters: Mapping[str, float]) -> Floats:
    """Return how the states at the start change with parameters, float64 of shape (n, p)."""
    columns = []
    for name, value in parameters.items():
        width = _MOVE * max(abs(value), 1.0)
        with ExchangeInstance(folder, {**parameters, name: value + width}) as above:
            up = above.states()
            slopes = above.derivatives(0.0, up)
        with ExchangeInstance(folder, {**parameters, name: value - width}) as below:
            columns.append((up - below.states()) / (2.0 * width))
            here = below.derivatives(0.0, up)
            if np.max(np.abs(here - slopes), initial=0.0) > 1e-9 * np.max(
                np.abs(slopes), initial=1.0
            ):
                raise CapabilityError.about(
                    f"parameter '{name}' of FMU '{below.name}' acts on its equations, not only on"
                    " where its states start; sensitivities to such parameters are not offered"
                )
    return np.array(columns).T


class _Trajectory(MutableStruct, dict=True):
    """What is known of the trajectory up to now."""

    instance: ExchangeInstance
    s: Floats
    parameters: tuple[str, ...]
    outputs: tuple[str, ...]
    t: float = 0.0
    events: list[Moment] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.x = self.instance.states()
        self.references = self.instance.references(self.outputs)
        self.signs = self._signs(self.t, self.x)

    def run(self, stop: float, step: float) -> Sensitivity:
        times = np.linspace(0.0, stop, max(round(stop / step), 1) + 1)
        rows = [self._outputs(self.s)]
        for end in times[1:].tolist():
            self._to(end)
            rows.append(self._outputs(self.s))
        values, derivatives = (np.array(column) for column in zip(*rows, strict=True))
        return Sensitivity(
            self.parameters, self.outputs, times, values, derivatives, tuple(self.events)
        )

    def _outputs(self, directions: Floats) -> tuple[Floats, Floats]:
        self.instance.set_point(self.t, self.x)
        along = self.instance.along(self.references, directions)
        return self.instance.values(self.references), along

    def _to(self, end: float) -> None:
        """Go on to a time, through all events on the way."""
        for _ in range(_LONGEST_CHAIN):
            goal = min(end, self.instance.next_event)
            x = self._advanced(goal - self.t)
            if np.any(self._signs(goal, x) != self.signs):
                self._state_event(goal - self.t)
            else:
                self._move(goal - self.t)
                if goal == self.instance.next_event or self.instance.completed():
                    self._event(np.zeros(self.s.shape[1]))
            if self.t >= end:
                return
        raise CapabilityError.about(
            f"FMU '{self.instance.name}': {_LONGEST_CHAIN} events before {end} s"
        )

    def _signs(self, time: float, x: Floats) -> NDArray[np.bool_]:
        return self.instance.indicators(time, x) > 0.0

    def _state_event(self, step: float) -> None:
        """Go to the first change of an indicator within a step, and through it."""
        before, after = 0.0, step
        for _ in range(_HALVINGS):
            middle = 0.5 * (before + after)
            if np.any(self._signs(self.t + middle, self._advanced(middle)) != self.signs):
                after = middle
            else:
                before = middle
        self._move(after)
        changed = np.flatnonzero(self._signs(self.t, self.x) != self.signs)
        slopes = self.instance.derivatives(self.t, self.x)
        gradient, rate = self._gradient(int(changed[0]), slopes)
        self._event(-(gradient @ self.s) / rate)

    def _gradient(self, index: int, slopes: Floats) -> tuple[Floats, float]:
        """Return how an indicator changes with the states, and with time along the trajectory."""
        gradient = np.zeros(self.x.size)
        for i, size in enumerate(np.maximum(np.abs(self.x), 1.0)):
            ends = []
            for sense in (1.0, -1.0):
                moved = self.x.copy()
                moved[i] += sense * _TURN * size
                ends.append(self.instance.indicators(self.t, moved)[index])
            gradient[i] = (ends[0] - ends[1]) / (2.0 * _TURN * size)
        later, sooner = (
            self.instance.indicators(self.t + sense * _TURN, self.x)[index] for sense in (1.0, -1.0)
        )
        rate = float(gradient @ slopes) + (later - sooner) / (2.0 * _TURN)
        if abs(rate) <= 1e-9 * float(np.abs(gradient) @ np.abs(slopes)):
            raise CapabilityError.about(
                f"FMU '{self.instance.name}' only touches the boundary of an event at {self.t} s:"
                " the trajectory has no derivative there"
            )
        return gradient, rate

    def _event(self, moves: Floats) -> None:
        """Handle an event whose time changes by so much with the parameters, shape (p,)."""
        slopes = self.instance.derivatives(self.t, self.x)
        values, along = self._outputs(self.s + np.outer(slopes, moves))
        self.events.append(Moment(self.t, moves, values, along))
        self.instance.event()
        after = self.instance.states()
        if np.any(np.abs(after - self.x) > _JUMP * np.maximum(np.abs(self.x), 1.0)):
            raise CapabilityError.about(
                f"FMU '{self.instance.name}' resets states at {self.t} s; sensitivities through"
                " resets are not offered"
            )
        self.x = after
        self.s = self.s + np.outer(slopes - self.instance.derivatives(self.t, after), moves)
        self.signs = self._signs(self.t, self.x)

    def _move(self, step: float) -> None:
        """Take states and sensitivities a step on, without a look at events."""

        def slopes(time: float, both: Floats) -> Floats:
            first = self.instance.derivatives(time, both[:, 0])
            return np.column_stack([first, self.instance.along(self.instance.slopes, both[:, 1:])])

        both = _runge_kutta(slopes, self.t, np.column_stack([self.x, self.s]), step)
        self.x, self.s, self.t = both[:, 0].copy(), both[:, 1:], self.t + step
        self.instance.set_point(self.t, self.x)

    def _advanced(self, step: float) -> Floats:
        """Return the states a step on."""
        return _runge_kutta(self.instance.derivatives, self.t, self.x, step)


def _runge_kutta(
    slopes: Callable[[float, Floats], Floats], t: float, x: Floats, h: float
) -> Floats:
    """Return x after one step of the classic method of the fourth order."""
    first = slopes(t, x)
    second = slopes(t + 0.5 * h, x + 0.5 * h * first)
    third = slopes(t + 0.5 * h, x + 0.5 * h * second)
    fourth = slopes(t + h, x + h * third)
    return x + h / 6.0 * (first + 2.0 * (second + third) + fourth)
