"""Collects, while expressions are read, what can change at events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca

from orchestrator.export.dae.events import DiscreteEquation, Relation, Sampler
from orchestrator.export.modelica.flat.model import Refusal

_Scalar = Any
_SIGNS = {"Gt": ">", "Ge": ">=", "Lt": "<", "Le": "<="}


class EventCollector:
    """Gives every relation, pre() and sample() its symbol.

    is_discrete: Whether a variable changes at events only.
    initial: Symbol of the initial event.
    before: Names of continuous variables of which pre() was taken.
    has_homotopy: Whether homotopy() was used with two expressions.
    """

    def __init__(self, is_discrete: Callable[[str], bool]) -> None:
        self._is_discrete = is_discrete
        self.initial = ca.SX.sym("initial()")
        self.relations: list[Relation] = []
        self.samplers: list[Sampler] = []
        self.hidden: list[DiscreteEquation] = []
        self.before: set[str] = set()
        self.has_homotopy = False
        self._pre: dict[str, _Scalar] = {}

    def relation(self, operation: str, left: _Scalar, right: _Scalar) -> _Scalar:
        """Symbol of a comparison of continuous expressions; equal comparisons share one."""
        if operation not in _SIGNS:
            raise Refusal(
                f"the comparison {'==' if operation == 'Eq' else '<>'} of continuous expressions",
                "it holds at single points only; compare with >= or <=",
            )
        margin = left - right if operation in {"Gt", "Ge"} else right - left
        strict = operation in {"Gt", "Lt"}
        for known in self.relations:
            if known.strict == strict and ca.is_equal(known.margin, margin, 100):
                return known.symbol
        label = _shortened(f"{left} {_SIGNS[operation]} {right}")
        return self._add_relation(margin, ca.fabs(left) + ca.fabs(right), label, strict=strict)

    def _add_relation(self, margin: _Scalar, size: _Scalar, label: str, *, strict: bool) -> _Scalar:
        symbol = ca.SX.sym(f"relation {len(self.relations) + 1}")
        self.relations.append(Relation(symbol, margin, strict, size, label))
        return symbol

    def pre(self, symbol: _Scalar) -> _Scalar:
        """``pre(v)``; of a continuous variable its value just before the event."""
        if not symbol.is_symbolic():
            raise Refusal(f"pre({symbol})", "pre() takes a variable")
        name = symbol.name()
        if not self._is_discrete(name):
            self.before.add(name)
            return symbol
        return self._pre.setdefault(name, ca.SX.sym(f"pre({name})"))

    def of_pre(self, value: _Scalar) -> str | None:
        """The discrete variable whose ``pre()`` a value is."""
        text = str(value)
        return next((name for name in self._pre if text == f"pre({name})"), None)

    def edge(self, value: _Scalar, symbol: _Scalar) -> _Scalar:
        """``edge(b)``: b, of the present value, has just become true."""
        return ca.logic_and(value, ca.logic_not(self.pre(symbol)))

    def change(self, value: _Scalar, symbol: _Scalar) -> _Scalar:
        """``change(v)``: v, of the present value, has just changed."""
        return value != self.pre(symbol)

    def sample(self, start: _Scalar, interval: _Scalar) -> _Scalar:
        """Symbol of ``sample(start, interval)``."""
        if interval.is_constant() and not float(interval) > 0:
            raise Refusal(f"sample() with the interval {float(interval):g} s", "it must be > 0")
        symbol = ca.SX.sym(f"sample {len(self.samplers) + 1}")
        self.samplers.append(Sampler(symbol, start, interval))
        return symbol

    def homotopy(self, actual: _Scalar, simplified: _Scalar) -> _Scalar:
        """``homotopy(actual, simplified)``: the start is solved with the simple one first."""
        if ca.is_equal(actual, simplified, 100):
            return actual
        self.has_homotopy = True
        return ca.if_else(self.initial == 2, simplified, actual)

    def discrete(self, value: _Scalar, label: str) -> _Scalar:
        """A nameless discrete variable of that value; returns its symbol."""
        symbol = ca.SX.sym(f"hidden {len(self.hidden) + 1}")
        pre = ca.SX.sym(f"pre({symbol.name()})")
        self._pre[symbol.name()] = pre
        self.hidden.append(DiscreteEquation(symbol, pre, value, ca.SX(0), exact=False, label=label))
        return symbol

    def floor(self, value: _Scalar) -> _Scalar:
        """``floor(value)`` of a continuous value, with an event at each change."""
        label = _shortened(f"floor({value})")
        rounded = self.discrete(ca.floor(value), label)
        size = ca.fabs(value) + 1
        self._add_relation(value - rounded, size, f"{label} falls", strict=False)
        self._add_relation(rounded + 1 - value, size, f"{label} rises", strict=True)
        return rounded

    def truncate(self, value: _Scalar) -> _Scalar:
        """``value`` rounded towards zero, with an event at each change."""
        positive = self.relation("Ge", value, ca.SX(0))
        return ca.if_else(positive, self.floor(value), -self.floor(-value))


def _shortened(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:117]}..."
