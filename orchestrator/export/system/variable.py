"""A variable of an exported system, as both versions of FMI and the file of its tables need it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from orchestrator.core.system import Connector, DataType


class Kind(IntEnum):
    """Where a variable's value lies; the numbers are those of the file (engine/src)."""

    SIGNAL = 0
    INPUT = 1
    PARAMETER = 2


class Type(IntEnum):
    """Types of FMI 3.0; the numbers are those of the file (engine/src/fmi/ports3.hpp)."""

    FLOAT64 = 0
    FLOAT32 = 1
    INT8 = 2
    UINT8 = 3
    INT16 = 4
    UINT16 = 5
    INT32 = 6
    UINT32 = 7
    INT64 = 8
    UINT64 = 9
    BOOLEAN = 10
    CLOCK = 11
    STRING = 12
    BINARY = 13


#: By the names of FMI 2.0 and 3.0 in capitals.
TYPES = {
    "REAL": Type.FLOAT64,
    "INTEGER": Type.INT32,
    "ENUMERATION": Type.INT32,
    **{kind.name: kind for kind in Type},
}
#: What a connector of the system is in the exported FMU.
_OWN = {
    DataType.REAL: Type.FLOAT64,
    DataType.INTEGER: Type.INT64,
    DataType.BOOLEAN: Type.BOOLEAN,
    DataType.STRING: Type.STRING,
    DataType.BINARY: Type.BINARY,
}


@dataclass(frozen=True, slots=True)
class Port:
    """A variable of an inner FMU.

    Parameters
    ----------
    name, type, reference, size
        As its model description has them; the size counts elements.
    is_discrete
        Whether it changes at events only.
    is_continuous
        Whether a Model Exchange FMU lets it change while time goes on.
    clocks
        Value references of the clocks at whose ticks it changes.
    """

    name: str
    type: Type
    reference: int
    size: int = 1
    is_discrete: bool = False
    is_continuous: bool = False
    clocks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """Where a parameter's value goes: a variable of an inner FMU, ``factor * value + offset``."""

    fmu: int
    port: Port
    factor: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable; its value reference is its place in the list, from 1 on.

    Parameters
    ----------
    name
        With dots between the names of systems, components and connectors.
    causality, variability
        In the words of FMI.
    kind
        See :class:`Kind`.
    connector
        Type, unit, shape and description.
    slot
        Where its signal lies in the engine's buffer; -1: it feeds nothing.
    start
        Of an input or parameter, one for each element.
    is_tunable
        Whether a parameter may be set while the system runs.
    targets
        Of a parameter.
    """

    name: str
    causality: str
    variability: str
    kind: Kind
    connector: Connector
    slot: int = -1
    start: tuple[float | int | bool | str | bytes, ...] = ()
    is_tunable: bool = False
    targets: tuple[Target, ...] = ()

    @property
    def type(self) -> Type:
        """The type that the exported FMU gives it."""
        return _OWN[self.connector.type]
