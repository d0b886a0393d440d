"""Instances of any FMI 2.0 or 3.0 FMU behind the same calls, and the comparison of runs.

Only for checks: values are Reals by variable, convenience over speed. Runs in the process that
loads the FMU, which is never Softdock's own.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fmpy import fmi2, fmi3
from fmpy.fmi1 import FMICallException

_MOST_EVENTS = 10_000  # in one step; a ball that comes to rest has events, too, but fewer


def exchange_step(probe: FmuProbe, end: float) -> None:
    """Explicit Euler steps in Model Exchange, cut at time events; state events happen at their end.

    An importer may be that coarse, and the same calls always give the same values.
    """
    while probe.time < end and not probe.ended:
        next_event = probe.next_event
        target = end if next_event is None else min(end, max(next_event, probe.time))
        slopes, states = probe.derivatives(), probe.continuous_states()
        before, size = probe.indicators(), target - probe.time
        probe.fmu.setTime(target)
        if states:
            probe.write_states([x + size * dx for x, dx in zip(states, slopes, strict=True)])
        event, probe.ended = probe.fmu.completedIntegratorStep()
        crossed = any(a * b <= 0 for a, b in zip(before, probe.indicators(), strict=True) if a or b)
        probe.time = target
        if probe.ended:
            return
        if event or crossed or (next_event is not None and next_event <= target):
            probe.fmu.enterEventMode()
            probe.settle()
            if not probe.ended and probe.next_event is not None and probe.next_event <= target:
                raise RuntimeError(
                    f"the next time event is not after t = {target:g} s, the present"
                )


def cosimulation_step(probe: FmuProbe, end: float, size: float) -> None:
    """A communication step; with event mode a further one after each event that ends it early.

    The size is not the difference of the times, whose rounding a fixed-step solver would see.
    """
    for _ in range(_MOST_EVENTS):
        event, returned_early, reached = _do_step(probe, size)
        probe.time = reached if returned_early else end
        if probe.ended:
            return
        if event and probe.event_mode:
            probe.fmu.enterEventMode()
            probe.settle()
        size = end - probe.time
        if not returned_early or size <= 0:
            return
    raise RuntimeError(f"{_MOST_EVENTS} early returns before t = {end:g} s")


def _do_step(probe: FmuProbe, size: float) -> tuple[bool, bool, float]:
    """Whether there is an event, whether the step has ended early, and when."""
    if not probe.second:
        event, probe.ended, returned_early, reached = probe.fmu.doStep(probe.time, size)
        return event, returned_early, reached
    try:
        probe.fmu.doStep(probe.time, size)
    except FMICallException as error:
        probe.ended = error.status == fmi2.fmi2Discard and bool(
            probe.fmu.getBooleanStatus(fmi2.fmi2Terminated)
        )
        if not probe.ended:
            raise
    return False, False, probe.time + size


_REALS = ("Real", "Float64")


class FmuProbe:
    """An instance.

    description: FMPy's model description.
    folder: Where the FMU is unpacked.
    exchange: Model Exchange instead of Co-Simulation.
    event_mode: Handle the events of a Co-Simulation (FMI 3.0).
    """

    def __init__(
        self, description: Any, folder: str, name: str, *, exchange: bool, event_mode: bool = False
    ) -> None:
        self.description = description
        self.exchange = exchange
        self.event_mode = event_mode
        self.next_event: float | None = None
        self.ended = False
        self.second = description.fmiVersion == "2.0"
        self.messages: list[str] = []
        self.states = len(description.derivatives)
        self.time = 0.0
        interface = description.modelExchange if exchange else description.coSimulation
        kinds = (
            (fmi2.FMU2Model, fmi2.FMU2Slave) if self.second else (fmi3.FMU3Model, fmi3.FMU3Slave)
        )
        self.fmu = kinds[0 if exchange else 1](
            guid=description.guid,
            unzipDirectory=folder,
            modelIdentifier=interface.modelIdentifier,
            instanceName=name,
        )
        try:
            self._instantiate()
        except Exception as error:
            message = f": {self.messages[-1]}" if self.messages else ""
            raise RuntimeError(f"{error}{message}") from error

    def _instantiate(self) -> None:
        if not self.second:
            mode = {"eventModeUsed": True, "earlyReturnAllowed": True} if self.event_mode else {}
            self.fmu.instantiate(logMessage=self._log3, **mode)
            return
        callbacks = fmi2.fmi2CallbackFunctions()
        callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(self._log2)
        callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(fmi2.calloc)
        callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(fmi2.free)
        self.fmu.instantiate(callbacks=callbacks)

    def _log2(self, environment: Any, name: Any, status: int, category: Any, text: Any) -> None:
        raw = ctypes.string_at(text) if isinstance(text, int) else text
        self.messages.append((raw or b"").decode(errors="replace"))

    def _log3(self, environment: Any, status: int, category: Any, text: bytes) -> None:
        self.messages.append((text or b"").decode(errors="replace"))

    def initialize(self, start: float = 0.0, stop: float | None = None) -> None:
        """Go through initialisation, on to where steps are done."""
        self.enter_initialization(start, stop)
        self.exit_initialization()
        self.settle()

    def enter_initialization(self, start: float = 0.0, stop: float | None = None) -> None:
        """Enter initialisation mode."""
        if self.second:
            self.fmu.setupExperiment(startTime=start, stopTime=stop)
            self.fmu.enterInitializationMode()
        else:
            self.fmu.enterInitializationMode(startTime=start, stopTime=stop)
        self.time, self.ended = start, False

    def exit_initialization(self) -> None:
        """Leave initialisation mode: into event mode, for a plain Co-Simulation into step mode."""
        self.fmu.exitInitializationMode()
        if self.exchange and not self.second:  # in FMI 3.0 a state may be an array
            self.states = self.fmu.getNumberOfContinuousStates()

    def settle(self) -> None:
        """Iterate events until none is left, then leave event mode, if that is the mode.

        An FMU that asks for the end of the simulation stays in it.
        """
        if not (self.exchange or self.event_mode):
            return
        update = self.fmu.newDiscreteStates if self.second else self.fmu.updateDiscreteStates
        for _ in range(100):
            again, finished, _, _, planned, time = update()
            self.ended = finished
            if finished:
                return
            self.next_event = time if planned else None
            if not again:
                break
        else:
            raise RuntimeError("the event iteration has not settled after 100 rounds")
        if self.exchange:
            self.fmu.enterContinuousTimeMode()
        else:
            self.fmu.enterStepMode()

    def indicators(self) -> list[float]:
        """Event indicators."""
        if self.second:
            count = int(self.description.numberOfEventIndicators or 0)
        else:
            count = self.fmu.getNumberOfEventIndicators()
        return self._vector(self.fmu.getEventIndicators, count) if count else []

    def variables(self, causality: str) -> list[Any]:
        """Scalar Real variables of a causality."""
        return [
            v
            for v in self.description.modelVariables
            if v.causality == causality and v.type in _REALS and not v.dimensions
        ]

    def get(self, variables: Sequence[Any]) -> list[float]:
        """Values of Real variables."""
        getter = self.fmu.getReal if self.second else self.fmu.getFloat64
        return (
            [float(x) for x in getter([v.valueReference for v in variables])] if variables else []
        )

    def set(self, variables: Sequence[Any], values: Sequence[float]) -> None:
        """Set Real variables."""
        setter = self.fmu.setReal if self.second else self.fmu.setFloat64
        if variables:
            setter([v.valueReference for v in variables], list(values))

    def arrays(self, causality: str) -> list[tuple[Any, int]]:
        """Real arrays of a causality (FMI 3.0) with their numbers of elements, where fixed."""
        return [
            (v, math.prod(int(d.start) for d in v.dimensions))
            for v in self.description.modelVariables
            if v.causality == causality
            and v.type == "Float64"
            and v.dimensions
            and all(d.start is not None for d in v.dimensions)
        ]

    def _elements(self, causality: str) -> list[float]:
        values: list[float] = []
        for variable, count in self.arrays(causality):
            values += map(float, self.fmu.getFloat64([variable.valueReference], count))
        return values

    def movable_inputs(self) -> list[Any]:
        """Real inputs that may be set now: in continuous-time mode the continuous ones."""
        inputs = self.variables("input")
        if not self.exchange:
            return inputs
        return [v for v in inputs if v.variability in {None, "continuous"}]

    def excite(self) -> None:
        """Move every Real input a little, so that there is something to compare."""
        for index, variable in enumerate(self.movable_inputs()):
            start = float(variable.start or 0.0)
            size = max(abs(start), float(variable.nominal or 1.0))
            value = start + 0.1 * size / (1 + 0.37 * index)  # no two alike
            if variable.max is not None:
                value = min(value, float(variable.max))
            self.set([variable], [value])
        for variable, count in self.arrays("input"):
            if not self.exchange or variable.variability in {None, "continuous"}:
                values = self.fmu.getFloat64([variable.valueReference], count)
                moved = [float(x) + 0.1 / (1 + 0.37 * i) for i, x in enumerate(values)]
                maximum = math.inf if variable.max is None else float(variable.max)
                self.set([variable], [min(x, maximum) for x in moved])

    def read_everything(self) -> None:
        """Read every scalar variable once, of whatever type, and every array of Reals."""
        for causality in {v.causality for v in self.description.modelVariables}:
            self._elements(causality)
        for variable in self.description.modelVariables:
            kind = "Integer" if variable.type == "Enumeration" and self.second else variable.type
            kind = "Int64" if kind == "Enumeration" else kind
            if variable.dimensions or kind in {"Clock", "Binary"}:
                continue
            getattr(self.fmu, f"get{kind}")([variable.valueReference])

    def advance(self, step: float, count: int = 1) -> None:
        """Do steps, in Model Exchange explicit Euler steps, and handle the events between them."""
        begin = self.time
        for i in range(1, count + 1):
            if self.ended:
                return
            if self.exchange:
                exchange_step(self, begin + i * step)
            else:
                cosimulation_step(self, begin + i * step, step)

    def _vector(self, function: Callable[..., Any], count: int) -> list[float]:
        values = (ctypes.c_double * max(count, 1))()
        function(values, count)
        return list(values)[:count]

    def derivatives(self) -> list[float]:
        """Derivatives of the continuous states."""
        fmu = self.fmu
        read = fmu.getDerivatives if self.second else fmu.getContinuousStateDerivatives
        return self._vector(read, self.states)

    def continuous_states(self) -> list[float]:
        """Continuous states."""
        return self._vector(self.fmu.getContinuousStates, self.states)

    def nominals(self) -> list[float]:
        """Nominal values of the continuous states."""
        return self._vector(self.fmu.getNominalsOfContinuousStates, self.states)

    def write_states(self, values: Sequence[float]) -> None:
        """Set the continuous states."""
        self.fmu.setContinuousStates((ctypes.c_double * max(self.states, 1))(*values), self.states)

    def result(self) -> list[float]:
        """What two runs are compared by: outputs, and states where they can be read."""
        outputs = self.get(self.variables("output")) + self._elements("output")
        return outputs + (self.continuous_states() if self.exchange else [])

    def save(self) -> Any:
        """Return the FMU state."""
        return self.fmu.getFMUstate() if self.second else self.fmu.getFMUState()

    @property
    def times(self) -> tuple[float, float | None, bool]:
        """What an importer remembers in addition to a saved state: time, next time event, end."""
        return self.time, self.next_event, self.ended

    def restore(self, state: Any, times: tuple[float, float | None, bool]) -> None:
        """Go back to a saved state of the FMU, at its place."""
        (self.fmu.setFMUstate if self.second else self.fmu.setFMUState)(state)
        self.time, self.next_event, self.ended = times

    def forget(self, state: Any) -> None:
        """Free a saved state."""
        (self.fmu.freeFMUstate if self.second else self.fmu.freeFMUState)(state)

    def to_bytes(self, state: Any) -> bytes:
        """Serialise a saved state."""
        fmu = self.fmu
        return bytes((fmu.serializeFMUstate if self.second else fmu.serializeFMUState)(state))

    def from_bytes(self, data: bytes) -> Any:
        """Make a saved state of bytes."""
        fmu = self.fmu
        return (fmu.deSerializeFMUstate if self.second else fmu.deserializeFMUState)(data)

    def slope(self, unknowns: Sequence[Any], input_variable: Any) -> list[float]:
        """Directional derivative of the unknowns by one known."""
        references = [v.valueReference for v in unknowns]
        return list(
            self.fmu.getDirectionalDerivative(references, [input_variable.valueReference], [1.0])
        )

    def finish(self) -> None:
        """Terminate and free."""
        self.fmu.terminate()
        self.fmu.freeInstance()


STEPS = 20
_MOST_SHORTENINGS = 15
_MOST_STEPS = 200  # where a whole experiment is run
LOOSE = 1e-3  # two step sizes, and finite differences of unknown smoothness, agree to this


class Skip(Exception):  # noqa: N818 - no error: the FMU does not offer what is checked
    """The check does not apply to this FMU."""


class InstanceBench:
    """Makes instances of one FMU and frees them.

    description: FMPy's model description.
    folder: Where the FMU is unpacked.
    capabilities: What the interface promises.
    exchange: Model Exchange instead of Co-Simulation.
    """

    def __init__(
        self, description: Any, folder: str, capabilities: Mapping[str, Any], *, exchange: bool
    ) -> None:
        self.description = description
        self.folder = folder
        self.exchange = exchange
        self.capabilities = capabilities
        experiment = description.defaultExperiment
        self.start = float(getattr(experiment, "startTime", None) or 0.0)
        stop = float(getattr(experiment, "stopTime", None) or self.start + 1.0)
        fixed = capabilities.get("fixedInternalStepSize")
        proposed = getattr(experiment, "stepSize", None) or (stop - self.start) / 100
        self.step = float(fixed or proposed)
        if not self.step > 0:
            self.step = 0.01
        self.count = min(_MOST_STEPS, max(STEPS, round((stop - self.start) / self.step)))
        self.opened: list[FmuProbe] = []

    def shorten(self) -> None:
        """Choose a step with which explicit Euler steps stay finite, for Model Exchange."""
        for _ in range(_MOST_SHORTENINGS if self.exchange else 0):
            probe = self.open()
            try:
                probe.advance(self.step, self.count)
                values = [*probe.result(), *probe.derivatives()]
            except FMICallException:  # states that are too large, for example
                values = [math.nan]
            probe.fmu.freeInstance()
            if all(map(math.isfinite, values)):
                return
            self.step /= 10

    def open(self, *, ready: bool = True, event_mode: bool = False) -> FmuProbe:
        """Make an instance; if ready, go through its initialisation."""
        name, exchange = f"check{len(self.opened)}", self.exchange
        probe = FmuProbe(
            self.description, self.folder, name, exchange=exchange, event_mode=event_mode
        )
        self.opened.append(probe)
        if ready:
            probe.initialize(self.start)
            probe.excite()
        return probe

    def run(self, step: float, count: int = STEPS, *, event_mode: bool = False) -> list[float]:
        """Return the result of an instance of its own after some steps."""
        probe = self.open(event_mode=event_mode)
        probe.advance(step, count)
        result = probe.result()
        probe.finish()
        return result

    def can(self, *names: str) -> bool:
        """Whether the interface has a capability, under one of its names in FMI 2.0 and 3.0."""
        return any(self.capabilities.get(name) is True for name in names)


def finite(probe: FmuProbe) -> list[float]:
    """Return the result of a probe, which must be finite."""
    values = probe.result()
    if not all(map(math.isfinite, values)):
        raise AssertionError(f"outputs are not finite at t = {probe.time:g} s: {values}")
    return values


def close(first: Sequence[float], second: Sequence[float], tolerance: float) -> bool:
    """Whether two results agree to a relative tolerance."""
    return all(math.isclose(a, b, rel_tol=tolerance) for a, b in zip(first, second, strict=True))


def expect_same(expected: Sequence[float], found: Sequence[float], when: str = "") -> None:
    """Expect that two results are the same bit by bit."""
    if found != expected:
        raise AssertionError(f"{when}{difference(expected, found)}")


def difference(expected: Sequence[float], found: Sequence[float]) -> str:
    """Say how two results differ."""
    pairs = [(a, b) for a, b in zip(expected, found, strict=True) if a != b]
    return f"{len(pairs)} values differ; expected {pairs[0][0]!r}, got {pairs[0][1]!r}"
