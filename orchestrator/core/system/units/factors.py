"""Factors and offsets between units, with angles and cycles told apart."""

from __future__ import annotations

from math import pi

from orchestrator.core.diagnostics import UnitMismatchError
from orchestrator.core.system.units.meaning import LEVEL, Meaning, number, without_angle
from orchestrator.core.system.units.notation import spelled


def factor_and_offset(
    source: str, one: Meaning, target: str, other: Meaning
) -> tuple[float, float]:
    """Return what converts a value from one unit to another."""
    if without_angle(one.exponents) != without_angle(other.exponents):
        logarithmic = LEVEL in one.exponents or LEVEL in other.exponents
        law = "; one is logarithmic, so no factor converts it" if logarithmic else ""
        raise UnitMismatchError(
            f"unit '{source}' ({_text(one)}) does not convert to '{target}' ({_text(other)}){law}"
        )
    if may_lack_two_pi(one, other):
        raise UnitMismatchError(
            f"unit '{source}' does not convert to '{target}': one counts angles or turns, the other"
            " does not say so, and between them may be 2 pi; use 'rad' for angles (rad/s), and"
            " 'rev' or 'Hz' for cycles (rev/min, Hz), at both ends"
        )
    turns = 0 if one.cycles or other.cycles else one.turns - other.turns
    factor = one.factor / other.factor
    try:
        ratio = number(factor, one.pi - other.pi) * (2.0 * pi) ** turns
        return ratio, float((one.offset - other.offset) / other.factor)
    except OverflowError as error:
        raise UnitMismatchError(
            f"unit '{source}' does not convert to '{target}': the factor is {error}"
        ) from None


def may_lack_two_pi(one: Meaning, other: Meaning) -> bool:
    """Whether one of two units of a dimension counts angles or turns, and the other does not say.

    ``rev/min`` and ``1/min`` do, as ``Hz`` and ``rad/s`` do; ``rad/s`` and ``1/s`` do not.
    """
    angles = one.exponents.get("rad", 0), other.exponents.get("rad", 0)
    if not (one.cycles or other.cycles):
        counted = one.turns != other.turns or one.clock or other.clock
        return angles[0] != angles[1] and bool(counted)
    bare = not (one.turns or other.turns) and angles[0] == angles[1]
    alike = one.turns + one.cycles == other.turns + other.cycles
    plain = angles[0] - one.turns == angles[1] - other.turns
    return not bare and not (alike and plain)


def _text(meaning: Meaning) -> str:
    return spelled(tuple(meaning.exponents.items()))
