"""Units that Python runs: FMUs by other tools, FMPy and PyFMI, and what else is an importer."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from math import ulp
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.core.diagnostics import CapabilityError, DescriptionError, FmuError, StepError
from orchestrator.core.simunits.fmi.fmu_description import FmuDescription
from orchestrator.core.simunits.fmi.fmu_unit import USUAL_OPTIONS, check_limits, unpacked
from orchestrator.core.simunits.protocol import Capabilities, SimulationUnit, UnitDescription
from orchestrator.core.structs import replace
from orchestrator.core.system import ComponentOptions, Connector, DataType, Value, seconds
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

    def __init__(
        self,
        name: str,
        description: UnitDescription,
        importer: Importer,
        tolerance: float | None = None,
    ) -> None:
        self._importer = importer
        self._tolerance = tolerance
        self._puppet = _Puppet(importer, [], [])
        super().__init__(name, description, PythonUnit(self._puppet, name, [], []))
        self._has_inputs = False  # before it is given some, the instance has its own
        self._log = logging.getLogger(f"orchestrator.fmu.{name}")

    def _set_values(self, values: Mapping[str, Value]) -> None:
        for name, value in values.items():
            with self._failing(f"setting '{name}' to {value!r}"):
                self._importer.set(name, list(value) if isinstance(value, tuple) else value)

    def _bind(self) -> None:
        inputs, outputs = (*self.inputs, *self.text_inputs), (*self.outputs, *self.text_outputs)
        names = [[connector.name for connector in ends] for ends in (inputs, outputs)]
        self._puppet = _Puppet(self._importer, *names)
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
        texts = [
            [(attribute(c.name), c.type is DataType.BINARY) for c in ends]
            for ends in (self.text_inputs, self.text_outputs)
        ]
        self.native.bind_texts(*texts)

    def _port(self, connector: Connector) -> tuple[str, str, object]:
        held = getattr(self._puppet, attribute(connector.name), None)
        return attribute(connector.name), _CODES[connector.type], held

    def _setup(self, start_ns: int, stop_ns: int | None) -> None:
        stop = None
        if stop_ns is not None:  # as the engine tells it, see Fmu::stop_to_tell
            stop = seconds(stop_ns) + 4.0 * ulp(seconds(max(abs(start_ns), abs(stop_ns))))
        with self._failing("entering initialisation"):
            self._importer.enter_initialisation(seconds(start_ns), stop, self._tolerance)

    def set(self, values: Floats | memoryview[float]) -> None:
        """Set all bound inputs from a contiguous float64 array of shape (n_inputs,)."""
        super().set(values)
        self._has_inputs = True

    def _initialise_outputs(self, start_ns: int) -> None:
        with self._failing("initialising"):
            if self._has_inputs:
                self._puppet.send()
            self._puppet.receive()

    def _exit_initialisation(self) -> None:
        with self._failing("exiting initialisation"):
            self._importer.exit_initialisation()
            self._puppet.receive()

    def _value(self, connector: Connector) -> Value | Floats:
        with self._failing(f"reading '{connector.name}'"):
            value = self._importer.get(connector.name)
        if connector.shape:
            return np.asarray(value, dtype=np.float64).reshape(connector.shape)
        read: Value = value
        return read

    @contextmanager
    def _failing(self, doing: str) -> Iterator[None]:
        """Say what the tool did not do."""
        try:
            yield
        except Exception as error:
            raise StepError(f"component '{self.name}' failed while {doing}: {error}") from error

    def _terminate(self) -> None:
        try:
            self._importer.terminate()
        except Exception as error:  # noqa: BLE001 - the run is over: its results must not be lost
            self._log.warning("terminating: %s", error)

    def exception(self) -> BaseException | None:
        """Return the exception of the tool, if there was one."""
        return self.native.take_exception()


def _without_states(fmu: FmuDescription) -> UnitDescription:
    """Return what an FMU says of itself, without what other tools do not do for us."""
    can = Capabilities(can_vary_step=fmu.description.capabilities.can_vary_step)
    return replace(fmu.description, capabilities=can)


def _expect_version(tool: str, name: str, fmu: FmuDescription, versions: tuple[int, ...]) -> None:
    if fmu.version not in versions:
        supported = " and ".join(f"{version}.0" for version in versions)
        raise CapabilityError(
            f"component '{name}' ({fmu.path}): the back-end {tool} runs FMI {supported}, found FMI"
            f" {fmu.version}.0; use the back-end native"
        )


class FmpyUnit(ForeignUnit):
    """Runs one instance of an FMI 2.0 or 3.0 Co-Simulation FMU by FMPy.

    Raises CapabilityError: if the FMU is of another version.
    Raises FmuError: if FMPy does not load it.
    """

    def __init__(
        self, name: str, fmu: FmuDescription, options: ComponentOptions = USUAL_OPTIONS
    ) -> None:
        _expect_version("fmpy", name, fmu, (2, 3))
        if fmu.interface != "CoSimulation":
            raise CapabilityError(
                f"component '{name}' ({fmu.path}): the back-end fmpy runs Co-Simulation FMUs, and"
                " this one has only Model Exchange; use the back-end native"
            )
        self._folder = unpacked(fmu.path)
        try:
            importer = _Fmpy(name, fmu, self._folder.path, logs=options.debug or fmu.logs)
        except Exception as error:
            raise FmuError(f"component '{name}' ({fmu.path}): {error}") from error
        self._fmu = fmu
        tolerance = fmu.relative_tolerance(options.tolerance)
        super().__init__(name, _without_states(fmu), importer, tolerance)

    def _set_values(self, values: Mapping[str, Value]) -> None:
        if any(self._fmu.variables[name].is_structural for name in values):
            raise DescriptionError(
                f"component '{self.name}': structural parameters are set by the back-end native"
            )
        super()._set_values(values)


@cache
def _logger2() -> Any:
    """Return the C function that FMI 2.0 messages go to, one for all instances.

    FMPy 0.3.32 keeps the last one in a global place, and calls it for any FMU from then on: so it
    must outlive the unit that gave it.
    """
    from fmpy import fmi2

    def message(_who: Any, name: bytes, status: int, category: bytes, text: bytes) -> None:
        instance = (name or b"unknown").decode(errors="replace")
        _pass_on(logging.getLogger(f"orchestrator.fmu.{instance}"), status, category, text)

    return fmi2.fmi2CallbackLoggerTYPE(message)


def _pass_on(log: logging.Logger, status: int, category: bytes | None, text: bytes | None) -> None:
    level = {0: logging.INFO, 1: logging.WARNING}.get(status, logging.ERROR)
    category_name = (category or b"message").decode(errors="replace")
    log.log(level, "%s: %s", category_name, (text or b"").decode(errors="replace"))


def _callbacks() -> Any:
    from ctypes import byref

    from fmpy import calloc, fmi2, free
    from fmpy.logging import addLoggerProxy

    callbacks = fmi2.fmi2CallbackFunctions()
    callbacks.logger = _logger2()
    callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(calloc)
    callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(free)
    addLoggerProxy(byref(callbacks))
    return callbacks


class _Fmpy(Importer):
    def __init__(self, name: str, fmu: FmuDescription, folder: Path, *, logs: bool) -> None:
        from fmpy.fmi2 import FMU2Slave
        from fmpy.fmi3 import FMU3Slave

        self._name = name
        self._described = fmu
        kind = FMU2Slave if fmu.version == 2 else FMU3Slave
        self._fmu: Any = kind(
            guid=fmu.guid,
            modelIdentifier=Path(fmu.library).stem,
            unzipDirectory=str(folder),
            instanceName=name,
            libraryPath=str(folder / fmu.library),
        )
        if fmu.version == 2:
            self._fmu.instantiate(callbacks=_callbacks(), loggingOn=logs)
        else:
            log = logging.getLogger(f"orchestrator.fmu.{name}")
            self._fmu.instantiate(
                loggingOn=logs, logMessage=lambda _who, *arguments: _pass_on(log, *arguments)
            )
        if fmu.log_categories and not logs:
            with suppress(Exception):  # an FMU that refuses goes on as it was made
                self._fmu.setDebugLogging(loggingOn=True, categories=fmu.log_categories)

    def set(self, name: str, value: Any) -> None:
        check_limits(self._name, name, self._described.variables[name], value)
        variable = self._described.variables[name]
        elements = value if isinstance(value, list) else [value]
        if variable.limits() is not None and variable.type != "Float32":
            elements = [int(number) for number in elements]
        getattr(self._fmu, f"set{self._type(name)}")([variable.reference], elements)

    def get(self, name: str) -> Any:
        variable = self._described.variables[name]
        shape = self._described.description.connectors[name]
        read = getattr(self._fmu, f"get{self._type(name)}")
        if self._described.version == 2:
            value = read([variable.reference])[0]
            return value.decode() if isinstance(value, bytes) else value
        values = read([variable.reference], shape.size)
        return list(values) if shape.shape else values[0]

    def _type(self, name: str) -> str:
        kind = self._described.variables[name].type
        return "Integer" if kind == "Enumeration" else kind

    def enter_initialisation(
        self, start: float, stop: float | None, tolerance: float | None
    ) -> None:
        if self._described.version == 2:
            self._fmu.setupExperiment(tolerance=tolerance, startTime=start, stopTime=stop)
            self._fmu.enterInitializationMode()
        else:
            self._fmu.enterInitializationMode(tolerance=tolerance, startTime=start, stopTime=stop)

    def exit_initialisation(self) -> None:
        self._fmu.exitInitializationMode()

    def step(self, time: float, step: float) -> None:
        self._fmu.doStep(currentCommunicationPoint=time, communicationStepSize=step)

    def terminate(self) -> None:
        self._fmu.terminate()
        self._fmu.freeInstance()


#: The ``log_level`` of PyFMI at which it passes all messages on.
_PYFMI_ALL = 7


class PyfmiUnit(ForeignUnit):
    """Runs one instance of an FMI 2.0 Co-Simulation FMU by PyFMI.

    Raises CapabilityError: if PyFMI is not installed, or the FMU is of another version.
    Raises FmuError: if PyFMI does not load it.
    """

    def __init__(
        self, name: str, fmu: FmuDescription, options: ComponentOptions = USUAL_OPTIONS
    ) -> None:
        _expect_version("pyfmi", name, fmu, (2,))
        try:
            from pyfmi import load_fmu  # type: ignore[import-not-found]
        except ImportError:
            raise CapabilityError(
                f"component '{name}': the back-end pyfmi needs PyFMI, which is not installed here"
                " and not on PyPI; `conda install -c conda-forge pyfmi` or a build from source"
                " (docs/howto/pyfmi.md), or use another back-end"
            ) from None
        try:
            # Without a stream PyFMI writes a file of messages into the working directory.
            level = {"log_level": _PYFMI_ALL} if options.debug else {}
            model = load_fmu(str(fmu.path), kind="CS", log_file_name=_Log(name), **level)
            if options.debug or fmu.logs or fmu.log_categories:
                categories = [] if options.debug or fmu.logs else [*fmu.log_categories]
                model.set_debug_logging(True, categories)  # noqa: FBT003 - by its place in PyFMI
        except Exception as error:
            raise FmuError(f"component '{name}' ({fmu.path}): {error}") from error
        tolerance = fmu.relative_tolerance(options.tolerance)
        super().__init__(name, _without_states(fmu), _Pyfmi(model), tolerance)


class _Log:
    """A stream that passes what PyFMI writes, errors of the FMU by its default, to our logger."""

    closed = False

    def __init__(self, name: str) -> None:
        self._log = logging.getLogger(f"orchestrator.fmu.{name}")

    def write(self, text: str) -> None:
        """Log one message."""
        self._log.warning("%s", text.rstrip())


class _Pyfmi(Importer):
    def __init__(self, model: Any) -> None:
        self._model = model

    def set(self, name: str, value: Any) -> None:
        self._model.set(name, value)

    def get(self, name: str) -> Any:
        value = self._model.get(name)
        return value[0] if hasattr(value, "__len__") and not isinstance(value, str) else value

    def enter_initialisation(
        self, start: float, stop: float | None, tolerance: float | None
    ) -> None:
        self._model.setup_experiment(
            tolerance_defined=tolerance is not None,
            tolerance=tolerance or 0.0,
            start_time=start,
            stop_time_defined=stop is not None,
            stop_time=stop or 0.0,
        )
        self._model.enter_initialization_mode()

    def exit_initialisation(self) -> None:
        self._model.exit_initialization_mode()

    def step(self, time: float, step: float) -> None:
        status = self._model.do_step(time, step, new_step=True)
        if status > 1:
            raise RuntimeError(f"PyFMI's do_step returned the status {status}")

    def terminate(self) -> None:
        # PyFMI's destructor terminates and frees: doing either before it does it twice.
        self._model = None
