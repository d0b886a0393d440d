"""An FMU as a simulation unit: what all versions of FMI have in common."""

from __future__ import annotations

import logging
import shutil
import tempfile
import weakref
from abc import abstractmethod
from functools import lru_cache
from pathlib import Path
from typing import Any

from orchestrator.core.archive import extract
from orchestrator.core.diagnostics import DescriptionError, FmuError, StepError
from orchestrator.core.simunits.fmi.elf import is_whole
from orchestrator.core.simunits.fmi.fmu_description import FmuDescription
from orchestrator.core.simunits.fmi.fmu_variable import FmuVariable
from orchestrator.core.simunits.protocol.unit import SimulationUnit
from orchestrator.core.system import Connector, DataType, Value
from orchestrator.engine import Fmu, SavedState

_LEVELS = {0: logging.INFO, 1: logging.WARNING, 5: logging.INFO}


class _Folder:
    """A temporary folder that is removed with its last user, or with the process."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="softdock-fmu-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@lru_cache(maxsize=256)
def _unpacked(path: Path, stamp: int) -> _Folder:  # noqa: ARG001 - the stamp renews the cache
    """Unpack an FMU once per content and process."""
    folder = _Folder()
    extract(path, folder.path, FmuError)
    return folder


def unpacked(path: Path) -> _Folder:
    """Return the folder of an unpacked FMU, which is there while somebody holds this."""
    return _unpacked(path, path.stat().st_mtime_ns)


def check_limits(component: str, name: str, variable: FmuVariable, value: Any) -> None:
    """Raise DescriptionError if a number does not fit the type of its variable."""
    limits = variable.limits()
    if limits is None:
        return
    for number in value if isinstance(value, (tuple, list)) else (value,):
        if not limits[0] <= number <= limits[1]:
            what = variable.type
            if what in {"Integer", "Enumeration"}:
                what = "Integer of 32 bits, as FMI 1.0 and 2.0 have it"
            raise DescriptionError(
                f"component '{component}': parameter '{name}': expected an {what}, found {number!r}"
            )


class FmuUnit(SimulationUnit):
    """Runs one instance of an FMU; each version of FMI has its own class.

    Raises
    ------
    FmuError
        If the library cannot be loaded or the FMU refuses to be instantiated.
    """

    native: Fmu

    def __init__(self, name: str, fmu: FmuDescription, *, logging_on: bool = False) -> None:
        self._folder = unpacked(fmu.path)
        folder = self._folder.path
        if not is_whole(folder / fmu.library):
            raise FmuError(
                f"component '{name}' ({fmu.path}): '{fmu.library}' is damaged: expected a whole"
                " 64-bit ELF library"
            )
        self.fmu = fmu
        self._logging_on = logging_on
        try:
            native = self._load(name, folder)
        except RuntimeError as error:
            raise FmuError(f"component '{name}' ({fmu.path}): {error}") from None
        super().__init__(name, fmu.description, native)
        self._last_message = ""
        self._log = logging.getLogger(f"orchestrator.fmu.{name}")

    @abstractmethod
    def _load(self, name: str, folder: Path) -> Fmu:
        """Make the engine's instance from the unpacked archive."""

    def _check_limits(self, name: str, value: Value) -> None:
        check_limits(self.name, name, self.fmu.variables[name], value)

    def _bind_texts(self) -> None:
        def row(connector: Connector) -> tuple[str, bool, int, int]:
            reference = self.fmu.variables[connector.name].reference
            return connector.name, connector.type is DataType.BINARY, reference, connector.size

        self.native.bind_texts(list(map(row, self.text_inputs)), list(map(row, self.text_outputs)))

    def _initialise_outputs(self, start_ns: int) -> None:
        """An FMU in initialisation mode computes its outputs when they are read."""

    def _get_state(self) -> object:
        try:
            return self.native.get_state()
        except RuntimeError as error:
            raise self._refusal("saving its state", error) from None

    def _set_state(self, state: object) -> None:
        if not isinstance(state, SavedState):
            raise TypeError(f"expected a saved FMU state, found {type(state).__name__}")
        try:
            status = self.native.set_state(state)
        except RuntimeError as error:
            raise self._refusal("restoring a state", error) from None
        self._check(status, "restoring a state")

    def _serialize(self, state: object) -> bytes:
        if not isinstance(state, SavedState):
            raise TypeError(f"expected a saved FMU state, found {type(state).__name__}")
        try:
            return state.serialize()
        except (RuntimeError, ValueError) as error:
            raise self._refusal("turning its state into bytes", error) from None

    def _deserialize(self, data: bytes) -> object:
        try:
            return self.native.deserialize_state(data)
        except RuntimeError as error:
            raise self._refusal("reading its state from bytes", error) from None

    def _refusal(self, doing: str, error: Exception) -> StepError:
        self.forward_log()
        return StepError(f"component '{self.name}' failed while {doing}: {error}")

    def forward_log(self) -> None:
        """Pass the FMU's messages on to the logger ``orchestrator.fmu.<component>``."""
        for status, category, text in self.native.take_log():
            level = _LEVELS.get(status, logging.ERROR)
            self._last_message = text
            self._log.log(level, "%s: %s", category or "message", text)

    def last_message(self) -> str:
        """Return the last message that the FMU wrote."""
        self.forward_log()
        return self._last_message
