"""An FMI 2.0 Co-Simulation FMU as a simulation unit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from orchestrator.core.simunits.fmi.fmu_unit import FmuUnit
from orchestrator.core.system import Connector, DataType, Value, seconds
from orchestrator.engine import Fmu2


class Fmu2Unit(FmuUnit):
    """Runs one instance by FMI 2.0."""

    native: Fmu2

    def _load(self, name: str, folder: Path) -> Fmu2:
        fmu = self.fmu
        resources = (folder / "resources").as_uri()
        exchange = fmu.interface == "ModelExchange"
        library = str(folder / fmu.library)
        native = Fmu2(library, name, fmu.guid, resources, self._logging_on, exchange)
        can = fmu.description.capabilities
        native.declare(can.can_roll_back, can.input_order, can.has_directional_derivatives)
        return native

    def _references(
        self, connectors: Sequence[Connector]
    ) -> tuple[list[int], list[int], list[int]]:
        def of(kind: DataType) -> list[int]:
            return [self.fmu.references[c.name] for c in connectors if c.type is kind]

        return of(DataType.REAL), of(DataType.INTEGER), of(DataType.BOOLEAN)

    def _set_values(self, values: Mapping[str, Value]) -> None:
        for name, value in values.items():
            reference = [self.fmu.references[name]]
            kind = self.description.connectors[name].type
            self._check_limits(name, value)
            if kind is DataType.REAL:
                status = self.native.set_real(reference, [float(value)])  # type: ignore[arg-type]
            elif kind is DataType.INTEGER:
                status = self.native.set_integer(reference, [int(value)])  # type: ignore[arg-type]
            elif kind is DataType.BOOLEAN:
                status = self.native.set_boolean(reference, [bool(value)])
            else:
                status = self.native.set_string(reference, [str(value)])
            self._check(status, f"setting '{name}' to {value!r}")

    def _bind(self) -> None:
        names = [c.name for c in self.inputs if c.type is DataType.INTEGER]
        inputs, outputs = self._references(self.inputs), self._references(self.outputs)
        self.native.bind(*inputs, *outputs, names)
        self._bind_texts()

    def _setup(self, start_ns: int, stop_ns: int | None, tolerance: float | None) -> None:
        stop = None if stop_ns is None else seconds(stop_ns)
        self._check(self.native.setup(seconds(start_ns), stop, tolerance), "setting up")
        self._check(self.native.enter_initialization(), "entering initialisation")

    def _exit_initialisation(self) -> None:
        self._check(self.native.exit_initialization(), "exiting initialisation")

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
