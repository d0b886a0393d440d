"""Layouts of datagrams, as settings declare them."""

from __future__ import annotations

import math
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from orchestrator.rig.devices import DeviceConnector

#: Letters of :mod:`struct` by the names that settings use.
TYPES = {
    "i8": "b",
    "u8": "B",
    "i16": "h",
    "u16": "H",
    "i32": "i",
    "u32": "I",
    "i64": "q",
    "u64": "Q",
    "f32": "f",
    "f64": "d",
}
Type = Literal["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64", "text"]
Role = Literal["signal", "sequence", "time", "status", "taken", "constant", "padding", "text"]
_INTEGERS = ("sequence", "status", "taken", "constant", "padding")
#: Elements of a field at most: of a datagram, every byte.
_MOST = 65507


class LayoutField(BaseModel):
    """One field of a datagram; fields follow each other without gaps.

    Parameters
    ----------
    role
        ``signal``: a connector. ``sequence``: counts the datagrams, from 0 to what its type holds
        and again. ``time``: of the sender's clock; in a type of integers it runs over as a sequence
        does, and is counted on. ``status``: 0 where all is in order. ``taken``: the number of the
        newest command that the rig has taken; 0 before the first, which has the number 1.
        ``constant``: always ``value``; another value is of another protocol. ``padding``: written
        as 0 and not read. ``text``: characters of ASCII, filled up with zeros.
    type
        Its number in memory; ``u32`` is an integer of 32 bits without a sign; ``text`` of a text.
    count
        How many of its type follow each other: elements of a signal, bytes of a padding, characters
        of a text.
    name, unit, description, frame, minimum, maximum, start
        Of the connector of a signal.
    speed, acceleration, rests, deceleration
        The same, of one that is commanded.
    follows
        Of a measured signal: the commanded one that it follows.
    scale, offset
        ``value = raw * scale + offset``, in the unit of the signal; for ``time``: in s.
    value
        Of a constant.
    text
        Of a text; empty: it is not read, and written as zeros.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    role: Role = "signal"
    type: Type
    count: int = Field(default=1, ge=1, le=_MOST)
    name: str = ""
    unit: str = "1"
    description: str = ""
    frame: str | None = None
    minimum: float = -math.inf
    maximum: float = math.inf
    start: float = 0.0
    speed: float = Field(default=math.inf, gt=0.0)
    acceleration: float = Field(default=math.inf, gt=0.0)
    rests: Literal["in place", "at zero"] = "in place"
    deceleration: float = Field(default=math.inf, gt=0.0)
    scale: float = Field(default=1.0, allow_inf_nan=False)
    offset: float = Field(default=0.0, allow_inf_nan=False)
    value: int = 0
    follows: str = ""
    text: str = ""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.role == "signal") != bool(self.name):
            raise ValueError(f"a name for a signal and none for a {self.role}")
        if self.scale == 0.0:
            raise ValueError("a scale other than 0")
        if self.role in _INTEGERS and self.type.startswith("f"):
            raise ValueError(f"a type of integers for a {self.role}")
        if (self.role == "text") != (self.type == "text"):
            raise ValueError("the type text for the role text, and for no other")
        if self.count > 1 and self.role not in {"signal", "padding", "text"}:
            raise ValueError(f"a count of 1 for a {self.role}")
        if not self.text.isascii() or "\0" in self.text or len(self.text) > self.count:
            raise ValueError(f"a text of at most {self.count} characters of ASCII")
        if self.role == "constant" and not self.holds(self.value):
            raise ValueError(f"a constant that {self.type} can hold")
        return self

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the largest integer that its type holds."""
        bits = int(self.type[1:])
        return (
            (0, 2**bits - 1) if self.type[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        )

    @property
    def period(self) -> int | None:
        """How many integers its type holds; ``None`` for a type that is none."""
        return None if self.type[0] in "ft" else 1 << int(self.type[1:])

    @property
    def code(self) -> str:
        """What :mod:`struct` reads for it."""
        return f"{self.count}s" if self.type == "text" else f"{self.count}{TYPES[self.type]}"

    def holds(self, raw: int) -> bool:
        """Whether an integer has a place in its type."""
        low, high = self.ends
        return low <= raw <= high

    @property
    def connector(self) -> DeviceConnector:
        """What the signal is for a system."""
        return DeviceConnector(
            self.name,
            self.unit,
            self.description,
            shape=(self.count,) if self.count > 1 else (),
            frame=self.frame,
            minimum=self.minimum,
            maximum=self.maximum,
            start=self.start,
            speed=self.speed,
            acceleration=self.acceleration,
            rests=self.rests,
            deceleration=self.deceleration,
            follows=self.follows,
        )


class Layout(BaseModel):
    """A datagram.

    Parameters
    ----------
    byte_order
        ``little`` or ``big``.
    fields
        In their order.
    crc
        ``crc32``: four bytes follow the fields, in the same byte order: CRC-32 of all bytes before
        them, as in zlib and Ethernet. ``none``: none do.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    byte_order: Literal["little", "big"] = "little"
    fields: tuple[LayoutField, ...] = Field(min_length=1)
    crc: Literal["crc32", "none"] = "crc32"

    @model_validator(mode="after")
    def _has_each_once(self) -> Self:
        for role in ("sequence", "time", "status", "taken"):
            if sum(field.role == role for field in self.fields) > 1:
                raise ValueError(f"at most one field with the role {role}")
        names = [field.name for field in self.signals]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"each name once, not {', '.join(twice)} twice")
        return self

    @property
    def signals(self) -> tuple[LayoutField, ...]:
        """The fields that are connectors."""
        return tuple(field for field in self.fields if field.role == "signal")
