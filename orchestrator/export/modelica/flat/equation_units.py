"""Units inside equations, connections and values: what is added or equal is of one unit."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from math import isclose
from typing import Any

from orchestrator.core.structs import Struct
from orchestrator.core.units.conversion import base_said
from orchestrator.core.units.notation import spelled
from orchestrator.core.units.tables import without_angle
from orchestrator.export.modelica.flat.model import FlatModel

_LOGGER = logging.getLogger(__name__)
Json = Any
_SUMS = frozenset(("Add", "Sub"))
_RELATIONS = frozenset(("Lt", "Le", "Gt", "Ge", "Eq", "Neq"))
_PRODUCTS = {"Mul": 1, "Div": -1}
_PASSED = frozenset(("Pre", "NoEvent", "Abs", "Sum", "Min", "Max", "Delay", "Previous"))
_PURE = frozenset(("Sin", "Cos", "Tan", "Exp", "Log", "Sinh", "Cosh", "Tanh"))
_SHOWN = 5


class _Unit(Struct):
    """Powers of SI base units, without angles, and the factor to them."""

    powers: Mapping[str, int]
    factor: float = 1.0

    def times(self, factor_unit: _Unit, power: int = 1) -> _Unit:
        names = {**self.powers, **factor_unit.powers}
        powers = {n: self.powers.get(n, 0) + power * factor_unit.powers.get(n, 0) for n in names}
        factor = self.factor * factor_unit.factor**power
        return _Unit({name: count for name, count in powers.items() if count}, factor)

    def is_like(self, unit: _Unit) -> bool:
        return self.powers == unit.powers and isclose(self.factor, unit.factor, rel_tol=1e-5)

    def __str__(self) -> str:
        factor = "" if self.factor == 1.0 else f"{self.factor:g} "
        return f"'{factor}{spelled(tuple(self.powers.items())) or '1'}'"


_ONE = _Unit({})


def warn_of_units(flat: FlatModel) -> None:
    """Log the equations whose sides or summands are of different units."""
    problems = list(_problems(flat))
    for text in dict.fromkeys(problems[:_SHOWN]):
        _LOGGER.warning("%s", text)
    if len(problems) > _SHOWN:
        _LOGGER.warning(
            "%s: units do not match in %d more equations", flat.name, len(problems) - _SHOWN
        )


def _problems(flat: FlatModel) -> Iterator[str]:
    """The first of each equation and value."""
    variables = flat.tree["variables"]
    units = {name: _unit_of_text(entry["unit"]) for name, entry in variables.items()}
    bound = [
        (name, entry_bound)
        for name, entry_bound in variables.items()
        if entry_bound["binding"] is not None
    ]
    equations = (*flat.tree["equations"], *flat.tree["initial_equations"])
    for name, entry in (*((None, equation) for equation in equations), *bound):
        reader = _Reader(units)
        if name is None:
            reader.unit(entry["residual"])
        else:
            reader.compare(units[name], reader.operand(entry["binding"]))
        yield from (f"{flat.location(entry)}: {problem}" for problem in reader.problems[:1])


def _unit_of_text(unit: str | None) -> _Unit | None:
    meaning = base_said(unit) if unit else None
    if meaning is None or meaning.offset:
        return None
    return _Unit(without_angle(meaning.exponents), meaning.factor)


class _Reader:
    """Unit of an expression; None where it is not known, as that of most numbers."""

    def __init__(self, units: Mapping[str, _Unit | None]) -> None:
        self._units = units
        self.problems: list[str] = []

    def compare(self, first: _Unit | None, second: _Unit | None) -> _Unit | None:
        if first is not None and second is not None and not first.is_like(second):
            self.problems.append(f"units do not match: {first} and {second}")
        return first or second

    def operand(self, node: Json) -> _Unit | None:
        """Unit of what is added or compared; numbers and times stand for any quantity."""
        return None if _is_free(node) else self.unit(node)

    def unit(self, node: Json) -> _Unit | None:
        if not isinstance(node, dict):
            return None
        kind, body = next(iter(node.items()))
        read = getattr(self, f"_of_{kind.lower()}", None)
        return read(body) if read else None

    def _of_varref(self, body: Json) -> _Unit | None:
        name = body["name"]["name"]
        return _Unit({"s": 1}) if name == "time" else self._units.get(name)

    def _of_literal(self, body: Json) -> _Unit | None:
        """Pure numbers are small halves; others may have a unit that is not written."""
        value = next(iter(body["value"].values()))
        pure = isinstance(value, int | float) and abs(2 * value) in range(1, 9)
        return _ONE if pure else None

    def _of_unary(self, body: Json) -> _Unit | None:
        return self.unit(body["rhs"])

    def _of_index(self, body: Json) -> _Unit | None:
        return self.unit(body["base"])

    def _of_binary(self, body: Json) -> _Unit | None:
        op = body["op"].removesuffix("Elem")
        if op in _SUMS or op in _RELATIONS:
            common = self.compare(self.operand(body["lhs"]), self.operand(body["rhs"]))
            return common if op in _SUMS else None
        left_unit, right_unit = self.unit(body["lhs"]), self.unit(body["rhs"])
        if left_unit is None or right_unit is None or op not in _PRODUCTS:
            return None
        return left_unit.times(right_unit, _PRODUCTS[op])

    def _of_builtincall(self, body: Json) -> _Unit | None:
        name = body["function"]
        if name == "Der":
            first = self.unit(body["args"][0])
            return first and first.times(_Unit({"s": 1}), -1)
        args = [self.operand(argument) for argument in body["args"]]
        first = args[0] if args else None
        if name in _PURE:
            if first is not None and first.powers:
                self.problems.append(f"{name.lower()}() of a value in {first}")
            return _ONE
        return first if name in _PASSED else None

    def _of_if(self, body: Json) -> _Unit | None:
        for condition, _ in body["branches"]:
            self.unit(condition)
        common = self.operand(body["else_branch"])
        for _, value in body["branches"]:
            common = self.compare(common, self.operand(value))
        return common

    def _of_array(self, body: Json) -> _Unit | None:
        for element in body["elements"]:
            self.unit(element)
        return None


def _is_free(node: Json) -> bool:
    """Whether an expression consists of numbers and the time."""
    if not isinstance(node, dict):
        return False
    kind, body = next(iter(node.items()))
    if kind == "VarRef":
        return bool(body["name"]["name"] == "time")
    inside = {"Unary": ("rhs",), "Binary": ("lhs", "rhs")}.get(kind, ())
    return kind == "Literal" or (bool(inside) and all(_is_free(body[key]) for key in inside))
