"""Connectors, the typed ports and parameters of components; power ports; conversion between two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from math import inf, prod
from typing import Any

from orchestrator.core.diagnostics import DescriptionError, UnitMismatchError
from orchestrator.core.structs import Struct
from orchestrator.core.system.naming import member_of
from orchestrator.core.units.conversion import BaseUnit, conversion, defined_conversion

#: What tools write where a variable has no end: Modelica.Constants.inf, or the largest double.
_ENDLESS = 1e60


class Limits(Struct):
    """A range of numbers.

    least, most: Its ends.
    open_below, open_above: Whether the end itself is outside.
    """

    least: float = -inf
    most: float = inf
    open_below: bool = False
    open_above: bool = False

    @classmethod
    def of(
        cls,
        minimum: float | None = None,
        maximum: float | None = None,
        above: float | None = None,
        below: float | None = None,
    ) -> Limits | None:
        """Return the range between what is allowed and what is just not; ``None`` if it is all."""
        if (minimum is not None and above is not None) or (
            maximum is not None and below is not None
        ):
            raise DescriptionError(
                "expected one of minimum and above, and one of maximum and below"
            )
        low, high = minimum if above is None else above, maximum if below is None else below
        if low is None and high is None:
            return None
        lower, upper = -inf if low is None else low, inf if high is None else high
        if not lower < upper:
            raise DescriptionError(f"expected a range, found {lower:g} to {upper:g}")
        return cls(lower, upper, above is not None, below is not None)

    @property
    def is_bounded(self) -> bool:
        """Whether it has both ends; what tools write for infinity is none."""
        return abs(self.least) < _ENDLESS and abs(self.most) < _ENDLESS

    def within(self, limits: Limits) -> Limits:
        """Return what lies inside of both."""
        lower, upper = max(self.least, limits.least), min(self.most, limits.most)
        if not lower < upper:
            raise DescriptionError(f"expected limits that overlap, found {self} and {limits}")
        opens = [
            any(side.open_below and side.least == lower for side in (self, limits)),
            any(side.open_above and side.most == upper for side in (self, limits)),
        ]
        return Limits(lower, upper, *opens)

    def admits(self, value: float) -> bool:
        """Whether a number lies inside; what is no number does not."""
        low = self.least < value if self.open_below else self.least <= value
        high = value < self.most if self.open_above else value <= self.most
        return low and high

    def __str__(self) -> str:
        low = f"{'>' if self.open_below else '>='} {self.least:g}"
        high = f"{'<' if self.open_above else '<='} {self.most:g}"
        return " and ".join(
            text for text, end in ((low, self.least), (high, self.most)) if abs(end) != inf
        )


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


class Enumeration(Struct):
    """Named whole numbers, the type of an Integer connector.

    name: Of the type.
    items: Value by the name of the item; several names may stand for one value.
    """

    name: str
    items: Mapping[str, int]


_TRUTH: Mapping[str, int] = {"false": 0, "true": 1}
_PYTHON: Mapping[DataType, tuple[type, ...]] = {
    DataType.REAL: (int, float),
    DataType.INTEGER: (int,),
    DataType.BOOLEAN: (bool,),
    DataType.STRING: (str,),
    DataType.BINARY: (bytes,),
    DataType.CLOCK: (bool,),
}


class Connector(Struct):
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
        One line of text.
    start
        Value before the first exchange; ``None`` if the unit's own default is not known.
    variability
        See :class:`Variability`.
    enumeration
        Names of its values, if it is an Integer with named values.
    unit_definition
        Definition of its unit in the file that declares the connector; ``None``: the meaning of
        the name.
    limits
        Range beyond which its component refuses a value; ``None``: any number.
    frame
        Name of the frame of its elements; ``None``: not declared.
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
    frame: str | None = None

    def __repr__(self) -> str:
        shape = f" of shape {self.shape}" if self.shape else ""
        unit = f" in {self.unit}" if self.unit else ""
        start = "" if self.start is None or self.shape else f", start {self.start!r}"
        text = f": {self.description}" if self.description else ""
        return f"Connector '{self.name}', {self.causality} {self.type}{shape}{unit}{start}{text}"

    @property
    def size(self) -> int:
        """Number of scalar elements."""
        return prod(self.shape)

    @property
    def named_values(self) -> Mapping[str, int]:
        """Values by name, of an enumeration or a Boolean; empty if any number is a value."""
        if self.enumeration is not None:
            return self.enumeration.items
        return _TRUTH if self.type is DataType.BOOLEAN else {}

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
        """Say what is expected of a number beyond the limits, or of no item; else ``None``.

        What the component itself begins with is taken.
        """
        if isinstance(value, (str, bytes)):
            return None
        elements = value if isinstance(value, tuple) else (value,)
        if self.enumeration is not None and value != self.start:
            items = self.enumeration.items
            if any(element not in items.values() for element in elements):
                words = ", ".join(f"{name} ({number})" for name, number in items.items())
                return f"expected one of {words}; found {value!r}"
        if self.limits is None:
            return None
        if all(
            isinstance(element, (int, float)) and self.limits.admits(element)
            for element in elements
        ):
            return None
        unit = f" {self.unit}" if self.unit not in {None, "1"} else ""
        return f"expected {self.limits}{unit}, found {value!r}"

    def _takes(self, value: object) -> bool:
        python_type = _PYTHON[self.type]
        return isinstance(value, python_type) and (
            python_type == (bool,) or not isinstance(value, bool)
        )


def conversion_between(source: Connector, target: Connector) -> tuple[float, float]:
    """Factor and offset that convert a value from the unit of one connector to that of another.

    ``target_value = factor * source_value + offset``. What a file defines a unit to be wins over
    what its name says; a unit that is not declared converts to anything unchanged.
    """
    if source.unit_definition is None and target.unit_definition is None:
        return conversion(source.unit, target.unit)
    return defined_conversion(
        source.unit, source.unit_definition, target.unit, target.unit_definition
    )


def converts(source: Connector, target: Connector) -> bool:
    """Whether the unit of one connector converts to that of another."""
    try:
        conversion_between(source, target)
    except UnitMismatchError:
        return False
    return True


def converted(value: Value, source: Connector, target: Connector) -> Value:
    """Carry a value from the unit of one connector to that of another."""
    factor, offset = conversion_between(source, target)
    if (factor, offset) == (1.0, 0.0) or isinstance(value, (str, bytes)):
        return value
    if isinstance(value, tuple):
        return tuple(factor * float(element) + offset for element in value)
    return factor * float(value) + offset


def plain_value(raw: Any, connector: Connector | None = None) -> Value:
    """Return scalars, arrays and lists as numbers and tuples of them, row by row.

    raw: Number, text, scalar or array of numpy, list or tuple. What is none of these, or of
        another shape, passes unchanged.
    connector: What it is for: its shape is that of nested lists, and names of its enumeration's
        items are taken for their numbers. ``None``: not known.
    """
    value: Value = _of_python(raw)
    if not isinstance(value, tuple):
        item: Value = _item_value(value, connector)
        return item
    shape = _shape(value)
    if len(shape) != 1 and connector is not None and shape != connector.shape:
        return value
    return tuple(_item_value(element, connector) for element in _flat(value))


def _of_python(value: Any) -> Any:
    if hasattr(value, "tolist"):  # a scalar or an array of numpy
        value = value.tolist()
    return tuple(map(_of_python, value)) if isinstance(value, (list, tuple)) else value


def _item_value(value: Any, connector: Connector | None) -> Any:
    enumeration = connector.enumeration if connector is not None else None
    return (
        value
        if enumeration is None or not isinstance(value, str)
        else enumeration.items.get(value, value)
    )


def _shape(value: object) -> tuple[int, ...]:
    if not isinstance(value, tuple):
        return ()
    inner = {_shape(element) for element in value}
    return (len(value), *inner.pop()) if len(inner) == 1 else (len(value), -1) if inner else (0,)


def _flat(value: object) -> Iterator[Any]:
    if isinstance(value, tuple):
        for element in value:
            yield from _flat(element)
    else:
        yield value


class Positive(StrEnum):
    """Where the power goes whose number, effort times flow, is positive."""

    IN = "in"
    OUT = "out"


class PowerPort(Struct):
    """Connectors of a component or system that are connected as one.

    Its power is the sum of all efforts times their flows. A force, torque, voltage or pressure is
    an effort; a velocity, current or volume flow is a flow. A wrench and a twist are two of each:
    ``effort=("force", "torque")``, ``flow=("velocity", "angular_velocity")``.

    Parameters
    ----------
    name
        Unique among the power ports of its component.
    effort, flow
        Names of connectors, as many of one as of the other; each effort goes with the flow at the
        same place.
    displacement
        Connectors that go along with the flow, such as a position.
    frame
        Name of the frame of the elements of arrays; ``None``: not declared.
    positive
        Whether effort times flow is a power into the component or out of it. Default: into it if
        the effort is an input (a force that acts on it), out of it if the effort is an output (a
        force that acts on the other component).

    Raises
    ------
    DescriptionError
        If there is no effort, the number of flows differs, or a connector is named twice.
    """

    name: str
    effort: tuple[str, ...]
    flow: tuple[str, ...]
    displacement: tuple[str, ...] = ()
    frame: str | None = None
    positive: Positive | None = None

    def __post_init__(self) -> None:
        location = f"power port '{self.name}'"
        if not self.effort or len(self.effort) != len(self.flow):
            raise DescriptionError(
                f"{location}: expected as many efforts as flows, at least one; found"
                f" {len(self.effort)} and {len(self.flow)}"
            )
        twice = sorted({name for name in self.connectors if self.connectors.count(name) > 1})
        if twice:
            raise DescriptionError(f"{location}: names the connector {', '.join(twice)} twice")

    @property
    def connectors(self) -> tuple[str, ...]:
        """All connectors that it names."""
        return *self.effort, *self.flow, *self.displacement

    @classmethod
    def of(
        cls,
        name: str,
        effort: str | tuple[str, ...],
        flow: str | tuple[str, ...],
        *,
        displacement: str | tuple[str, ...] = (),
        frame: str | None = None,
        positive: Positive | str | None = None,
    ) -> PowerPort:
        """Make a port of single names or several."""
        label = f"power port '{name}': positive"
        sign = None if positive is None else member_of(Positive, positive, label)
        return cls(name, _several(effort), _several(flow), _several(displacement), frame, sign)


def _several(names: str | tuple[str, ...]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
