"""A connector: one named, typed port or parameter of a component."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import prod

Value = float | int | bool | str | bytes | tuple[float, ...] | tuple[str, ...] | tuple[bytes, ...]


class Causality(StrEnum):
    """Direction of a connector, in the words of FMI and SSP."""

    INPUT = "input"
    OUTPUT = "output"
    PARAMETER = "parameter"


class DataType(StrEnum):
    """Type of a connector's elements, in the words of SSP and FMI."""

    REAL = "Real"
    INTEGER = "Integer"
    BOOLEAN = "Boolean"
    STRING = "String"
    BINARY = "Binary"
    CLOCK = "Clock"

    @property
    def is_text(self) -> bool:
        """Whether its values are no numbers: texts or bytes."""
        return self in {DataType.STRING, DataType.BINARY}


class Variability(StrEnum):
    """When a connector of a unit with event mode changes.

    ``continuous``: at any time, and all that is of units without event mode. ``discrete``: at
    events only. ``clocked``: at the ticks of a clock only.
    """

    CONTINUOUS = "continuous"
    DISCRETE = "discrete"
    CLOCKED = "clocked"


_PYTHON: Mapping[DataType, tuple[type, ...]] = {
    DataType.REAL: (int, float),
    DataType.INTEGER: (int,),
    DataType.BOOLEAN: (bool,),
    DataType.STRING: (str,),
    DataType.BINARY: (bytes,),
    DataType.CLOCK: (bool,),
}


@dataclass(frozen=True, slots=True)
class Connector:
    """One port or parameter.

    Parameters
    ----------
    name
        Unique within its component.
    causality, type
        See :class:`Causality` and :class:`DataType`.
    unit
        Modelica notation, such as ``"N.s/m"``; ``None`` if not declared.
    shape
        ``()`` for a scalar, else the array's extents (row-major).
    description
        One line for people.
    start
        Value before the first exchange; ``None`` if the unit's own default is not known.
    variability
        See :class:`Variability`.
    """

    name: str
    causality: Causality
    type: DataType = DataType.REAL
    unit: str | None = None
    shape: tuple[int, ...] = ()
    description: str = ""
    start: Value | None = None
    variability: Variability = Variability.CONTINUOUS

    @property
    def size(self) -> int:
        """Number of scalar elements."""
        return prod(self.shape)

    def accepts(self, value: object) -> bool:
        """Whether a value has this connector's type and shape (an int is accepted as a Real)."""
        if self.shape:
            return (
                isinstance(value, tuple)
                and len(value) == self.size
                and all(map(self._takes, value))
            )
        return self._takes(value)

    def _takes(self, value: object) -> bool:
        wanted = _PYTHON[self.type]
        return isinstance(value, wanted) and (wanted == (bool,) or not isinstance(value, bool))
