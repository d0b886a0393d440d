"""A unit that Python runs: an FMU by another tool, independent of the engine's own import."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from math import ulp
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.core.diagnostics import CapabilityError, FmuError, StepError
from orchestrator.core.simunits.fmi.fmu_description import FmuDescription
from orchestrator.core.simunits.protocol import Capabilities, SimulationUnit, UnitDescription
from orchestrator.core.system import Connector, DataType, Value, seconds
from orchestrator.engine import PythonUnit

if TYPE_CHECKING:
    from orchestrator.core.simunits.protocol import Floats

_CODES = {DataType.REAL: "f", DataType.INTEGER: "i", DataType.BOOLEAN: "b"}


class Importer(ABC):
    """One instance of a model, held by another tool. Its errors are that tool's exceptions."""

    @abstractmethod
    def set(self, name: str, value: Any) -> None:
        """Set a variable; a flat list for an array."""

    @abstractmethod
    def get(self, name: str) -> Any:
        """Read a variable; a flat list for an array."""

    @abstractmethod
    def enter_initialisation(
        self, start: float, stop: float | None, tolerance: float | None
    ) -> None:
        """Announce the experiment (seconds) and begin to initialise."""

    @abstractmethod
    def exit_initialisation(self) -> None:
        """Finish the initialisation."""

    @abstractmethod
    def step(self, time: float, step: float) -> None:
        """Do one communication step (seconds)."""

    @abstractmethod
    def terminate(self) -> None:
        """End the run and free the instance."""


class _Puppet:
    """What the engine's PythonUnit moves: an attribute for each port, and ``step``."""

    def __init__(self, importer: Importer, inputs: list[str], outputs: list[str]) -> None:
        self._importer = importer
        self._inputs = inputs
        self._outputs = outputs

    def exchange(self, name: str) -> Any:
        held = getattr(self, attribute(name))
        return held.ravel().tolist() if isinstance(held, np.ndarray) else held

    def send(self) -> None:
        for name in self._inputs:
            self._importer.set(name, self.exchange(name))

    def receive(self) -> None:
        for name in self._outputs:
            value = self._importer.get(name)
            held = getattr(self, attribute(name), None)
            if isinstance(held, np.ndarray):
                held[...] = np.asarray(value, dtype=np.float64).reshape(held.shape)
            else:
                setattr(self, attribute(name), value)

    def step(self, t: float, h: float) -> None:
        self.send()
        self._importer.step(t, h)
        self.receive()


def attribute(name: str) -> str:
    """Return the attribute of a port: no name of a variable is one of the methods."""
    return f"value of {name}"


