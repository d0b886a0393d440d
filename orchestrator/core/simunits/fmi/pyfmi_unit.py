"""An FMU that PyFMI runs, where that is installed."""

from __future__ import annotations

import logging
from typing import Any

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.simunits.fmi.fmu_description import FmuDescription
from orchestrator.core.simunits.fmi.foreign_unit import (
    ForeignUnit,
    Importer,
    cannot_load,
    refuse_version,
    without_states,
)


class PyfmiUnit(ForeignUnit):
    """Runs one instance of an FMI 2.0 Co-Simulation FMU by PyFMI.

    Raises
    ------
    CapabilityError
        If PyFMI is not installed, or the FMU is of another version.
    FmuError
        If PyFMI does not load it.
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
