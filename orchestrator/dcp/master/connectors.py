"""Variables of a slave as connectors of a component."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.core.system import Causality, Connector, DataType, Value
from orchestrator.core.system.ports.limits import Limits
from orchestrator.dcp.data_types import DcpType
from orchestrator.dcp.description import SlaveDescription, Variable, VariableKind
from orchestrator.dcp.master.plan import Plan, started

_TYPES = {DcpType.STRING: DataType.STRING, DcpType.BINARY: DataType.BINARY}


def connectors_of(plan: Plan) -> tuple[Connector, ...]:
    """Return the connectors of a slave that is stepped: all data types, arrays as arrays."""
    return tuple(_connector(plan.about, each) for each in (*plan.inputs, *plan.outputs))


def _connector(about: SlaveDescription, variable: Variable) -> Connector:
    is_input = variable.kind is VariableKind.INPUT
    whole = DataType.INTEGER if variable.type.is_integer else DataType.REAL
    return Connector(
        variable.name,
        Causality.INPUT if is_input else Causality.OUTPUT,
        _TYPES.get(variable.type, whole),
        unit=variable.unit,
        shape=about.shape(variable),
        description=variable.description,
        start=_start(about, variable),
        unit_definition=about.units.get(variable.unit) if variable.unit else None,
        limits=_limits(variable) if is_input else None,
    )


def _start(about: SlaveDescription, variable: Variable) -> Value:
    values = started(about, variable)
    if not (variable.type.is_text or variable.type.is_integer):
        values = tuple(float(value) for value in values)
    return values if about.shape(variable) else values[0]  # type: ignore[return-value]


def _limits(variable: Variable) -> Limits | None:
    low, high = variable.minimum, variable.maximum
    return None if low is not None and low == high else Limits.of(low, high)


def feedthrough_of(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return for each output the inputs that act on it at once; all, if the slave does not say."""
    return {output.name: _acting(output, plan.inputs) for output in plan.outputs}


def _acting(output: Variable, inputs: Sequence[Variable]) -> tuple[str, ...]:
    says = output.dependencies
    if says is None or says.run is None:
        return tuple(variable.name for variable in inputs)
    return tuple(variable.name for variable in inputs if variable.reference in says.run)
