"""What an FMI 3.0 Co-Simulation FMU says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lxml import etree

from orchestrator.core.simunits.fmi.description_part import ModelDescription
from orchestrator.core.simunits.fmi.fmi3_clocks import timers_of
from orchestrator.core.simunits.fmi.fmu_variable import (
    FmuVariable,
    connector_of,
    unit_described,
    units_of,
)
from orchestrator.core.simunits.protocol.description import Capabilities, UnitDescription
from orchestrator.core.system import Causality, Connector, DataType, Variability


def describe_fmi3(
    described: ModelDescription, root: etree._Element
) -> tuple[UnitDescription, dict[str, FmuVariable]]:
    """Turn a model description into ports, feed-through and capabilities."""
    connectors, variables = _variables(described, root)
    cs = described.coSimulation
    element = root.find("CoSimulation")
    capabilities = Capabilities()
    if cs is not None:
        capabilities = Capabilities(
            can_roll_back=cs.canGetAndSetFMUstate,
            can_serialize=cs.canSerializeFMUstate,
            can_vary_step=cs.canHandleVariableCommunicationStepSize,
            has_directional_derivatives=_is_true(element, "providesDirectionalDerivatives"),
            input_order=_input_order(element, connectors, variables),
            has_event_mode=cs.hasEventMode,
            might_return_early=_is_true(element, "mightReturnEarlyFromDoStep"),
            once_per_process=cs.canBeInstantiatedOnlyOncePerProcess,
            fixed_step=_seconds(element, "fixedInternalStepSize"),
        )
    if capabilities.has_event_mode:
        connectors = {
            name: replace(connector, variability=_variability(variables[name]))
            for name, connector in connectors.items()
        }
    return unit_described(
        described, connectors, _feedthrough(described, connectors), capabilities
    ), variables


def _variability(variable: FmuVariable) -> Variability:
    if variable.clocks:
        return Variability.CLOCKED
    return Variability.DISCRETE if variable.is_discrete else Variability.CONTINUOUS


def _input_order(
    element: etree._Element | None,
    connectors: Mapping[str, Connector],
    variables: Mapping[str, FmuVariable],
) -> int:
    """Highest derivative of inputs that the engine follows by intermediate update.

    That is all of them or none: an input that cannot be set within the step would be held at its
    value at the begin of the step, and nothing would make up for that.
    """
    moving = [
        variables[name]
        for name, connector in connectors.items()
        if connector.causality is Causality.INPUT
        and connector.type is DataType.REAL
        and not variables[name].is_discrete
    ]
    told = _is_true(element, "providesIntermediateUpdate")
    return 3 if told and moving and all(variable.is_followed for variable in moving) else 0


def _seconds(element: etree._Element | None, name: str) -> float | None:
    """Read a positive length of time; the schema says that it is a number."""
    text = None if element is None else element.get(name)
    return float(text) if text is not None and float(text) > 0.0 else None


def _is_true(element: etree._Element | None, name: str) -> bool:
    return element is not None and element.get(name) in {"true", "1"}


def _variables(
    described: ModelDescription, root: etree._Element
) -> tuple[dict[str, Connector], dict[str, FmuVariable]]:
    texts = {
        element.get("name"): [start.get("value", "") for start in element.findall("Start")]
        for tag in ("String", "Binary")
        for element in root.findall(f"ModelVariables/{tag}")
    }
    timers = timers_of(root)
    followed = {
        element.get("name")
        for element in root.iterfind("ModelVariables/*")
        if element.get("intermediateUpdate") in {"true", "1"}
    }
    names = {v.valueReference: v.name for v in described.modelVariables if v.alias is None}
    connectors, variables = {}, {}
    units = units_of(described)
    for variable in described.modelVariables:
        if variable.alias is not None and variable.causality != Causality.OUTPUT:
            continue  # an input has one name: that of its own
        starts = texts.get(variable.name)
        if starts is None and variable.start is not None:
            starts = variable.start.split()
        if (found := connector_of(variable, variable.shape, starts, units)) is None:
            continue
        connectors[found.name] = found
        variables[found.name] = FmuVariable(
            variable.valueReference,
            "Int64" if variable.type == "Enumeration" else variable.type,
            tuple(
                d.start if d.start is not None else names[d.valueReference or 0]
                for d in variable.dimensions
            ),
            variable.variability != "continuous",
            tuple(clock.valueReference for clock in variable.clocks or ()),
            variable.causality == "structuralParameter",
            is_followed=variable.name in followed,
            timer=timers.get(variable.name),
        )
    return connectors, variables


def _feedthrough(
    described: ModelDescription, connectors: dict[str, Connector]
) -> dict[str, tuple[str, ...]]:
    found = {}
    for unknown in described.outputs:
        if unknown.dependencies is not None:
            inputs = (v.name for v in unknown.dependencies if v.causality == Causality.INPUT)
            found[unknown.variable.name] = tuple(inputs)
    for variable in described.modelVariables:
        if variable.alias is not None and variable.alias.name in found:
            found[variable.name] = found[variable.alias.name]
    return {name: inputs for name, inputs in found.items() if name in connectors}
