"""An FMU as a simulation unit."""

from __future__ import annotations

import logging
import math
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from orchestrator.archive import extract
from orchestrator.engine import Fmu2, SavedState
from orchestrator.errors import DescriptionError, FmuError, StepError
from orchestrator.simunits.elf import is_whole
from orchestrator.simunits.fmu_description import FmuDescription
from orchestrator.simunits.unit import SimulationUnit
from orchestrator.system import Connector, DataType, Value, seconds

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


class FmuUnit(SimulationUnit):
    """Runs one instance of an FMI 2.0 FMU, for Co-Simulation unless ``exchange`` is true.

    Raises
    ------
    FmuError
        If the library cannot be loaded or the FMU refuses to be instantiated.
    """

    native: Fmu2

    def __init__(
        self, name: str, fmu: FmuDescription, *, logging_on: bool = False, exchange: bool = False
    ) -> None:
        self._folder = _unpacked(fmu.path, fmu.path.stat().st_mtime_ns)
        folder = self._folder.path
        if not is_whole(folder / fmu.library):
            raise FmuError(
                f"component '{name}' ({fmu.path}): '{fmu.library}' is damaged: expected a whole"
                " 64-bit ELF library"
            )
        try:
            native = Fmu2(
                str(folder / fmu.library),
                name,
                fmu.guid,
                (folder / "resources").as_uri(),
                logging_on,
                exchange,
            )
        except RuntimeError as error:
            raise FmuError(f"component '{name}' ({fmu.path}): {error}") from None
        can = fmu.description.capabilities
        native.declare(can.can_roll_back, can.takes_input_slopes, can.has_directional_derivatives)
        super().__init__(name, fmu.description, native)
        self.fmu = fmu
        self._log = logging.getLogger(f"orchestrator.fmu.{name}")

    def _references(self, connectors: Sequence[Connector], kind: DataType) -> list[int]:
        return [self.fmu.references[c.name] for c in connectors if c.type is kind]

    def _set_values(self, values: Mapping[str, Value]) -> None:
        for name, value in values.items():
            reference = [self.fmu.references[name]]
            kind = self.description.connectors[name].type
            if kind is DataType.REAL:
                status = self.native.set_real(reference, [float(value)])  # type: ignore[arg-type]
            elif kind is DataType.INTEGER:
                if not -(2**31) <= int(value) < 2**31:  # type: ignore[arg-type]
                    raise DescriptionError(
                        f"component '{self.name}': parameter '{name}': expected an Integer of"
                        f" 32 bits, as FMI 2.0 has it, found {value}"
                    )
                status = self.native.set_integer(reference, [int(value)])  # type: ignore[arg-type]
            elif kind is DataType.BOOLEAN:
                status = self.native.set_boolean(reference, [bool(value)])
            else:
                status = self.native.set_string(reference, [str(value)])
            self._check(status, f"setting '{name}' to {value!r}")

    def _bind(self) -> None:
        kinds = (DataType.REAL, DataType.INTEGER, DataType.BOOLEAN)
        inputs = [self._references(self.inputs, kind) for kind in kinds]
        outputs = [self._references(self.outputs, kind) for kind in kinds]
        self.native.bind(*inputs, *outputs)

    def _setup(self, start_ns: int, stop_ns: int | None, tolerance: float | None) -> None:
        stop = None if stop_ns is None else seconds(stop_ns)
        self._check(self.native.setup(seconds(start_ns), stop, tolerance), "setting up")
        self._check(self.native.enter_initialization(), "entering initialisation")

    def _initialise_outputs(self, start_ns: int) -> None:
        """An FMU in initialisation mode computes its outputs when they are read."""

    def _exit_initialisation(self) -> None:
        self._check(self.native.exit_initialization(), "exiting initialisation")

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
        except RuntimeError as error:
            raise self._refusal("turning its state into bytes", error) from None

    def _deserialize(self, data: bytes) -> object:
        try:
            return self.native.deserialize_state(data)
        except RuntimeError as error:
            raise self._refusal("reading its state from bytes", error) from None

    def _refusal(self, doing: str, error: RuntimeError) -> StepError:
        self.forward_log()
        return StepError(f"component '{self.name}' failed while {doing}: {error}")

    def _value(self, connector: Connector) -> Value:
        reference = [self.fmu.references[connector.name]]
        read: Mapping[DataType, Callable[[list[int]], Sequence[Value]]] = {
            DataType.REAL: self.native.get_real,
            DataType.INTEGER: self.native.get_integer,
            DataType.BOOLEAN: self.native.get_boolean,
            DataType.STRING: self.native.get_string,
        }
        try:
            return read[connector.type](reference)[0]
        except RuntimeError as error:
            raise self._refusal(f"reading '{connector.name}'", error) from None

    def _terminate(self) -> None:
        self.native.terminate()

    def last_ns(self, time_ns: int) -> int:
        """Return the time that the FMU says it reached (fmi2LastSuccessfulTime)."""
        reached = self.native.last_successful_time()
        return max(round(reached * 1e9), time_ns) if math.isfinite(reached) else time_ns

    def forward_log(self) -> None:
        """Pass the FMU's messages on to the logger ``orchestrator.fmu.<component>``."""
        for status, category, text in self.native.take_log():
            level = _LEVELS.get(status, logging.ERROR)
            self._log.log(level, "%s: %s", category or "message", text)
