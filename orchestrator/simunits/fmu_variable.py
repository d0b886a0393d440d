"""A variable of an FMU that is a connector: what only its unit needs to know of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from orchestrator.simunits.fmi3_clocks import Timer
from orchestrator.system import Causality, Connector, DataType, Value

_TYPES = {
    "Real": DataType.REAL,
    "Float64": DataType.REAL,
    "Float32": DataType.REAL,
    "Integer": DataType.INTEGER,
    "Enumeration": DataType.INTEGER,
    **{f"{sign}Int{bits}": DataType.INTEGER for sign in ("", "U") for bits in (8, 16, 32, 64)},
    "Boolean": DataType.BOOLEAN,
    "String": DataType.STRING,
    "Binary": DataType.BINARY,
    "Clock": DataType.CLOCK,
}


@dataclass(frozen=True, slots=True)
class FmuVariable:
    """One variable.

    Parameters
    ----------
    reference
        FMI value reference.
    type
        The standard's name, such as ``"Int16"``: it has the width that a connector does not.
    dimensions
        Extents; one that a structural parameter gives is that parameter's name.
    is_discrete
        Whether it changes at events only.
    clocks
        Value references of the clocks at whose ticks it changes.
    is_structural
        Whether it is a structural parameter, which is set in configuration mode.
    is_negated
        Whether its value is minus that of its reference (the negated alias of FMI 1.0).
    timer
        What makes it tick, if it is a time-based input clock.
    """

    reference: int
    type: str
    dimensions: tuple[int | str, ...] = ()
    is_discrete: bool = False
    clocks: tuple[int, ...] = ()
    is_structural: bool = False
    is_negated: bool = False
    timer: Timer | None = None

    def limits(self) -> tuple[float, float] | None:
        """Return the least and the greatest value of its type; ``None`` for no number."""
        if self.type == "Float32":
            most = (2.0 - 2.0**-23) * 2.0**127
            return -most, most
        if self.type in {"Integer", "Enumeration"}:
            return -(2**31), 2**31 - 1
        sign, is_number, bits = self.type.partition("Int")
        if not is_number:
            return None
        width = int(bits)
        return (0, 2**width - 1) if sign else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)

    def shape(self, values: Mapping[str, Value]) -> tuple[int, ...]:
        """Return the extents where structural parameters have these values."""
        return tuple(
            size if isinstance(size, int) else int(values[size])  # type: ignore[arg-type]
            for size in self.dimensions
        )


def connector_of(
    variable: Any, shape: tuple[int, ...], starts: Sequence[str] | None
) -> Connector | None:
    """Return the connector of a variable as FMPy reads it; ``None`` if it is not one.

    Parameters
    ----------
    variable
        FMPy's ``ModelVariable``.
    shape
        Its extents.
    starts
        Start values as text, one for each element or one for all; ``None`` if not declared.
    """
    causality = variable.causality
    if causality == "structuralParameter":
        causality = Causality.PARAMETER
    if causality not in set(Causality) or variable.type not in _TYPES:
        return None
    kind = _TYPES[variable.type]
    declared = variable.declaredType
    return Connector(
        name=variable.name,
        causality=Causality(causality),
        type=kind,
        unit=variable.unit or (declared.unit if declared is not None else None),
        shape=shape,
        description=variable.description or "",
        start=_start(kind, shape, starts),
    )


def _start(kind: DataType, shape: tuple[int, ...], texts: Sequence[str] | None) -> Value | None:
    if not texts:
        return None
    values: list[Any] = [_value(kind, text) for text in texts]
    if not shape:
        only: Value = values[0]
        return only
    if len(values) == 1:
        values *= prod(shape)
    return tuple(values) if len(values) == prod(shape) else None


def _value(kind: DataType, text: str) -> Value:
    if kind is DataType.STRING:
        return text
    if kind is DataType.BINARY:
        return bytes.fromhex(text)
    if kind is DataType.BOOLEAN:
        return text in {"true", "1"}
    return int(text) if kind is DataType.INTEGER else float(text)
