"""What products of units are: a power of an effort and a flow, an energy."""

from __future__ import annotations

from functools import cache
from math import pi

from orchestrator.core.diagnostics import UnitMismatchError
from orchestrator.core.system.ports.connector import Connector
from orchestrator.core.system.units.factors import may_lack_two_pi
from orchestrator.core.system.units.meaning import Meaning, number, without_angle
from orchestrator.core.system.units.unit import BaseUnit, meant


def is_power(one: Connector, other: Connector) -> bool:
    """Whether the product of two connectors is a power, as that of an effort and a flow is."""
    return product_of("W", one, other) is not None


@cache
def product_in(wanted: str, *units: str | None) -> float | None:
    """Return how much the product of some units is in another; ``None`` if it is none of that.

    A power of counts per minute is none: between turns and angles is a factor of 2 pi.
    """
    return _product(wanted, [(unit, None) for unit in units])


def product_of(wanted: str, *connectors: Connector) -> float | None:
    """Do the same for connectors; what a file defines a unit to be wins over its name."""
    if all(each.unit_definition is None for each in connectors):
        return product_in(wanted, *(each.unit for each in connectors))
    return _product(wanted, [(each.unit, each.unit_definition) for each in connectors])


def _product(wanted: str, units: list[tuple[str | None, BaseUnit | None]]) -> float | None:
    product, is_counted = Meaning(), False
    for unit, definition in units:
        if unit is None:
            return None
        try:
            meaning = meant(unit, definition)
        except UnitMismatchError:
            return None
        if meaning.offset:
            return None  # a product needs a temperature that begins at zero
        product = product.times(meaning)
        is_counted = is_counted or _may_be_angular(meaning)
    goal = meant(wanted, None)
    if product.cycles or (product.clock and is_counted):
        return None
    if without_angle(product.exponents) != without_angle(goal.exponents):
        return None
    return number(product.factor / goal.factor, product.pi - goal.pi) * (2.0 * pi) ** product.turns


def _may_be_angular(meaning: Meaning) -> bool:
    """Whether a rate does not say that it counts turns, and does so often: ``1/min``."""
    is_rate = set(meaning.exponents) == {"s"} and meaning.exponents["s"] < 0
    return is_rate and may_lack_two_pi(meaning, Meaning({"rad": 1, **meaning.exponents}))
