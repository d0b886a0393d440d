"""Connectors of a running system by name: what can be read, and what can be set from outside."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.master.schedule.schedule import Schedule
from orchestrator.core.simunits import SimulationUnit
from orchestrator.core.system import Causality, Connector, DataType, Endpoint, System, Value
from orchestrator.core.system.ports.plain_value import plain_value
from orchestrator.engine import Engine

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    PortValue = float | str | bytes | tuple[str, ...] | tuple[bytes, ...] | NDArray[np.float64]


class Ports:
    """Reads and sets connectors between two steps.

    Parameters
    ----------
    system, schedule, units, engine
        What runs; units in order of the schedule.
    """

    def __init__(
        self,
        system: System,
        schedule: Schedule,
        units: Sequence[SimulationUnit],
        engine: Engine,
    ) -> None:
        self._system = system
        self._slots = schedule.slots
        self._units = {unit.name: unit for unit in units}
        self._engine = engine
        self._sources = {line.target: line for line in system.connections}
        self._found: dict[str, tuple[Endpoint, Connector]] = {}

    def _connector(self, name: str) -> tuple[Endpoint, Connector]:
        found = self._found.get(name)
        if found is None:
            end = Endpoint.parse(name)
            connector = self._system.component(end.component).connector(end.connector)
            found = Endpoint(end.component, connector.name), connector
            self._found[name] = found
        return found

    def get(self, name: str) -> PortValue:
        """Return the present value of a connector; see :meth:`Execution.get`."""
        end, connector = self._connector(name)
        name = str(end)
        if name not in self._slots:
            return self._of_unit(end)
        slot, size = self._slots[name]
        values = self._engine.signals[slot : slot + size]
        if not connector.shape:
            return values[0]
        import numpy as np

        return np.array(values).reshape(connector.shape)

    def _of_unit(self, end: Endpoint) -> PortValue:
        """Return a value that is in no signal, as its unit says it."""
        import numpy as np

        value = self._units[end.component].value(end.connector)
        as_it_is = isinstance(value, (str, bytes, tuple, np.ndarray))
        return value if as_it_is else float(value)  # type: ignore[arg-type, return-value]

    def set(self, name: str, value: Any) -> None:
        """Set an input that nothing is connected to; see :meth:`Execution.set`."""
        end, connector = self._connector(name)
        if connector.causality is Causality.OUTPUT:
            raise CapabilityError(
                f"cannot set '{name}': it is an output, which only its unit sets;"
                f" {self._settable(end.component)}"
            )
        if connector.causality is Causality.PARAMETER:
            raise CapabilityError(
                f"cannot set '{name}': it is a parameter, fixed once the run has begun;"
                f" {self._settable(end.component)}; set parameters in the system"
            )
        if (line := self._sources.get(end)) is not None:
            raise CapabilityError(
                f"cannot set '{name}': the connection {line} sets it in every step and would"
                " overwrite the value; leave that connection out to set the input from outside"
            )
        self._units[end.component].set_value(end.connector, _checked(name, connector, value))

    def _settable(self, component: str) -> str:
        inputs = [c.name for c in self._system.components[component].of(Causality.INPUT)]
        free = [name for name in inputs if Endpoint(component, name) not in self._sources]
        return f"inputs of '{component}' that can be set: {', '.join(free) or 'none'}"


def _checked(name: str, connector: Connector, value: Any) -> Value:
    """Return the value as the units take it, or say what was expected."""
    plain = plain_value(value, connector)
    if not connector.accepts(plain):
        raise _wrong(name, connector, value)
    if connector.type is DataType.REAL and not _finite(plain):
        raise _wrong(name, connector, value)
    return plain


def _finite(value: Any) -> bool:
    try:
        return all(map(isfinite, value if isinstance(value, tuple) else (value,)))
    except OverflowError:  # a whole number beyond all floats
        return False


def _wrong(name: str, connector: Connector, value: Any) -> DescriptionError:
    shape = f" of shape {connector.shape}" if connector.shape else ""
    finite = "finite " if connector.type is DataType.REAL else ""
    return DescriptionError(f"{name}: expected {finite}{connector.type}{shape}, found {value!r}")
