"""An FMI 1.0 Co-Simulation FMU: what it says of itself, and the unit that steps it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lxml import etree

from orchestrator.core.diagnostics import FmuError
from orchestrator.core.simunits.fmi.description_parts import TRUE, ModelDescription
from orchestrator.core.simunits.fmi.fmu_description import FmuDescription
from orchestrator.core.simunits.fmi.fmu_unit import USUAL_OPTIONS, FmuUnit
from orchestrator.core.simunits.fmi.fmu_variable import FmuVariable, connector_of, unit_described
from orchestrator.core.simunits.protocol import Capabilities, Phase, UnitDescription
from orchestrator.core.system import (
    Causality,
    ComponentOptions,
    Connector,
    DataType,
    Value,
    seconds,
)
from orchestrator.engine import Fmu1


class Fmu1Unit(FmuUnit):
    """Runs one instance by FMI 1.0.

    That version has no initialisation mode: it is initialised in one call, with the inputs that
    were set before it, and its outputs are known after it. Where the exchange of initial values
    changes the inputs once more, a new instance is initialised with them instead.
    """

    native: Fmu1

    def __init__(
        self, name: str, fmu: FmuDescription, options: ComponentOptions = USUAL_OPTIONS
    ) -> None:
        super().__init__(name, fmu, options)
        self._given: dict[str, Value] = {}
        self._texts: list[bytes] = []  # String inputs: set last, and when it was initialised
        self._texts_used: list[bytes] = []
        self._times: tuple[float, float | None] = 0.0, None

    def _load(self, name: str, folder: Path) -> Fmu1:
        fmu = self.fmu
        identifier = Path(fmu.library).stem
        native = Fmu1(self._library, identifier, name, fmu.guid, folder.as_uri(), self._logs)
        native.declare(fmu.description.capabilities.input_order > 0)
        return native

    def _set_values(self, values: Mapping[str, Value]) -> None:
        self._given.update(values)
        for name, value in values.items():
            self._set_value(name, value)

    def _bind(self) -> None:
        self.native.bind(self._ports(self.inputs), self._ports(self.outputs))
        self._bind_texts()

    def _ports(
        self, connectors: Sequence[Connector]
    ) -> tuple[list[int], list[int], list[int], list[str], list[float]]:
        def of(kind: DataType) -> list[int]:
            return [self.fmu.references[c.name] for c in connectors if c.type is kind]

        names = [c.name for c in connectors if c.type is DataType.INTEGER]
        signs = [self._sign(c) for c in connectors if c.type is DataType.REAL]
        if -1.0 not in signs:
            signs = []
        return of(DataType.REAL), of(DataType.INTEGER), of(DataType.BOOLEAN), names, signs

    def _sign(self, connector: Connector) -> float:
        return -1.0 if self.fmu.variables[connector.name].is_negated else 1.0

    def _setup(self, start_ns: int, stop_ns: int | None) -> None:
        self._times = seconds(start_ns), None if stop_ns is None else seconds(stop_ns)

    def set_texts(self, values: Sequence[bytes]) -> None:
        """Set all bound String inputs."""
        if self.phase is Phase.INITIALISING:
            self._texts = list(values)
        super().set_texts(values)

    def _initialise_outputs(self, start_ns: int) -> None:
        if self.phase is Phase.STEPPING:
            return  # inputs that change after its initialisation are those of its first step
        if self.native.is_initialised:
            if not self.native.is_stale and self._texts == self._texts_used:
                return
            with self._refusing("being created again"):
                self.native.renew()
            self._set_values(self._given)
            if self._texts:
                self._check(self.native.set_texts(self._texts), "setting its inputs")
        self._texts_used = self._texts
        self._check(self.native.initialise(*self._times), "initialising")

    def _exit_initialisation(self) -> None:
        if not self.native.is_initialised:
            self._check(self.native.initialise(*self._times), "initialising")

    def _value(self, connector: Connector) -> Any:
        value = super()._value(connector)
        return self._sign(connector) * value if connector.type is DataType.REAL else value

    def last_ns(self, time_ns: int) -> int:
        """Return the time that the FMU says it reached (fmiLastSuccessfulTime)."""
        reached = self.native.last_successful_time(seconds(time_ns))
        return max(round(reached * 1e9), time_ns) if math.isfinite(reached) else time_ns


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
        if (connector := connector_of(variable, (), starts)) is None:
            continue
        element = elements.get((connector.name, variable.valueReference))
        if element is None:
            raise FmuError(
                f"{path}: variable '{connector.name}' is not a variable of FMI 1.0: expected an"
                " element ScalarVariable without a namespace"
            )
        is_negated = element.get("alias") == "negatedAlias"
        if is_negated and connector.causality is not Causality.OUTPUT:
            raise FmuError(
                f"{path}: {connector.causality} '{connector.name}' is a negated alias; set the"
                " original variable"
            )
        connectors[connector.name] = connector
        variables[connector.name] = FmuVariable(
            variable.valueReference,
            variable.type,
            is_discrete=variable.variability == "discrete",
            is_negated=is_negated,
        )
        direct = element.find("DirectDependency")
        if direct is not None:
            feedthrough[connector.name] = tuple(name.text or "" for name in direct.findall("Name"))
    return unit_described(described, connectors, feedthrough, _capabilities(root)), variables


def _capabilities(root: etree._Element) -> Capabilities:
    element = root.find("Implementation/*/Capabilities")

    def can(name: str) -> bool:
        return element is not None and element.get(name) in TRUE

    return Capabilities(
        can_vary_step=can("canHandleVariableCommunicationStepSize"),
        input_order=int(can("canInterpolateInputs")),
        once_per_process=can("canBeInstantiatedOnlyOncePerProcess"),
    )
