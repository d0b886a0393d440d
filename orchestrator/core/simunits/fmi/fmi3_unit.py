"""An FMI 3.0 Co-Simulation FMU as a simulation unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.core.simunits.fmi.fmu_description import FmuDescription
from orchestrator.core.simunits.fmi.fmu_unit import FmuUnit
from orchestrator.core.simunits.protocol.unit import Notice, Phase
from orchestrator.core.system import Causality, Connector, DataType, Value, seconds
from orchestrator.engine import Fmu3

if TYPE_CHECKING:
    from orchestrator.core.simunits.protocol.unit import Floats


class Fmu3Unit(FmuUnit):
    """Runs one instance by FMI 3.0.

    An FMU that has an event mode is run with it. Its structural parameters are set first, in
    configuration mode.

    Parameters
    ----------
    name, fmu
        The component's name, and the FMU.
    logging_on
        Whether the FMU writes messages.
    early_return
        Whether it may end a step before its end, at an event.
    """

    native: Fmu3

    def __init__(
        self,
        name: str,
        fmu: FmuDescription,
        *,
        logging_on: bool = False,
        early_return: bool = False,
    ) -> None:
        can = fmu.description.capabilities
        self._early_return = early_return and can.has_event_mode and can.might_return_early
        super().__init__(name, fmu, logging_on=logging_on)

    def _load(self, name: str, folder: Path) -> Fmu3:
        fmu = self.fmu
        can = fmu.description.capabilities
        native = Fmu3(
            str(folder / fmu.library),
            name,
            fmu.guid,
            f"{folder / 'resources'}/",
            self._logging_on,
            can.has_event_mode,
            self._early_return,
            exchange=fmu.interface == "ModelExchange",
            followed=self._followed(),
        )
        native.declare(can.can_roll_back, can.has_directional_derivatives)
        return native

    def _followed(self) -> list[int]:
        """Continuous inputs that it takes within its steps, by reference."""
        can = self.fmu.description.capabilities
        if not can.input_order or self.fmu.interface != "CoSimulation":
            return []
        inputs = self.fmu.description.of(Causality.INPUT)
        return [v.reference for c in inputs if (v := self.fmu.variables[c.name]).is_followed]

    def notices(self) -> tuple[Notice, ...]:
        """Return that it did not take its inputs within a step, though it offers to."""
        if (time_ns := self.native.unasked_ns) is None:
            return ()
        what = (
            "the FMU offers intermediate update, but did not ask for its inputs within its step:"
            " they were held at their values at the begin"
        )
        advice = (
            "in delay mode 'waveform' its lines are then late by half a step; run it by Model"
            " Exchange, or the system in mode 'mean'"
        )
        return (Notice(time_ns, what, advice, component=self.name),)

    @property
    def notes(self) -> tuple[str, ...]:
        """Say whether it went elsewhere than its steps, beside what all units say."""
        if (found := self.native.astray) is None:
            return super().notes
        begin_ns, said = found
        told = (
            f"component '{self.name}' ended the step from t = {seconds(begin_ns):.9g} s well and"
            f" without an early return, but said that it went to t = {said:.9g} s"
            " (lastSuccessfulTime), not to the step's end: its outputs were taken for those of the"
            " end; ask the FMU's author"
        )
        return (*super().notes, told)

    def _set_values(self, values: Mapping[str, Value]) -> None:
        structural = {n: v for n, v in values.items() if self.fmu.variables[n].is_structural}
        if structural:
            self.fmu = self.fmu.shaped(values)
            self.description = self.fmu.description
            self._check(self.native.configure(enter=True), "entering configuration mode")
            self._set_all(structural)
            self._check(self.native.configure(enter=False), "leaving configuration mode")
        others = {name: value for name, value in values.items() if name not in structural}
        by_event = self.phase is Phase.STEPPING and any(
            self.native.has_event_mode and self.fmu.variables[name].is_discrete for name in others
        )
        if by_event:
            self._check(self.native.enter_event_mode(), "entering event mode")
        self._set_all(others)
        if by_event:
            self._check(self.native.settle(), "updating its discrete states")

    def _set_all(self, values: Mapping[str, Value]) -> None:
        for name, value in values.items():
            self._check_limits(name, value)
            given: Sequence[Any] = value if isinstance(value, tuple) else (value,)
            variable = self.fmu.variables[name]
            kind = self.description.connectors[name].type
            if kind is DataType.STRING:
                status = self.native.set_string(variable.reference, given)
            elif kind is DataType.BINARY:
                status = self.native.set_binary(variable.reference, given)
            elif kind is DataType.CLOCK:
                status = self.native.set_clock(variable.reference, bool(value))
            else:
                numbers = [float(v) for v in given] if kind is DataType.REAL else list(given)
                status = self.native.set(variable.type, variable.reference, numbers)
            self._check(status, f"setting '{name}' to {value!r}")

    def _bind(self) -> None:
        self.native.bind(list(map(self._port, self.inputs)), list(map(self._port, self.outputs)))
        self.native.drive([self._timer(c.name) for c in self._timed()])
        self._bind_texts()

    def _timed(self) -> list[Connector]:
        """Time-based clocks that no connection makes tick."""
        if not self.native.has_event_mode:
            return []
        inputs = self.description.of(Causality.INPUT)
        return [c for c in inputs if self.fmu.variables[c.name].timer and c not in self.inputs]

    def _timer(self, name: str) -> tuple[int, int, bool, float, int, int, float, int]:
        variable = self.fmu.variables[name]
        timer = variable.timer
        assert timer is not None  # noqa: S101 - `_timed` has chosen those that have one
        return (
            variable.reference,
            timer.kind,
            timer.fraction,
            timer.seconds,
            timer.counter,
            timer.resolution,
            timer.shift,
            timer.shift_counter,
        )

    def _port(self, connector: Connector) -> tuple[str, str, int, int, bool, list[int]]:
        variable = self.fmu.variables[connector.name]
        return (
            connector.name,
            variable.type,
            variable.reference,
            connector.size,
            variable.is_discrete,
            list(variable.clocks),
        )

    def _setup(self, start_ns: int, stop_ns: int | None, tolerance: float | None) -> None:
        stop = None if stop_ns is None else seconds(stop_ns)
        status = self.native.initialise(seconds(start_ns), stop, tolerance)
        self._check(status, "entering initialisation")

    def _exit_initialisation(self) -> None:
        self._begin_events()
        if self.native.has_event_mode:
            self._check(self.native.settle(), "updating its discrete states")

    def _begin_events(self) -> None:
        self._check(self.native.exit_initialization(), "exiting initialisation")

    def _value(self, connector: Connector) -> Value | Floats:
        variable = self.fmu.variables[connector.name]
        count = prod(connector.shape)
        try:
            if connector.type is DataType.CLOCK:
                return False  # a clock ticks in event mode only
            if connector.type is DataType.STRING:
                texts = tuple(self.native.get_string(variable.reference, count))
                return texts if connector.shape else texts[0]
            if connector.type is DataType.BINARY:
                data = tuple(self.native.get_binary(variable.reference, count))
                return data if connector.shape else data[0]
            numbers = self.native.get(variable.type, variable.reference, count)
        except RuntimeError as error:
            raise self._refusal(f"reading '{connector.name}'", error) from None
        if connector.shape:
            return np.array(numbers, dtype=np.float64).reshape(connector.shape)
        value: Value = numbers[0]
        return value

    def _terminate(self) -> None:
        self.native.terminate()

    def last_ns(self, time_ns: int) -> int:
        """Return the time that the FMU reached (lastSuccessfulTime of fmi3DoStep)."""
        return max(self.native.reached[0], time_ns)
