"""What an FMI 2.0 Co-Simulation FMU says of itself."""

from __future__ import annotations

from lxml import etree

from orchestrator.core.simunits.fmi.description_part import ModelDescription
from orchestrator.core.simunits.fmi.fmu_variable import (
    FmuVariable,
    connector_of,
    unit_described,
    units_of,
)
from orchestrator.core.simunits.protocol.description import Capabilities, UnitDescription
from orchestrator.core.system import Causality


def describe_fmi2(
    described: ModelDescription, root: etree._Element
) -> tuple[UnitDescription, dict[str, FmuVariable]]:
    """Turn a model description into ports, feed-through and capabilities."""
    connectors, variables = {}, {}
    units = units_of(described)
    for variable in described.modelVariables:
        starts = None if variable.start is None else [variable.start]
        if (found := connector_of(variable, (), starts, units)) is not None:
            connectors[found.name] = found
            variables[found.name] = FmuVariable(
                variable.valueReference,
                variable.type,
                is_discrete=variable.variability == "discrete",
            )
    feedthrough = {}
    for unknown in described.outputs:
        if unknown.dependencies is not None:
            feedthrough[unknown.variable.name] = tuple(
                v.name for v in unknown.dependencies if v.causality == Causality.INPUT
            )
    cs = described.coSimulation
    capabilities = Capabilities()
    if cs is not None:
        capabilities = Capabilities(
            can_roll_back=cs.canGetAndSetFMUstate,
            can_serialize=cs.canSerializeFMUstate,
            can_vary_step=cs.canHandleVariableCommunicationStepSize,
            has_directional_derivatives=cs.providesDirectionalDerivative,
            input_order=_input_order(root) if cs.canInterpolateInputs else 0,
            once_per_process=cs.canBeInstantiatedOnlyOncePerProcess,
        )
    return unit_described(described, connectors, feedthrough, capabilities), variables


def _input_order(root: etree._Element) -> int:
    """Highest derivative of inputs that is used: FMI 2.0 has no word for it, but promises one."""
    told = root.find("VendorAnnotations/Tool[@name='Softdock']/InputDerivatives")
    order = "" if told is None else told.get("maximumOrder", "")
    return int(order) if order in {"2", "3"} else 1
