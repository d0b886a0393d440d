"""Physical units in the notation of Modelica and FMI (``N.s/m``, ``kg.m2``, ``rad/s``)."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from orchestrator.errors import UnitMismatchError

if TYPE_CHECKING:
    import pint

_FACTOR = re.compile(r"(?P<symbol>[A-Za-zΩµ°%']+)(?P<exponent>[-+]?\d+)?")
_RENAMED = {"Ohm": "ohm", "degC": "degC", "deg": "degree", "rev": "turn", "%": "percent"}


@cache
def _registry() -> pint.UnitRegistry[Any]:
    import pint  # imported on first use: most connections have equal units and never get here

    return pint.UnitRegistry(cache_folder=None, autoconvert_offset_to_baseunit=True)


def _expression(unit: str) -> str:
    """Translate Modelica's unit grammar (operators ``.`` and ``/``, exponent as suffix)."""
    if unit in {"", "1"}:
        return "dimensionless"

    def factor(match: re.Match[str]) -> str:
        symbol = _RENAMED.get(match["symbol"], match["symbol"])
        return f"{symbol}**({match['exponent']})" if match["exponent"] else symbol

    # Modelica: at most one division, its right side is a whole ("N/m.s" means N/(m.s)).
    numerator, *denominator = unit.replace("(", "").replace(")", "").split("/")
    parts = [numerator or "1", *denominator]
    return "/".join(f"({_FACTOR.sub(factor, part).replace('.', '*')})" for part in parts)


@cache
def conversion(source: str | None, target: str | None) -> tuple[float, float]:
    """Factor and offset that convert a value from one unit to another.

    ``target_value = factor * source_value + offset``.

    Parameters
    ----------
    source, target
        Units in Modelica notation; ``None`` means not declared and converts to anything unchanged.

    Raises
    ------
    UnitMismatchError
        If the units are of different dimensions or one is not a unit.
    """
    if source == target or source is None or target is None:
        return 1.0, 0.0
    registry = _registry()
    quantities = []
    for unit in (source, target):
        try:
            quantities.append(registry.Unit(_expression(unit)))
        except Exception as error:  # pint raises tokenize, syntax and its own errors
            raise UnitMismatchError(
                f"'{unit}' is not a unit (Modelica notation, such as 'N.s/m')"
            ) from error
    if not quantities[0].is_compatible_with(quantities[1]):
        raise UnitMismatchError(
            f"unit '{source}' ({quantities[0].dimensionality}) does not convert to"
            f" '{target}' ({quantities[1].dimensionality})"
        )
    zero = registry.Quantity(0.0, quantities[0]).to(quantities[1]).magnitude
    one = registry.Quantity(1.0, quantities[0]).to(quantities[1]).magnitude
    return float(one - zero), float(zero)
