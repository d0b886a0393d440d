"""An instance of a Model Exchange FMU of FMI 2.0, whose derivatives are asked for at any point."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import CapabilityError, StepError, UnknownNameError
from orchestrator.core.diagnostics.extras import of_an_extra

Floats = NDArray[np.float64]
_ROUNDS = 100


class ExchangeInstance:
    """One instance, initialised, in continuous-time mode.

    Parameters
    ----------
    folder
        Where the FMU is unpacked.
    values
        Start values by the names of Real variables.

    Raises
    ------
    CapabilityError
        If the FMU is not of FMI 2.0, offers no Model Exchange or no directional derivatives.
    UnknownNameError
        If it has no Real variable of a name.
    StepError
        If it refuses to be initialised.
    """

    def __init__(self, folder: Path, values: Mapping[str, float]) -> None:
        with of_an_extra():
            from fmpy import read_model_description
            from fmpy.fmi2 import FMU2Model

        self.description = read_model_description(folder.as_posix(), validate=False)
        self.name = str(self.description.modelName)
        exchange = _expect(self.name, self.description)
        self._references = {
            v.name: v.valueReference for v in self.description.modelVariables if v.type == "Real"
        }
        slopes = [unknown.variable for unknown in self.description.derivatives]
        self._slopes = [v.valueReference for v in slopes]
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

        found = fmi2.fmi2CallbackFunctions()
        found.logger = fmi2.fmi2CallbackLoggerTYPE(self._hear)
        found.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(calloc)
        found.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(free)
        self._kept = found  # the FMU calls them as long as it lives
        return found

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._model.freeInstance()

    def references(self, names: Iterable[str]) -> list[int]:
        """Return the value references of Real variables."""
        found = []
        for name in names:
            if name not in self._references:
                raise UnknownNameError.about(f"FMU '{self.name}' has no Real variable '{name}'")
            found.append(self._references[name])
        return found

    def states(self) -> Floats:
        """Return the continuous states, float64 of shape (n,)."""
        return self._read(self._model.getContinuousStates, len(self._states))

    def derivatives(self, time: float, states: Floats) -> Floats:
        """Return the states' derivatives at a point, float64 of shape (n,)."""
        self.place(time, states)
        return self._read(self._model.getDerivatives, len(self._states))

    def indicators(self, time: float, states: Floats) -> Floats:
        """Return the event indicators at a point, float64 of shape (k,)."""
        self.place(time, states)
        return self._read(self._model.getEventIndicators, self.indicator_count)

    def place(self, time: float, states: Floats) -> None:
        """Set time and continuous states."""
        self._model.setTime(time)
        array = np.ascontiguousarray(states)
        self._model.setContinuousStates(_pointer(array), array.size)

    def turned(self, directions: Floats) -> Floats:
        """Return the derivatives' change with the states, along directions of shape (n, p)."""
        return self.along(self._slopes, directions)

    def values(self, references: list[int]) -> Floats:
        """Return Real variables where the instance stands, float64 of shape (m,)."""
        return np.array(self._model.getReal(references) if references else [])

    def along(self, references: list[int], directions: Floats) -> Floats:
        """Return the change of variables with the states, along directions of shape (n, p).

        Returns
        -------
        float64 of shape (m, p)
            By ``fmi2GetDirectionalDerivative``, where the instance stands.
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
