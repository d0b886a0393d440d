"""The variables of a flat model, expanded to scalars and classified, and its Strings."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Any

import casadi as ca

from orchestrator.core.diagnostics import ModelicaError, UnitMismatchError
from orchestrator.core.structs import replace
from orchestrator.core.units.conversion import is_expressible, other_spelling
from orchestrator.export.dae.residual_dae import (
    DataType,
    Kind,
    StateSelect,
    Variable,
    element_names,
)
from orchestrator.export.modelica.flat.expression import ExpressionScope, Interpreter
from orchestrator.export.modelica.flat.model import FlatModel, Refusal, is_settled, tag_of
from orchestrator.export.modelica.flat.statements import when_targets
from orchestrator.export.modelica.flat.structure_probe import EnumerationTypes, referenced_names
from orchestrator.export.modelica.flat.tensor import Tensor

Json = Any
_LOGGER = logging.getLogger(__name__)


def read_texts(flat: FlatModel, interpreter: Interpreter) -> dict[str, Tensor]:
    """Values of the String parameters and constants; other Strings are left out with a warning."""
    entries, types = flat.tree["variables"], flat.tree["variable_type_names"]
    strings = [name for name in entries if types[name] == "String"]
    moving = [n for n in strings if entries[n]["dims"] or not is_settled(entries[n])]
    waiting = [name for name in strings if name not in moving]
    texts: dict[str, Tensor] = {}
    for name in waiting * len(waiting):  # they may name each other in any order
        entry = entries[name]
        node = entry["binding"] or entry["start"] or {"Literal": {"value": {"String": ""}}}
        try:
            if not (set(referenced_names(node)) - texts.keys()):
                texts[name] = interpreter.evaluate(node, ExpressionScope(texts))
        except Refusal as refusal:
            raise flat.refused(name, refusal) from refusal
    if moving:
        listing = ", ".join(moving[:3]) + (", .." if len(moving) > 3 else "")
        _LOGGER.warning(
            "%s: %d String variables are left out of the FMU: %s", flat.name, len(moving), listing
        )
    return texts


class VariableReader:
    """Symbols and metadata of every variable.

    names: Variable name to its symbols; constants to their values.
    kinds, discrete, fixed: Kinds of scalar variables, those that change at events only, and those
        that are declared with fixed=true.
    texts: Values of the Strings.
    equation_bindings: ``(name, binding, origin)`` of declarations ``Real x = expression``: they are
        equations.
    """

    def __init__(
        self, flat: FlatModel, interpreter: Interpreter, literals: Mapping[str, Tensor]
    ) -> None:
        self._flat = flat
        self._interpreter = interpreter
        self._literals = literals
        self._enumerations = EnumerationTypes(flat.name, flat.tree)
        types = flat.tree["variable_type_names"]
        self._entries: dict[str, Json] = {
            name: entry for name, entry in flat.tree["variables"].items() if types[name] != "String"
        }
        self.kinds: dict[str, Kind] = {}
        self.discrete: set[str] = set()
        self.fixed: set[str] = set()
        self.names: dict[str, Tensor] = {}
        self.equation_bindings: list[tuple[str, Json, str]] = []
        self.texts = read_texts(flat, interpreter)
        self._assigned_in_when = when_targets(flat.tree["when_chains"], flat.tree["algorithms"])
        self._kinds = {name: self._classified(name) for name in self._entries}
        for name, entry in self._entries.items():
            self._declare(name, entry)
        self._fold_constants()
        self._free_constant_bindings()

    def kind(self, name: str) -> Kind:
        """Kind of a scalar variable."""
        return self.kinds.get(name, Kind.LOCAL)

    def target(self, written: str) -> Tensor:
        """Symbols of a variable that is written to, as ``name`` or ``name[1]``."""
        if written in self.names:
            return self.names[written]
        for tensor in self.names.values():
            for item in tensor.items:
                if item.is_symbolic() and item.name() == written:
                    return Tensor((), (item,))
        raise Refusal(f"an assignment to '{written}', which is no variable")

    def finish(self, starts: Mapping[str, Any], discrete: AbstractSet[str]) -> Iterator[Variable]:
        """Scalar variables in order of declaration."""
        for name, entry in self._entries.items():
            try:
                for position, variable in enumerate(self._scalars(name, entry, starts)):
                    if position == 0 and self._has_no_value(name):
                        _LOGGER.warning(
                            "%s is a parameter without a value; it is %s, its start value",
                            self._flat.at(name),
                            variable.start,
                        )
                    _warn_beyond_limits(self._flat.at(name), variable)
                    if variable.kind is Kind.DISCRETE and variable.name not in discrete:
                        kind = Kind.OUTPUT if variable.is_output else Kind.LOCAL
                        yield replace(variable, kind=kind)
                    else:
                        yield variable
                unit = entry["unit"] or ""
                is_expressible(unit)  # raises if it is not a unit
                if (text := other_spelling(unit)) is not None:
                    location = self._flat.at(name)
                    _LOGGER.warning(
                        "%s: unit '%s' is read as '%s'; write it so", location, unit, text
                    )
            except Refusal as refusal:
                raise self._flat.refused(name, refusal) from refusal
            except (ModelicaError, UnitMismatchError) as error:
                raise ModelicaError(f"{self._flat.at(name)}: {error}") from error

    def _classified(self, name: str) -> Kind:
        """Kind of a variable, with all its elements, as its declaration says."""
        entry = self._entries[name]
        tag = tag_of(entry["variability"])
        free = self._is_free(name)  # it is solved for by the initial system
        structural = tag == "Parameter" and not free and name in self._flat.structural
        if tag == "Constant" or structural:
            return Kind.CONSTANT
        if tag == "Parameter":
            follows = free or self._is_final(name) or any(referenced_names(entry["binding"]))
            return Kind.CALCULATED if follows else Kind.PARAMETER
        if tag_of(entry["causality"]) == "Input" and self._is_at_the_top(name):
            return Kind.INPUT
        if tag == "Discrete" or entry["is_discrete_type"] or self.is_assigned_in_when(name):
            return Kind.DISCRETE
        return Kind.OUTPUT if self._is_connector_output(name) else Kind.LOCAL

    def is_assigned_in_when(self, name: str) -> bool:
        """Whether a when clause sets a variable, given whole or as an element."""
        assigned, array = self._assigned_in_when, name.rpartition("[")[0]
        elements = any(target.startswith(f"{name}[") for target in assigned)
        return name in assigned or array in assigned or elements

    def _is_free(self, name: str) -> bool:
        """Whether a parameter is declared with fixed=false."""
        fixed = self._entries[name]["fixed"]
        return self._is_parameter(name) and bool(fixed) and not any(fixed)

    def _is_final(self, name: str) -> bool:
        """Whether a modification declares it final."""
        return bool(self._flat.tree["variable_final_flags"].get(name))

    def _is_connector_output(self, name: str) -> bool:
        """Whether a variable is an output of the FMU."""
        return tag_of(self._entries[name]["causality"]) == "Output" and self._is_at_the_top(name)

    def _is_at_the_top(self, name: str) -> bool:
        """Only what the top level declares, connectors too, is the FMU's."""
        return "." not in name or bool(self._flat.connector(name))

    def _has_no_value(self, name: str) -> bool:
        """Whether a parameter that is used has neither a value nor an equation for it."""
        # What no equation uses needs none: the declaration `outer parameter` is left over as well.
        used = self._is_parameter(name) and name not in self._flat.structural
        return used and self._entries[name]["binding"] is None and not self._is_free(name)

    def _is_parameter(self, name: str) -> bool:
        return tag_of(self._entries[name]["variability"]) == "Parameter"

    def _declare(self, name: str, entry: Json) -> None:
        self._data_type(name)
        shape, kind = tuple(entry["dims"]), self._kinds[name]
        names = element_names(name, shape)
        self.kinds.update(dict.fromkeys(names, kind))
        if kind is Kind.DISCRETE or self._data_type(name) is not DataType.REAL:
            self.discrete.update(names)
        fixed = entry["fixed"] or [False]
        self.fixed.update(n for i, n in enumerate(names) if fixed[i % len(fixed)])
        self.names[name] = Tensor(shape, tuple(ca.SX.sym(scalar) for scalar in names))
        binding = entry["binding"]
        if binding is not None and kind in {Kind.OUTPUT, Kind.LOCAL, Kind.INPUT, Kind.DISCRETE}:
            if kind is Kind.INPUT:
                raise self._flat.refused(
                    name, Refusal("an input with a declaration equation", "use start")
                )
            origin = self._flat.placed(f"declaration of '{name}'", entry)
            self.equation_bindings.append((name, binding, origin))

    def _free_constant_bindings(self) -> None:
        """A binding of constants only, as in ``k = 2*pi``, leaves its parameter settable."""
        for name, kind in self._kinds.items():
            if kind is not Kind.CALCULATED or self._is_final(name) or self._is_free(name):
                continue
            value = self._evaluate(name, self._entries[name]["binding"])
            if all(item.is_constant() for item in value.items):
                self._set_kind(name, Kind.PARAMETER)

    def _fold_constants(self) -> None:
        """Replace symbols of constants by their values, whatever their order of declaration."""
        needed = {name for name, kind in self._kinds.items() if kind is Kind.CONSTANT}
        waiting = [name for name in self._kinds if name in needed or self._is_hidden_count(name)]
        count = len(waiting) + 1
        while len(waiting) < count:
            count = len(waiting)
            for name in list(waiting):
                with suppress(ModelicaError):  # of one that waits for another
                    value = self._constant(name)
                    if all(item.is_constant() for item in value.items):
                        self.names[name] = value
                        self._set_kind(name, Kind.CONSTANT)
                        waiting.remove(name)
        for name in waiting:
            if name in needed:
                self._constant(name)
                raise self._flat.refused(
                    name, Refusal("a constant or structural parameter without a value")
                )

    def _constant(self, name: str) -> Tensor:
        entry = self._entries[name]
        return self._evaluate(name, entry["binding"] or entry["start"])

    def _is_hidden_count(self, name: str) -> bool:
        """Whether it counts or decides and cannot be set from outside: sizes come from these."""
        entry = self._entries[name]
        return (
            self._kinds[name] in {Kind.PARAMETER, Kind.CALCULATED}
            and self._data_type(name) is not DataType.REAL
            and entry["binding"] is not None
            and not self._is_free(name)
            and (entry["is_protected"] or self._is_final(name))
        )

    def _set_kind(self, name: str, kind: Kind) -> None:
        self._kinds[name] = kind
        scalars = element_names(name, tuple(self._entries[name]["dims"]))
        self.kinds.update(dict.fromkeys(scalars, kind))

    def _scalars(self, name: str, entry: Json, starts: Mapping[str, Any]) -> Iterator[Variable]:
        kind, data_type = self._kinds[name], self._data_type(name)
        shape = tuple(entry["dims"])
        start = self._evaluate(name, entry["start"])
        bound = kind is Kind.CALCULATED and not self._is_free(name)
        value = self._evaluate(name, entry["binding"]) if bound else None
        if kind is Kind.PARAMETER and entry["binding"] is not None:
            start = self._evaluate(name, entry["binding"])
        fixed = entry["fixed"] or [False]
        free = self._is_free(name)
        literals = self._literals_of(name)
        wish = (entry["state_select"] or "Default").rpartition(".")[2].upper()
        for position, scalar in enumerate(element_names(name, shape)):
            constant = kind is Kind.CONSTANT
            constant_value = self.names[name].items[position] if constant else None
            yield Variable(
                scalar,
                kind,
                data_type,
                ca.SX.sym(scalar) if constant else self.names[name].items[position],
                starts.get(scalar, start.items[position]),
                constant_value if constant else (value.items[position] if value else None),
                fixed=scalar in starts or fixed[position % len(fixed)],
                minimum=1.0 if literals else self._limit(name, entry["min"], position),
                maximum=len(literals) if literals else self._limit(name, entry["max"], position),
                nominal=self._limit(name, entry["nominal"], position),
                unit=entry["unit"] or None,
                description=entry["description"] or "",
                protected=entry["is_protected"],
                state_select=StateSelect[wish],
                free=free,
                settable=name not in self._flat.structural,
                is_output=kind in {Kind.DISCRETE, Kind.OUTPUT} and self._is_connector_output(name),
                literals=literals,
                array=name if shape else "",
                shape=shape,
                quantity=entry["quantity"] or None,
                display_unit=entry["display_unit"] or None,
                declared_type=self._flat.declared_type(entry),
                connector=self._flat.connector(name),
                flow=bool(entry["flow"]),
            )

    @property
    def _scope(self) -> ExpressionScope:
        return ExpressionScope({**self._literals, **self.texts, **self.names}, event_free=True)

    def _evaluate(self, name: str, node: Json) -> Tensor:
        shape = tuple(self._entries[name]["dims"])
        if node is None:
            default = ca.SX(1 if self._literals_of(name) else 0)  # an enumeration's first literal
            return Tensor(shape, (default,) * math.prod(shape))
        try:
            value = self._interpreter.evaluate(node, self._scope)
        except Refusal as refusal:
            raise self._flat.refused(name, refusal) from refusal
        if not value.shape and shape:
            return Tensor(shape, value.items * math.prod(shape))
        if value.shape != shape:
            raise self._flat.refused(
                name, Refusal(f"a value of shape {value.shape} for shape {shape}")
            )
        return value

    def _limit(self, name: str, node: Json, position: int) -> float | None:
        if node is None:
            return None
        value = self._evaluate(name, node).items[position]
        return float(value) if value.is_constant() else None

    def _data_type(self, name: str) -> DataType:
        declared = self._flat.tree["variable_type_names"].get(name)
        if self._literals_of(name):
            return DataType.ENUMERATION
        try:
            return DataType(declared)
        except ValueError as error:
            hint = "only Real, Integer, Boolean, enumerations and Strings are exported"
            raise self._flat.refused(name, Refusal(f"the type {declared}", hint)) from error

    def _literals_of(self, name: str) -> tuple[str, ...]:
        """Literals of a variable's enumeration type; none if it has another type."""
        return self._enumerations.literals(self._entries[name])


def _warn_beyond_limits(location: str, variable: Variable) -> None:
    settled = variable.kind in {Kind.PARAMETER, Kind.CONSTANT} or variable.fixed
    held = variable.value if variable.kind is Kind.CONSTANT else variable.start
    if not (settled and held is not None and held.is_constant()):
        return
    value = float(held)
    low = -math.inf if variable.minimum is None else variable.minimum
    high = math.inf if variable.maximum is None else variable.maximum
    if not low <= value <= high:
        text = "%s: the value %g is outside of its limits: min %g, max %g"
        _LOGGER.warning(text, location, value, low, high)
