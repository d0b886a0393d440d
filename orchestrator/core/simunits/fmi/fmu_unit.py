"""An FMU as a simulation unit: what all versions of FMI have in common, and FMI 2.0."""

from __future__ import annotations

import logging
import math
import os
import shutil
import tempfile
import threading
import weakref
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from lxml import etree

from orchestrator.core.diagnostics import CapabilityError, DescriptionError, FmuError, StepError
from orchestrator.core.files.archive import extract
from orchestrator.core.simunits.fmi.description_parts import ModelDescription
from orchestrator.core.simunits.fmi.fmu_description import FmuDescription
from orchestrator.core.simunits.fmi.fmu_variable import (
    FmuVariable,
    connector_of,
    described_capabilities,
    described_feedthrough,
    unit_described,
    units_of,
)
from orchestrator.core.simunits.fmi.library_file import wrong_library
from orchestrator.core.simunits.protocol import SimulationUnit, UnitDescription
from orchestrator.core.system import ComponentOptions, Connector, DataType, Value, seconds
from orchestrator.engine import Fmu, Fmu2, SavedState, windows_bridge

USUAL_OPTIONS = ComponentOptions()
_LEVELS = {0: logging.INFO, 1: logging.WARNING, 5: logging.INFO}


class _Folder:
    """A temporary folder that is removed with its last user, or with the process."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="softdock-fmu-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@lru_cache(maxsize=256)
def _unpacked(path: Path, stamp: int) -> _Folder:  # noqa: ARG001 - the stamp renews the cache
    """Unpack once per content and process what an FMU needs to run."""
    folder = _Folder()
    extract(path, folder.path, FmuError, without=("sources/", "documentation/"))
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
            type_name = variable.type
            if type_name in {"Integer", "Enumeration"}:
                type_name = "Integer of 32 bits, as FMI 1.0 and 2.0 have it"
            raise DescriptionError(
                f"component '{component}': parameter '{name}': expected an {type_name}, found"
                f" {number!r}"
            )


def show_messages(component: str) -> None:
    """Let the messages of an FMU through to whatever shows logs, those for debugging, too.

    A level that somebody has set for the component's logger stays.
    """
    log = logging.getLogger(f"orchestrator.fmu.{component}")
    if log.level == logging.NOTSET:
        log.setLevel(logging.INFO)


class FmuUnit(SimulationUnit):
    """Runs one instance of an FMU; each version of FMI has its own class.

    name, fmu: The component's name, and the FMU.
    options: Its relative tolerance, and whether it logs for debugging.
    Raises FmuError: if the library cannot be loaded or the FMU refuses to be instantiated.
    """

    native: Fmu

    def __init__(
        self, name: str, fmu: FmuDescription, options: ComponentOptions = USUAL_OPTIONS
    ) -> None:
        unpacked_fmu = unpacked(fmu.path)
        folder = unpacked_fmu.path
        self.fmu = fmu
        self.tolerance = fmu.relative_tolerance(options.tolerance)
        self._logs = options.debug or fmu.logs
        self._library = str(self._loadable(name, folder / fmu.library))
        try:
            native = self._load(name, folder)
            if not self._logs:
                native.log_categories(fmu.log_categories)
        except RuntimeError as error:
            raise FmuError(f"component '{name}' ({fmu.path}): {error}") from None
        super().__init__(name, fmu.description, native)
        self._folder = (
            unpacked_fmu  # after the instance, so freed after it: Windows removes no loaded library
        )
        self._last_message = ""
        self._log = logging.getLogger(f"orchestrator.fmu.{name}")

    def _loadable(self, name: str, library: Path) -> Path:
        """Return the library that the engine loads: the FMU's, or the bridge to that of Windows."""
        if self.fmu.platform is not None:
            from orchestrator.core.simunits.fmi.wine import WineHost

            self._host = WineHost(name, self.fmu.path, library)  # ends with this unit
            return windows_bridge()
        if problem := wrong_library(library):
            raise FmuError(f"component '{name}' ({self.fmu.path}): '{self.fmu.library}' {problem}")
        return library

    @abstractmethod
    def _load(self, name: str, folder: Path) -> Fmu:
        """Make the engine's instance of the library, with the unpacked archive."""

    def _bind_texts(self) -> None:
        def row(connector: Connector) -> tuple[str, bool, int, int]:
            reference = self.fmu.variables[connector.name].reference
            return connector.name, connector.type is DataType.BINARY, reference, connector.size

        self.native.bind_texts(list(map(row, self.text_inputs)), list(map(row, self.text_outputs)))

    def _set_value(self, name: str, value: Value) -> None:
        """Set a scalar by FMI 1.0 and 2.0."""
        check_limits(self.name, name, self.fmu.variables[name], value)
        kind, plain = _KINDS[self.description.connectors[name].type]
        status = self._access(f"set_{kind}", name, plain(value))
        self._check(status, f"setting '{name}' to {value!r}")

    def _value(self, connector: Connector) -> Any:
        kind, _ = _KINDS[connector.type]
        with self._refusing(f"reading '{connector.name}'"):
            return self._access(f"get_{kind}", connector.name)

    def _access(self, call: str, name: str, *value: Value) -> Any:
        """Let a call of the engine's instance set a scalar or return it."""
        return getattr(self.native, call)(self.fmu.references[name], *value)

    def _terminate(self) -> None:
        self.native.terminate()

    def _get_state(self) -> object:
        with self._refusing("saving its state"):
            return self.native.get_state()

    def _set_state(self, state: object) -> None:
        with self._refusing("restoring a state"):
            status = self.native.set_state(_saved(state))
        self._check(status, "restoring a state")

    def _serialize(self, state: object) -> bytes:
        with self._refusing("turning its state into bytes", (RuntimeError, ValueError)):
            return _saved(state).serialize()

    def _deserialize(self, data: bytes) -> object:
        with self._refusing("reading its state from bytes"):
            return self.native.deserialize_state(data)

    @contextmanager
    def _refusing(
        self, doing: str, kinds: tuple[type[Exception], ...] = (RuntimeError,)
    ) -> Iterator[None]:
        """Say what the FMU refused to do."""
        try:
            yield
        except kinds as error:
            self.forward_log()
            raise StepError(f"component '{self.name}' failed while {doing}: {error}") from None

    def forward_log(self) -> None:
        """Pass the FMU's messages on to the logger ``orchestrator.fmu.<component>``."""
        for status, category, text in self.native.take_log():
            level = _LEVELS.get(status, logging.ERROR)
            self._last_message = text
            self._log.log(level, "%s: %s", category or "message", text)

    @property
    def logs_more(self) -> str:
        """Say how its messages for debugging are turned on, where they are off."""
        return "" if self._logs else "; set its option debug (--debug) to see its log"

    def last_message(self) -> str:
        """Return the last message that the FMU wrote."""
        self.forward_log()
        return self._last_message


