"""What a Model Exchange FMU says of itself: states, event indicators, continuous inputs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from lxml import etree

from orchestrator.core.diagnostics import FmuError
from orchestrator.core.simunits.fmi.description_part import Interface, ModelDescription, Variable
from orchestrator.core.simunits.protocol.description import Capabilities, UnitDescription
from orchestrator.core.system import Causality


@dataclass(frozen=True, slots=True)
class ExchangeDescription:
    """The Model Exchange interface of an FMU.

    Parameters
    ----------
    states
        Names of the continuous states; an array has one name, with brackets, for each element.
    state_references, derivative_references
        Value references of the state variables and of their derivatives, in the same order.
    sizes
        Number of elements of each state variable.
    indicators
        Number of event indicators, as FMI 2.0 declares it.
    continuous
        Names of the inputs that may change while time goes on.
    has_jacobian
        Whether derivatives of the derivatives may be asked for.
    tell_steps
        Whether it wants to know of every internal step.
    """

    states: tuple[str, ...]
    state_references: tuple[int, ...]
    derivative_references: tuple[int, ...]
    sizes: tuple[int, ...]
    indicators: int
    continuous: frozenset[str]
    has_jacobian: bool
    tell_steps: bool


def as_model_exchange(
    description: UnitDescription, described: ModelDescription, root: etree._Element
) -> UnitDescription:
    """Return the description of a unit for the case that it is run by Model Exchange."""
    interface = described.modelExchange or Interface()
    capabilities = Capabilities(
        can_roll_back=interface.canGetAndSetFMUstate,
        can_serialize=interface.canSerializeFMUstate,
        has_directional_derivatives=_differentiates(root),
        input_order=3,
        once_per_process=interface.canBeInstantiatedOnlyOncePerProcess,
    )
    details = {
        **description.details,
        "kind": f"FMU, FMI {described.fmiVersion} Model Exchange",
    }
    states = bool(described.derivatives)
    return replace(description, capabilities=capabilities, has_states=states, details=details)


def describe_exchange(described: ModelDescription, *, has_jacobian: bool) -> ExchangeDescription:
    """Read the Model Exchange interface from a model description."""
    derivatives = [unknown.variable for unknown in described.derivatives]
    variables = [each.derivative for each in derivatives if each.derivative is not None]
    if len(variables) < len(derivatives):
        wrong = ", ".join(f"'{each.name}'" for each in derivatives if each.derivative is None)
        raise FmuError(
            f"FMU of model '{described.modelName}': {wrong} stand among the derivatives and do not"
            " say of what (attribute 'derivative')"
        )
    sizes = [prod(variable.shape) for variable in variables]
    names: list[str] = []
    for variable, size in zip(variables, sizes, strict=True):
        is_array = bool(variable.shape)
        names += [f"{variable.name}[{i}]" if is_array else variable.name for i in range(size)]
    return ExchangeDescription(
        states=tuple(names),
        state_references=tuple(variable.valueReference for variable in variables),
        derivative_references=tuple(derivative.valueReference for derivative in derivatives),
        sizes=tuple(sizes),
        indicators=described.numberOfEventIndicators,
        continuous=frozenset(v.name for v in described.modelVariables if _is_continuous(v)),
        has_jacobian=has_jacobian,
        tell_steps=(described.modelExchange or Interface()).needsCompletedIntegratorStep,
    )


def _differentiates(root: etree._Element) -> bool:
    element = root.find("ModelExchange")
    names = ("providesDirectionalDerivative", "providesDirectionalDerivatives")
    return element is not None and any(element.get(name) in {"true", "1"} for name in names)


def _is_continuous(variable: Variable) -> bool:
    return (
        variable.causality == Causality.INPUT
        and variable.type in {"Real", "Float64"}
        and variable.variability in {None, "continuous"}
    )
