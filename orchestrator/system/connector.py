"""A connector: one named, typed port or parameter of a component."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import prod

Value = float | int | bool | str | tuple[float, ...]


class Causality(StrEnum):
    """Direction of a connector, in the words of FMI and SSP."""

    INPUT = "input"
    OUTPUT = "output"
    PARAMETER = "parameter"


class DataType(StrEnum):
    """Type of a connector's elements, in the words of SSP 1.0 and FMI 2.0."""

    REAL = "Real"
    INTEGER = "Integer"
    BOOLEAN = "Boolean"
    STRING = "String"


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
    """

    name: str
    causality: Causality
    type: DataType = DataType.REAL
    unit: str | None = None
    shape: tuple[int, ...] = ()
    description: str = ""
    start: Value | None = None

    @property
    def size(self) -> int:
        """Number of scalar elements."""
        return prod(self.shape)

    def accepts(self, value: object) -> bool:
        """Whether a value has this connector's type and shape (an int is accepted as a Real)."""
        if self.shape:
            if not isinstance(value, tuple) or len(value) != self.size:
                return False
            return all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in value)
        if self.type is DataType.BOOLEAN:
            return isinstance(value, bool)
        if self.type is DataType.STRING:
            return isinstance(value, str)
        wanted = (int,) if self.type is DataType.INTEGER else (int, float)
        return isinstance(value, wanted) and not isinstance(value, bool)
