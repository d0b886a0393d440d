"""What an FMI 1.0 Co-Simulation FMU says of itself."""

from __future__ import annotations

from pathlib import Path

from lxml import etree

from orchestrator.core.diagnostics import FmuError
from orchestrator.core.simunits.fmi.description_part import ModelDescription
from orchestrator.core.simunits.fmi.fmu_variable import FmuVariable, connector_of, unit_described
from orchestrator.core.simunits.protocol.description import Capabilities, UnitDescription
from orchestrator.core.system import Causality


def describe_fmi1(
    path: Path, described: ModelDescription, root: etree._Element
) -> tuple[UnitDescription, dict[str, FmuVariable]]:
    """Turn a model description into ports, feed-through and capabilities."""
    elements = {  # names may be shared with locals
        (e.get("name"), int(e.get("valueReference", "-1"))): e
        for e in root.findall("ModelVariables/ScalarVariable")
    }
    connectors, variables, feedthrough = {}, {}, {}
    for variable in described.modelVariables:
        starts = None if variable.start is None else [variable.start]
        if (found := connector_of(variable, (), starts)) is None:
            continue
        element = elements.get((found.name, variable.valueReference))
        if element is None:
            raise FmuError(
                f"{path}: variable '{found.name}' is none of FMI 1.0: expected an element"
                " ScalarVariable without a namespace"
            )
        is_negated = element.get("alias") == "negatedAlias"
        if is_negated and found.causality is not Causality.OUTPUT:
            raise FmuError(
                f"{path}: {found.causality} '{found.name}' is a negated alias; set the variable"
                " that it stands for"
            )
        connectors[found.name] = found
        variables[found.name] = FmuVariable(
            variable.valueReference,
            variable.type,
            is_discrete=variable.variability == "discrete",
            is_negated=is_negated,
        )
        direct = element.find("DirectDependency")
        if direct is not None:
            feedthrough[found.name] = tuple(name.text or "" for name in direct.findall("Name"))
    return unit_described(described, connectors, feedthrough, _capabilities(root)), variables


def _capabilities(root: etree._Element) -> Capabilities:
    element = root.find("Implementation/*/Capabilities")

    def can(name: str) -> bool:
        return element is not None and element.get(name) in {"true", "1"}

    return Capabilities(
        can_vary_step=can("canHandleVariableCommunicationStepSize"),
        input_order=int(can("canInterpolateInputs")),
        once_per_process=can("canBeInstantiatedOnlyOncePerProcess"),
    )