#: Of the scalars of FMI 1.0 and 2.0 what calls of the engine name them, and what they take.
_KINDS: Mapping[DataType, tuple[str, Callable[[Any], Value]]] = {
    DataType.REAL: ("real", float),
    DataType.INTEGER: ("integer", int),
    DataType.BOOLEAN: ("boolean", bool),
    DataType.STRING: ("string", str),
}


def _saved(state: object) -> SavedState:
    if not isinstance(state, SavedState):
        raise TypeError(f"expected a saved FMU state, found {type(state).__name__}")
    return state


_UNITS: weakref.WeakValueDictionary[str, SimulationUnit] = weakref.WeakValueDictionary()
_LOCK = threading.Lock()


def is_loaded(path: str | Path) -> bool:
    """Return whether this process has the library of such an FMU, with what an instance leaves."""
    return os.path.realpath(path) in _UNITS


def only_instance(name: str, path: Path, make: Callable[[], SimulationUnit]) -> SimulationUnit:
    """Make the only instance of an FMU in this process."""
    with _LOCK:
        if is_loaded(path):
            raise CapabilityError(
                f"component '{name}': {path} can be instantiated only once per process"
                " (canBeInstantiatedOnlyOncePerProcess), and another run of this process has it"
                " loaded; choose isolation 'process', or close that run and keep nothing of it"
            )
        unit = make()
        _UNITS[os.path.realpath(path)] = unit
    return unit


class Fmu2Unit(FmuUnit):
    """Runs one instance by FMI 2.0."""

    native: Fmu2

    def _load(self, name: str, folder: Path) -> Fmu2:
        fmu = self.fmu
        resources = (folder / "resources").as_uri()
        exchange = fmu.interface == "ModelExchange"
        native = Fmu2(self._library, name, fmu.guid, resources, self._logs, exchange=exchange)
        can = fmu.description.capabilities
        native.declare(can.can_roll_back, can.input_order, can.has_directional_derivatives)
        return native

    def _set_values(self, values: Mapping[str, Value]) -> None:
        for name, value in values.items():
            self._set_value(name, value)

    def _bind(self) -> None:
        references: list[Any] = [
            [self.fmu.references[c.name] for c in connectors if c.type is kind]
            for connectors in (self.inputs, self.outputs)
            for kind in (DataType.REAL, DataType.INTEGER, DataType.BOOLEAN)
        ]
        references.append([c.name for c in self.inputs if c.type is DataType.INTEGER])
        self.native.bind(*references)
        self._bind_texts()

    def _setup(self, start_ns: int, stop_ns: int | None) -> None:
        stop = None if stop_ns is None else seconds(stop_ns)
        self._check(self.native.setup(seconds(start_ns), stop, self.tolerance), "setting up")
        self._check(self.native.enter_initialization(), "entering initialisation")

    def _exit_initialisation(self) -> None:
        self._check(self.native.exit_initialization(), "exiting initialisation")

    def _access(self, call: str, name: str, *value: Value) -> Any:
        answer = getattr(self.native, call)(
            [self.fmu.references[name]], *([element] for element in value)
        )
        return answer if value else answer[0]

    def last_ns(self, time_ns: int) -> int:
        """Return the time that the FMU says it reached (fmi2LastSuccessfulTime)."""
        reached = self.native.last_successful_time()
        return max(round(reached * 1e9), time_ns) if math.isfinite(reached) else time_ns


def describe_fmi2(
    described: ModelDescription, root: etree._Element
) -> tuple[UnitDescription, dict[str, FmuVariable]]:
    """Turn a model description into ports, feed-through and capabilities."""
    connectors, variables = {}, {}
    units = units_of(described)
    for variable in described.modelVariables:
        starts = None if variable.start is None else [variable.start]
        if (connector := connector_of(variable, (), starts, units)) is not None:
            connectors[connector.name] = connector
            variables[connector.name] = FmuVariable(
                variable.valueReference,
                variable.type,
                is_discrete=variable.variability == "discrete",
            )
    capabilities = described_capabilities(described, _input_order(described, root))
    feedthrough = described_feedthrough(described)
    return unit_described(described, connectors, feedthrough, capabilities), variables


def _input_order(described: ModelDescription, root: etree._Element) -> int:
    """Highest derivative of inputs that is used: FMI 2.0 has no word for it, but promises one."""
    if described.coSimulation is None or not described.coSimulation.canInterpolateInputs:
        return 0
    annotation = root.find("VendorAnnotations/Tool[@name='Softdock']/InputDerivatives")
    order = "" if annotation is None else annotation.get("maximumOrder", "")
    return int(order) if order in {"2", "3"} else 1