class ForeignUnit(SimulationUnit):
    """Drives an :class:`Importer` through the engine's unit for Python objects.

    It cannot save its state. An FMU with event mode handles its events itself.
    """

    native: PythonUnit

    def __init__(self, name: str, description: UnitDescription, importer: Importer) -> None:
        self._importer = importer
        self._puppet = _Puppet(importer, [], [])
        super().__init__(name, description, PythonUnit(self._puppet, name, [], []))
        self._has_inputs = False  # before it is given some, the instance has its own
        self._log = logging.getLogger(f"orchestrator.fmu.{name}")

    def _set_values(self, values: Mapping[str, Value]) -> None:
        for name, value in values.items():
            try:
                self._importer.set(name, list(value) if isinstance(value, tuple) else value)
            except Exception as error:
                raise self._failure(f"setting '{name}' to {value!r}", error) from error

    def _bind(self) -> None:
        inputs, outputs = (*self.inputs, *self.text_inputs), (*self.outputs, *self.text_outputs)
        self._puppet = _Puppet(self._importer, _names(inputs), _names(outputs))
        for connector in (*inputs, *outputs):
            if connector.type is DataType.CLOCK:
                raise CapabilityError(
                    f"component '{self.name}': clock '{connector.name}' needs the native back-end"
                )
            if connector.shape:
                setattr(self._puppet, attribute(connector.name), np.zeros(connector.shape))
        self.native = PythonUnit(
            self._puppet,
            self.name,
            [self._port(connector) for connector in self.inputs],
            [self._port(connector) for connector in self.outputs],
        )
        self.native.bind_texts(_texts(self.text_inputs), _texts(self.text_outputs))

    def _port(self, connector: Connector) -> tuple[str, str, object]:
        held = getattr(self._puppet, attribute(connector.name), None)
        return attribute(connector.name), _CODES[connector.type], held

    def _setup(self, start_ns: int, stop_ns: int | None, tolerance: float | None) -> None:
        stop = None
        if stop_ns is not None:  # as the engine tells it, see Fmu::stop_to_tell
            stop = seconds(stop_ns) + 4.0 * ulp(seconds(max(abs(start_ns), abs(stop_ns))))
        try:
            self._importer.enter_initialisation(seconds(start_ns), stop, tolerance)
        except Exception as error:
            raise self._failure("entering initialisation", error) from error

    def set(self, values: Floats | memoryview[float]) -> None:
        """Set all bound inputs from a contiguous float64 array of shape (n_inputs,)."""
        super().set(values)
        self._has_inputs = True

    def _initialise_outputs(self, start_ns: int) -> None:
        try:
            if self._has_inputs:
                self._puppet.send()
            self._puppet.receive()
        except Exception as error:
            raise self._failure("initialising", error) from error

    def _exit_initialisation(self) -> None:
        try:
            self._importer.exit_initialisation()
            self._puppet.receive()
        except Exception as error:
            raise self._failure("exiting initialisation", error) from error

    def _value(self, connector: Connector) -> Value | Floats:
        try:
            value = self._importer.get(connector.name)
        except Exception as error:
            raise self._failure(f"reading '{connector.name}'", error) from error
        if connector.shape:
            return np.asarray(value, dtype=np.float64).reshape(connector.shape)
        read: Value = value
        return read

    def _failure(self, doing: str, error: Exception) -> StepError:
        return StepError(f"component '{self.name}' failed while {doing}: {error}")

    def _get_state(self) -> object:
        raise self._cannot("save its state by this back-end")

    def _set_state(self, state: object) -> None:
        raise self._cannot("go back to a state by this back-end")

    def _terminate(self) -> None:
        try:
            self._importer.terminate()
        except Exception as error:  # noqa: BLE001 - the run is over: its results must not be lost
            self._log.warning("terminating: %s", error)

    def exception(self) -> BaseException | None:
        """Return the exception of the tool, if there was one."""
        return self.native.take_exception()


def without_states(fmu: FmuDescription) -> UnitDescription:
    """Return what an FMU says of itself, without what other tools do not do for us."""
    can = Capabilities(can_vary_step=fmu.description.capabilities.can_vary_step)
    return replace(fmu.description, capabilities=can)


def refuse_version(tool: str, name: str, fmu: FmuDescription, versions: tuple[int, ...]) -> None:
    """Raise CapabilityError if a tool does not run this version of FMI for us."""
    if fmu.version not in versions:
        known = " and ".join(f"{version}.0" for version in versions)
        raise CapabilityError(
            f"component '{name}' ({fmu.path}): the back-end {tool} runs FMI {known}, found FMI"
            f" {fmu.version}.0; use the back-end native"
        )


def refuse_exchange(tool: str, name: str, fmu: FmuDescription) -> None:
    """Raise CapabilityError for an FMU that has no Co-Simulation interface."""
    if fmu.interface != "CoSimulation":
        raise CapabilityError(
            f"component '{name}' ({fmu.path}): the back-end {tool} runs Co-Simulation FMUs, and"
            " this one has only Model Exchange; use the back-end native"
        )


def cannot_load(name: str, fmu: FmuDescription, error: Exception) -> FmuError:
    """Return the error of an FMU that a tool does not load."""
    return FmuError(f"component '{name}' ({fmu.path}): {error}")


def _names(connectors: tuple[Connector, ...]) -> list[str]:
    return [connector.name for connector in connectors]


def _texts(connectors: tuple[Connector, ...]) -> list[tuple[str, bool]]:
    return [(attribute(c.name), c.type is DataType.BINARY) for c in connectors]
