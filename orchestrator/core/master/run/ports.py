"""Ports of a run: values that are read and set between two steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from orchestrator.core.diagnostics import (
    CapabilityError,
    DescriptionError,
    listed_names,
    with_article,
)
from orchestrator.core.master.run.run_state import RunState
from orchestrator.core.simunits.value_rules import beyond
from orchestrator.core.system import Causality, Connector, DataType, Endpoint, Value
from orchestrator.core.system.naming import fits_float
from orchestrator.core.system.ports import Limits, plain_value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    PortValue = float | str | bytes | tuple[str, ...] | tuple[bytes, ...] | NDArray[np.float64]


class Ports:
    """Reads and sets connectors between two steps.

    state: What runs.
    """

    def __init__(self, state: RunState) -> None:
        self._system = state.system
        self._slots = state.schedule.slots
        self._units = {unit.name: unit for unit in state.units}
        self._engine = state.engine
        self._sources = {line.target: line for line in state.system.connections}
        #: Limits that a user gives, by name.
        self.given: Mapping[str, Limits] = {}
        self._found: dict[str, tuple[Endpoint, Connector]] = {}
        self._set: set[Endpoint] = set()

    def _connector(self, name: str) -> tuple[Endpoint, Connector]:
        connector_found = self._found.get(name)
        if connector_found is None:
            end = Endpoint.parse(name)
            connector = self._system.component(end.component).connector(end.connector)
            connector_found = Endpoint(end.component, connector.name), connector
            self._found[name] = connector_found
        return connector_found

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
        """Set an input or a tunable parameter; see :meth:`Execution.set`."""
        self.put(name, self.accepted(name, value))

    def put(self, name: str, value: Value) -> None:
        """Set what was accepted."""
        end, _ = self._connector(name)
        self._set.add(end)
        self._units[end.component].set_value(end.connector, value)

    @property
    def inputs_set(self) -> tuple[str, ...]:
        """Inputs that were set so far, by name."""
        names = sorted(map(str, self._set))
        return tuple(name for name in names if self.is_input(name))

    def connector(self, name: str) -> Connector:
        """Return a connector."""
        return self._connector(name)[1]

    def plain(self, name: str) -> Value:
        """Return the present value of a connector as what it can be set to."""
        end, connector = self._connector(name)
        value = plain_value(self._of_unit(end))
        if connector.type in {DataType.INTEGER, DataType.BOOLEAN} and not connector.shape:
            return bool(value) if connector.type is DataType.BOOLEAN else int(value)  # type: ignore[arg-type]
        return value

    def expect_real(self, name: str) -> None:
        """Expect a connector that can be led from one value to another."""
        connector = self._connector(name)[1]
        if connector.type is not DataType.REAL:
            raise CapabilityError(
                f"{name}: a ramp needs a Real, found {connector.type}: set it without a ramp"
            )

    def full_name(self, name: str) -> str:
        """Return the name of a connector as it is declared."""
        return str(self._connector(name)[0])

    def is_input(self, name: str) -> bool:
        """Whether a name is that of an input."""
        return self._connector(name)[1].causality is Causality.INPUT

    def accepted(self, name: str, value: Any) -> Value:
        """Return a value as its unit takes it, or say why it may not be set."""
        end, connector = self._connector(name)
        described = self._units[end.component].description
        if connector.causality in {Causality.PARAMETER, Causality.STRUCTURAL_PARAMETER}:
            if end.connector not in described.tunable:
                kind = described.variability.get(end.connector, "fixed")
                raise CapabilityError(
                    f"cannot set '{name}': it is {with_article(kind)} parameter, which is fixed"
                    f" during a run; {self._settable(end.component)}; set it in the system"
                )
        elif connector.causality is not Causality.INPUT:
            article = "an" if connector.causality[0] in "aeiou" else "a"
            raise CapabilityError(
                f"cannot set '{name}': it is {article} {connector.causality}, which only its"
                f" component sets; {self._settable(end.component)}"
            )
        if (line := self._sources.get(end)) is not None:
            raise CapabilityError(
                f"cannot set '{name}': the connection {line} sets it in every step and would"
                " overwrite the value; remove the connection to set the input from outside"
            )
        plain = _checked(name, connector, value)
        limits = self.limits(str(end))
        if limits is not None and (refusal := beyond(connector, limits, plain)) is not None:
            raise DescriptionError(f"{name}: {refusal}, beyond its limits")
        if connector.enumeration is not None and (refusal := connector.refusal(plain)) is not None:
            raise DescriptionError(f"{name}: {refusal}")
        return plain

    def limits(self, name: str) -> Limits | None:
        """Return the range of a connector: within what its unit declares and what a user gives."""
        end, _ = self._connector(name)
        declared = self._units[end.component].description.ranges.get(end.connector)
        limits = self.given.get(str(end))
        return limits.within(declared) if limits and declared else limits or declared

    def tunable(self) -> Iterator[str]:
        """Yield what can be set: inputs that nothing is connected to, and tunable parameters."""
        for name in self._system.components:
            yield from (f"{name}.{connector_name}" for connector_name in self._free(name))

    def _free(self, component: str) -> list[str]:
        described = self._units[component].description
        inputs = [c.name for c in self._system.components[component].of(Causality.INPUT)]
        free = [name for name in inputs if Endpoint(component, name) not in self._sources]
        return [*free, *(name for name in described.connectors if name in described.tunable)]

    def _settable(self, component: str) -> str:
        free = listed_names(self._free(component), "") if self._free(component) else "none"
        return f"inputs and tunable parameters of '{component}' that can be set: {free}"


def _checked(name: str, connector: Connector, value: Any) -> Value:
    """Return the value as the units take it, or say what was expected."""
    plain, is_real = plain_value(value, connector), connector.type is DataType.REAL
    is_fit = connector.accepts(plain)
    if is_fit and is_real:
        numbers: Any = plain if isinstance(plain, tuple) else (plain,)
        is_fit = all(map(fits_float, numbers))
    if is_fit:
        return plain
    shape = f" of shape {connector.shape}" if connector.shape else ""
    finite = "finite " if is_real else ""
    raise DescriptionError(f"{name}: expected {finite}{connector.type}{shape}, found {value!r}")
