"""Attributes of a connection: one codec for each, which files, commands, checks and pages use.

A new attribute is a field of :class:`Connection`, a key of :class:`LineSettings` and a row of
:data:`SIMPLE_ATTRIBUTES`. SSP files, system files, flattening, checks of types, checkpoints, loops,
differences and pages then have it. Delays, transformations and the handling of units have a form
of their own in each format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, TypedDict

from orchestrator.core.structs import Struct
from orchestrator.core.system.connection import (
    Compensation,
    Connection,
    Extrapolation,
    Interpolation,
)
from orchestrator.core.system.delay import TransportDelay
from orchestrator.core.system.naming import member_of
from orchestrator.core.system.ports import Connector, DataType


class LineSettings(TypedDict, total=False):
    """What :meth:`System.connect` takes, as people and files write it."""

    delay: TransportDelay | str | float | None
    factor: float
    offset: float
    mapping: Mapping[int, int] | None
    interpolation: Interpolation | str | None
    extrapolation: Extrapolation | str | None
    suppress_unit_conversion: bool
    compensation: Compensation | str | None


class LineAttribute(Struct):
    """Codec of an attribute that is one value; ``None`` on a connection without it.

    name: Field of :class:`Connection`, argument of :meth:`System.connect`, key of a connection in a
        system file, attribute of ``sd:Line`` in SSP.
    title: Its row on the pages of a diagram.
    parse: Makes the value of a text or a plain value, or raises DescriptionError; the second
        argument is the connection, for the message.
    text: Makes the text that ``parse`` reads, for SSP files and pages.
    plain: Makes the plain value that ``parse`` reads, for system files.
    neutral: The value that a signal of any type may have; with every other value the signal must
        be a Real.
    problems: Further checks of a value, against the connection and the connector of its source.
    """

    name: str
    title: str
    parse: Callable[[Any, str], Any]
    text: Callable[[Any], str] = str
    plain: Callable[[Any], Any] = str
    neutral: object = None
    problems: Callable[[Any, Connection, Connector], Iterable[str]] | None = None

    def value(self, line: Connection) -> Any:
        """The value on a connection; ``None`` without one."""
        return getattr(line, self.name)

    def joined(self, lines: Sequence[Connection]) -> Any:
        """The value of the connection that connections in a row become: the last that has one."""
        values = [self.value(line) for line in lines]
        return next((value for value in reversed(values) if value is not None), None)

    def misfits(self, line: Connection, source: Connector) -> Iterator[str]:
        """Describe why a signal cannot have the value of its connection."""
        value = self.value(line)
        if value is None:
            return
        if source.type is not DataType.REAL and value != self.neutral:
            expected = f"expected {self.text(self.neutral)}" if self.neutral else "leave it out"
            yield (
                f"{self.name} '{self.text(value)}' is for Real signals, found {source.type};"
                f" {expected}"
            )
        if self.problems is not None:
            yield from self.problems(value, line, source)


def _word(kind: type[StrEnum]) -> Callable[[Any, str], StrEnum]:
    return lambda text, location: member_of(kind, text, f"{location}: {kind.__name__.lower()}")


def _slerp_problems(word: Interpolation, line: Connection, source: Connector) -> Iterator[str]:
    if word is not Interpolation.SLERP:
        return
    if source.shape != (4,):
        yield (
            "interpolation 'slerp' is for quaternions, connectors of shape (4,); found shape"
            f" {source.shape}"
        )
    if line.transformation is not None:
        yield "interpolation 'slerp' is for unit quaternions; expected no factor and no offset"


#: Attributes of one value, in the order in which files and pages have them.
SIMPLE_ATTRIBUTES: tuple[LineAttribute, ...] = (
    LineAttribute(
        "interpolation",
        "Between samples",
        _word(Interpolation),
        neutral=Interpolation.HOLD,
        problems=_slerp_problems,
    ),
    LineAttribute(
        "extrapolation",
        "After the newest sample",
        _word(Extrapolation),
        neutral=Extrapolation.HOLD,
    ),
    LineAttribute("compensation", "Compensation", _word(Compensation)),
)


def simple_values(settings: Mapping[str, Any], location: str) -> dict[str, Any]:
    """Parse the settings of simple attributes; those that are missing or ``None`` are left out."""
    return {
        attribute.name: attribute.parse(settings[attribute.name], location)
        for attribute in SIMPLE_ATTRIBUTES
        if settings.get(attribute.name) is not None
    }


def attributes_on(line: Connection) -> Iterator[tuple[LineAttribute, Any]]:
    """Yield the simple attributes that a connection has, each with its value."""
    for attribute in SIMPLE_ATTRIBUTES:
        value = attribute.value(line)
        if value is not None:
            yield attribute, value
