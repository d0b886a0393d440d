"""Attributes of a connection: one codec for each, which files, commands, checks and pages use.

A new attribute is a field of :class:`Connection`, a key of :class:`LineSettings` and a row of
:data:`ATTRIBUTES`. SSP files, system files, flattening, checks of types, checkpoints, loops,
differences and pages then have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, TypedDict

from orchestrator.core.diagnostics import ConnectorMismatchError, DescriptionError
from orchestrator.core.structs import Struct
from orchestrator.core.system.connection import (
    Compensation,
    Connection,
    Extrapolation,
    Interpolation,
    LinearTransformation,
    MappingTransformation,
    Transformation,
)
from orchestrator.core.system.delay import (
    TransportDelay,
    delay_data,
    delay_of,
    delay_text,
)
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


class Misfit(NamedTuple):
    """Why a signal cannot have the value of its connection: class of the error, code, text."""

    error: type[DescriptionError]
    code: str
    text: str


class LineAttribute(Struct):
    """Codec of an attribute.

    name: Field of :class:`Connection`.
    title: Its row on the pages of a diagram.
    read: Makes the value of the settings that :meth:`System.connect` takes, or raises
        DescriptionError; the second argument is the connection, for the message.
    settings: Makes the plain settings that ``read`` reads, by key, for system files.
    text: Writes the value in words that no other value has, for pages, differences and messages.
    default: The value of a connection that does not have the attribute.
    keys: Its keys among the settings; empty: its name alone.
    combined: Makes the value of the connection that connections in a row become; the second
        argument is that connection, for the message. ``None``: the attribute acts on values and is
        combined with the conversions of units (``flatten.py``).
    is_portable: Whether an archive for other tools can hold it: in SSP, or in an FMU of the line.
    misfits: Describes why a signal cannot have the value of its connection, by the connectors at
        both ends.
    """

    name: str
    title: str
    read: Callable[[Mapping[str, Any], str], Any]
    settings: Callable[[Any], dict[str, Any]]
    text: Callable[[Any], str]
    default: object = None
    keys: tuple[str, ...] = ()
    combined: Callable[[Sequence[Connection], str], Any] | None = None
    is_portable: bool = False
    misfits: Callable[[Connection, Connector, Connector], Iterable[Misfit]] = (
        lambda _line, _source, _target: ()
    )

    @property
    def all_keys(self) -> tuple[str, ...]:
        """Keys of the attribute among the settings of a connection."""
        return self.keys or (self.name,)

    def value(self, line: Connection) -> Any:
        """The value on a connection; ``default`` without one."""
        return getattr(line, self.name)


def _word(
    name: str,
    title: str,
    kind: type[StrEnum],
    *,
    neutral: StrEnum | None = None,
    is_portable: bool = False,
    further: Callable[[Connection, Connector], Iterable[str]] = lambda _line, _source: (),
) -> LineAttribute:
    """Make the codec of an attribute that is one word of an enumeration; ``None`` without one.

    neutral: The word that a signal of any type may have; every other one needs a Real.
    further: Further checks of a connection against the connector of its source.
    """

    def read(settings: Mapping[str, Any], location: str) -> StrEnum | None:
        text = settings.get(name)
        return None if text is None else member_of(kind, text, f"{location}: {name}")

    def combined(lines: Sequence[Connection], _location: str) -> StrEnum | None:
        words = [getattr(line, name) for line in lines]
        return next((word for word in reversed(words) if word is not None), None)

    def misfits(line: Connection, source: Connector, _target: Connector) -> Iterator[Misfit]:
        word = getattr(line, name)
        if source.type is not DataType.REAL and word != neutral:
            expected = f"expected {neutral}" if neutral else "leave it out"
            text = f"{name} '{word}' is for Real signals, found {source.type}; {expected}"
            yield Misfit(DescriptionError, "CON107", text)
        for text in further(line, source):
            yield Misfit(DescriptionError, "CON107", text)

    return LineAttribute(
        name,
        title,
        read,
        lambda word: {name: str(word)},
        str,
        combined=combined,
        is_portable=is_portable,
        misfits=misfits,
    )


def _slerp_misfits(line: Connection, source: Connector) -> Iterator[str]:
    if line.interpolation is not Interpolation.SLERP:
        return
    if source.shape != (4,):
        yield (
            "interpolation 'slerp' is for quaternions, connectors of shape (4,); found shape"
            f" {source.shape}"
        )
    if line.transformation is not None:
        yield "interpolation 'slerp' is for unit quaternions; expected no factor and no offset"


def _read_delay(settings: Mapping[str, Any], location: str) -> TransportDelay | None:
    try:
        return delay_of(settings.get("delay"))
    except DescriptionError as error:
        raise DescriptionError(f"{location}: {error}") from None


def _delays_in_row(lines: Sequence[Connection], location: str) -> TransportDelay | None:
    """Return the delay of the connection that connections in a row become."""
    delayed = [line for line in lines if line.delay is not None]
    delays = [line.delay for line in delayed if line.delay is not None]
    if len(delays) < 2:
        return delays[0] if delays else None
    if any(delay.variation for delay in delays):
        raise DescriptionError(
            f"{location}: {len(delays)} delays in a row, of which one varies; put it on one"
            " connection"
        )
    if len({line.interpolation for line in delayed}) > 1:
        raise DescriptionError(f"{location}: delays in a row are interpolated in different ways")
    provenance = min(delay.provenance for delay in delays)
    return TransportDelay(sum(delay.nominal_ns for delay in delays), provenance)


def _read_transformation(settings: Mapping[str, Any], location: str) -> Transformation | None:
    factor, offset = settings.get("factor", 1.0), settings.get("offset", 0.0)
    mapping = settings.get("mapping")
    try:
        if (factor, offset) == (1.0, 0.0):
            return None if mapping is None else MappingTransformation(tuple(mapping.items()))
        if mapping is not None:
            raise DescriptionError("expected a factor and an offset, or a mapping; not both")
        return LinearTransformation(factor, offset)
    except DescriptionError as error:
        raise DescriptionError(f"{location}: {error}") from None


def _transformation_settings(transformation: Transformation) -> dict[str, Any]:
    if isinstance(transformation, MappingTransformation):
        return {"mapping": [list(entry) for entry in transformation.entries]}
    settings = {"factor": transformation.factor, "offset": transformation.offset}
    neutral = {"factor": 1.0, "offset": 0.0}
    return {key: number for key, number in settings.items() if number != neutral[key]}


def _transformation_text(transformation: Transformation) -> str:
    """Write a transformation: ``"× -1 + 2"``, ``"table 0 → 3, 1 → 4"``."""
    if isinstance(transformation, MappingTransformation):
        return f"table {', '.join(f'{source} → {into}' for source, into in transformation.entries)}"
    factor, offset = transformation.factor, transformation.offset
    sign = "-" if offset < 0 else "+"
    return f"× {factor!r}" + (f" {sign} {abs(offset)!r}" if offset else "")


def _table_misfits(line: Connection, source: Connector, target: Connector) -> Iterator[Misfit]:
    if not isinstance(line.transformation, MappingTransformation):
        return
    if source.type not in {DataType.BOOLEAN, DataType.INTEGER}:
        text = (
            "a table of values is for Boolean, Integer and enumeration connectors,"
            f" found {source.type}"
        )
        yield Misfit(ConnectorMismatchError, "ENU105", text)
    items = target.named_values
    unnamed = {value for _, value in line.transformation.entries} - {*items.values()}
    if items and unnamed:
        names = ", ".join(f"{name} ({value})" for name, value in items.items())
        text = f"the table leads to {', '.join(map(str, sorted(unnamed)))}; the target has {names}"
        yield Misfit(ConnectorMismatchError, "ENU103", text)


#: Every attribute, in the order in which files and pages have them.
ATTRIBUTES: tuple[LineAttribute, ...] = (
    LineAttribute(
        "delay",
        "Delay",
        _read_delay,
        lambda delay: {"delay": delay_data(delay)},
        delay_text,
        combined=_delays_in_row,
        is_portable=True,
    ),
    LineAttribute(
        "transformation",
        "Transformation",
        _read_transformation,
        _transformation_settings,
        _transformation_text,
        keys=("factor", "offset", "mapping"),
        is_portable=True,
        misfits=_table_misfits,
    ),
    LineAttribute(
        "suppress_unit_conversion",
        "Unit conversion",
        lambda settings, _location: settings.get("suppress_unit_conversion", False),
        lambda is_suppressed: {"suppress_unit_conversion": is_suppressed},
        lambda _is_suppressed: "suppressed",
        default=False,
        is_portable=True,
    ),
    _word(
        "interpolation",
        "Between samples",
        Interpolation,
        neutral=Interpolation.HOLD,
        is_portable=True,
        further=_slerp_misfits,
    ),
    _word(
        "extrapolation",
        "After the newest sample",
        Extrapolation,
        neutral=Extrapolation.HOLD,
        is_portable=True,
    ),
    _word("compensation", "Compensation", Compensation),
)


def values_of(settings: Mapping[str, Any], location: str) -> dict[str, Any]:
    """Read the fields of a connection from its settings."""
    return {attribute.name: attribute.read(settings, location) for attribute in ATTRIBUTES}


def attributes_on(line: Connection) -> Iterator[tuple[LineAttribute, Any]]:
    """Yield the attributes that a connection has, each with its value."""
    for attribute in ATTRIBUTES:
        value = attribute.value(line)
        if value is not attribute.default:
            yield attribute, value
