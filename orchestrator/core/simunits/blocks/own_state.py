"""States that may hold arrays: whoever writes into an array afterwards leaves them as they are."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

#: What shares no memory, and most of what is assigned.
PLAIN_TYPES = frozenset({float, int, bool, str, bytes, type(None)})


class OwnState:
    """Copies what is assigned to a state of a block if it has arrays in it.

    It has no ``__get__``: reading finds the value in the instance, as that of any attribute.
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __set__(self, owner: object, value: Any) -> None:
        vars(owner)[self._name] = value if type(value) in PLAIN_TYPES else _own(value)


def _own(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    items = value.values() if isinstance(value, dict) else value
    if isinstance(value, (tuple, list, dict)) and any(type(v) not in PLAIN_TYPES for v in items):
        return deepcopy(value)
    return value
