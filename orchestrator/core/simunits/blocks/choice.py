"""A choice between two values that a block can make of numbers, arrays and traced symbols."""

from __future__ import annotations

from typing import Any

import numpy as np


def where(condition: Any, then: Any, otherwise: Any) -> Any:
    """Return one of two values, as ``then if condition else otherwise`` does.

    A block that chooses by ``where`` instead of ``if`` can be exported without Python. Both values
    are computed before one is chosen; conditions are joined by ``&`` and ``|``.

    Parameters
    ----------
    condition
        A bool, or an array of them; while a block is traced, a symbol.
    then, otherwise
        Numbers, or arrays that broadcast with the condition.
    """
    if condition is True:  # the usual case first: blocks call this in every step
        return then
    if condition is False:
        return otherwise
    if isinstance(condition, np.bool_):
        return then if condition else otherwise
    choose = getattr(condition, "if_else", None)
    if choose is not None:
        return choose(then, otherwise)
    return np.where(condition, then, otherwise)
