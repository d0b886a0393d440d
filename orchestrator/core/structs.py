"""Values of named fields, which are made in C."""

from __future__ import annotations

from typing import dataclass_transform

import msgspec
from msgspec import field
from msgspec.structs import asdict, astuple, fields, force_setattr, replace

__all__ = [
    "MutableStruct",
    "Struct",
    "asdict",
    "astuple",
    "field",
    "fields",
    "force_setattr",
    "replace",
]


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Struct(msgspec.Struct, frozen=True):
    """Base of a value: its annotated names are its fields, compared, hashed and shown in order.

    A class of it takes 0.03 ms of start-up where a frozen dataclass with slots takes 1.2, a value
    of five fields 0.2 us instead of 1.9 (CPython 3.11, x86_64). Of keywords ``eq=False`` compares
    by identity, and ``dict=True`` makes room for cached properties. What pydantic reads, and a
    field that is no part of what is compared or shown, needs a dataclass. ``replace``, ``fields``,
    ``asdict`` and ``astuple`` are those of :mod:`msgspec.structs`: the last two go one level deep.
    """


@dataclass_transform(field_specifiers=(field,))
class MutableStruct(msgspec.Struct):
    """The same with fields that may be set: it is not hashed."""
