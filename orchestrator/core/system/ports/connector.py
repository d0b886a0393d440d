"""A connector: one named, typed port or parameter of a component."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import prod

from orchestrator.core.system.ports.limits import Limits
from orchestrator.core.system.units.unit import BaseUnit

Value = float | int | bool | str | bytes | tuple[float, ...] | tuple[str, ...] | tuple[bytes, ...]


class Causality(StrEnum):
    """Direction of a connector, in the words of FMI and SSP."""

    INPUT = "input"
    OUTPUT = "output"
    INOUT = "inout"
    PARAMETER = "parameter"
    CALCULATED_PARAMETER = "calculatedParameter"
    STRUCTURAL_PARAMETER = "structuralParameter"
    CONSTANT = "constant"
    LOCAL = "local"

    @property
    def is_settable(self) -> bool:
        """Whether a value can be given from outside."""
        return self in {Causality.INPUT, Causality.PARAMETER, Causality.STRUCTURAL_PARAMETER}


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


@dataclass(frozen=True, slots=True)
class Enumeration:
    """Named whole numbers, the type of an Integer connector.

    Parameters
    ----------
    name
        Of the type.
    items
        Value by the name of the item; several names may stand for one value.
    """

    name: str
    items: Mapping[str, int]


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
    enumeration
        What its values are called, if it is an Integer with named values.
    unit_definition
        What the file that declares the connector defines its unit to be; ``None``: what the name
        of the unit says.
    limits
        Beyond these its component refuses a value; ``None``: it takes any number.
    frame
        Name of the frame that its components are given in; ``None`` if it does not say.
    """

    name: str
    causality: Causality
    type: DataType = DataType.REAL
    unit: str | None = None
    shape: tuple[int, ...] = ()
    description: str = ""
    start: Value | None = None
    variability: Variability = Variability.CONTINUOUS
    enumeration: Enumeration | None = None
    unit_definition: BaseUnit | None = None
    limits: Limits | None = None
    frame: str | None = field(default=None, repr=False)

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

    def refusal(self, value: object) -> str | None:
        """Say what is expected of a number beyond the limits; ``None`` if it is inside."""
        if self.limits is None or isinstance(value, (str, bytes)):
            return None
        elements = value if isinstance(value, tuple) else (value,)
        if all(isinstance(each, (int, float)) and self.limits.admits(each) for each in elements):
            return None
        unit = f" {self.unit}" if self.unit not in {None, "1"} else ""
        return f"expected {self.limits}{unit}, found {value!r}"

    def _takes(self, value: object) -> bool:
        wanted = _PYTHON[self.type]
        return isinstance(value, wanted) and (wanted == (bool,) or not isinstance(value, bool))
