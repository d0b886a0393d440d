"""What the declaration of a variable makes of it: input, state or output, parameter, discrete."""

from __future__ import annotations

from typing import Any

from orchestrator.export.dae.residual_dae import Kind
from orchestrator.export.modelica.flat.model import FlatModel
from orchestrator.export.modelica.flat.structure_probe import referenced_names
from orchestrator.export.modelica.flat.when_reader import when_targets

Json = Any


class VariableClasses:
    """Classifies the variables of a flat model by their declarations."""

    def __init__(self, flat: FlatModel) -> None:
        self._flat = flat
        self._entries: dict[str, Json] = flat.tree["variables"]
        self._assigned_in_when = when_targets(flat.tree["when_chains"], flat.tree["algorithms"])

    def kind(self, name: str) -> Kind:
        """Kind of a variable, with all its elements."""
        entry = self._entries[name]
        variability = entry["variability"]
        tag = next(iter(variability)) if isinstance(variability, dict) else variability
        causality = entry["causality"]
        direction = next(iter(causality)) if isinstance(causality, dict) else causality
        if tag == "Constant":
            return Kind.CONSTANT
        if tag == "Parameter":
            return self._classify_parameter(name, entry)
        if direction == "Input" and self._is_at_the_top(name):
            return Kind.INPUT
        if tag == "Discrete" or entry["is_discrete_type"] or self.is_assigned_in_when(name):
            return Kind.DISCRETE
        return Kind.OUTPUT if self.is_connector_output(name) else Kind.LOCAL

    def is_assigned_in_when(self, name: str) -> bool:
        """Whether a when clause sets a variable, given whole or as an element."""
        assigned, whole = self._assigned_in_when, name.rpartition("[")[0]
        return (
            name in assigned
            or whole in assigned
            or any(target.startswith(f"{name}[") for target in assigned)
        )

    def _classify_parameter(self, name: str, entry: Json) -> Kind:
        if entry["fixed"] and not any(entry["fixed"]):
            return Kind.CALCULATED  # by the initial system
        if name in self._flat.structural:
            return Kind.CONSTANT
        if self._flat.tree["variable_final_flags"].get(name) or any(
            referenced_names(entry["binding"])
        ):
            return Kind.CALCULATED
        return Kind.PARAMETER

    def is_free(self, name: str) -> bool:
        """Whether a parameter is declared with fixed=false."""
        fixed = self._entries[name]["fixed"]
        return self._is_parameter(name) and bool(fixed) and not any(fixed)

    def is_final(self, name: str) -> bool:
        """Whether a modification declares it final."""
        return bool(self._flat.tree["variable_final_flags"].get(name))

    def is_connector_output(self, name: str) -> bool:
        """Whether a variable is an output of the FMU."""
        causality = self._entries[name]["causality"]
        direction = next(iter(causality)) if isinstance(causality, dict) else causality
        return bool(direction == "Output") and self._is_at_the_top(name)

    def _is_at_the_top(self, name: str) -> bool:
        """Only what the top level declares, connectors too, is the FMU's."""
        return "." not in name or bool(self._flat.connector(name))

    def has_no_value(self, name: str) -> bool:
        """Whether a parameter that is used has neither a value nor an equation for it."""
        # What no equation uses needs none: the declaration `outer parameter` is left over as well.
        used = self._is_parameter(name) and name not in self._flat.structural
        return used and self._entries[name]["binding"] is None and not self.is_free(name)

    def _is_parameter(self, name: str) -> bool:
        variability = self._entries[name]["variability"]
        return isinstance(variability, dict) and "Parameter" in variability
