"""FMUs that other tools run: FMPy, and PyFMI where that is installed."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.simunits.fmi.fmu_description import FmuDescription
from orchestrator.core.simunits.fmi.fmu_unit import check_limits, unpacked
from orchestrator.core.simunits.fmi.foreign_unit import (
    ForeignUnit,
    Importer,
    cannot_load,
    refuse_exchange,
    refuse_version,
    without_states,
)
from orchestrator.core.system import Value


class FmpyUnit(ForeignUnit):
    """Runs one instance of an FMI 2.0 or 3.0 Co-Simulation FMU by FMPy.

    Raises CapabilityError: if the FMU is of another version.
    Raises FmuError: if FMPy does not load it.
    """

    def __init__(self, name: str, fmu: FmuDescription) -> None:
        refuse_version("fmpy", name, fmu, (2, 3))
        refuse_exchange("fmpy", name, fmu)
        self._folder = unpacked(fmu.path)
        try:
            importer = _Fmpy(name, fmu, self._folder.path)
        except Exception as error:
            raise cannot_load(name, fmu, error) from error
        self._fmu = fmu
        super().__init__(name, without_states(fmu), importer)

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
    about = (category or b"message").decode(errors="replace")
    log.log(level, "%s: %s", about, (text or b"").decode(errors="replace"))


class _Fmpy(Importer):
    def __init__(self, name: str, fmu: FmuDescription, folder: Path) -> None:
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
        self._log = logging.getLogger(f"orchestrator.fmu.{name}")
        if fmu.version == 2:
            self._fmu.instantiate(callbacks=self._callbacks())
        else:
            self._fmu.instantiate(logMessage=self._message3)

    def _callbacks(self) -> Any:
        from ctypes import byref

        from fmpy import calloc, fmi2, free
        from fmpy.logging import addLoggerProxy

        callbacks = fmi2.fmi2CallbackFunctions()
        callbacks.logger = _logger2()
        callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(calloc)
        callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(free)
        addLoggerProxy(byref(callbacks))
        return callbacks

    def _message3(self, _who: Any, status: int, category: bytes | None, text: bytes | None) -> None:
        _pass_on(self._log, status, category, text)

    def set(self, name: str, value: Any) -> None:
        check_limits(self._name, name, self._described.variables[name], value)
        variable = self._described.variables[name]
        given = value if isinstance(value, list) else [value]
        if variable.limits() is not None and variable.type != "Float32":
            given = [int(number) for number in given]
        getattr(self._fmu, f"set{self._type(name)}")([variable.reference], given)

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


class PyfmiUnit(ForeignUnit):
    """Runs one instance of an FMI 2.0 Co-Simulation FMU by PyFMI.

    Raises CapabilityError: if PyFMI is not installed, or the FMU is of another version.
    Raises FmuError: if PyFMI does not load it.
    """

    def __init__(self, name: str, fmu: FmuDescription) -> None:
        refuse_version("pyfmi", name, fmu, (2,))
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
            model = load_fmu(str(fmu.path), kind="CS", log_file_name=_Log(name))
        except Exception as error:
            raise cannot_load(name, fmu, error) from error
        super().__init__(name, without_states(fmu), _Pyfmi(model))


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
        found = self._model.get(name)
        return found[0] if hasattr(found, "__len__") and not isinstance(found, str) else found

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
