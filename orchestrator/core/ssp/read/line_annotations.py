"""What stands on a line of an SSD: transformations, and annotations of its delay.

::

    <ssc:Annotation type="io.softdock.delay">
      <sd:TransportDelay nominal="0.016" unit="s" provenance="measured">
        <sd:Variation loss="0.01" seed="7" delivery="in-order" newest="sent">
          <sd:Jitter kind="gamma" spread="0.002" shape="2.0" correlation="0.05"/>
        </sd:Variation>
      </sd:TransportDelay>
    </ssc:Annotation>

    <ssc:Annotation type="io.softdock.line">
      <sd:Line interpolation="cubic" extrapolation="linear"/>
    </ssc:Annotation>

A line without a delay may have ``compensation="nepce"``, ``"corrector"`` or ``"energy"`` there.

In place of the jitter may stand ``<sd:Trace interpolated="true">0 0.016, 0.1 lost</sd:Trace>``,
pairs of time and delay in seconds, or ``<sd:Trace source="delays.csv"/>``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from math import isfinite
from typing import Any, Final, NamedTuple, TypeVar

from lxml import etree

from orchestrator.core.diagnostics import CapabilityError, DescriptionError, SspError
from orchestrator.core.ssp.archive.sources import Place
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.annotations import (
    DELAY_TYPE,
    LINE_TYPE,
    annotate,
    empty,
    only,
    own_annotation,
    seconds_text,
)
from orchestrator.core.ssp.common.codes import refusal
from orchestrator.core.ssp.common.names import (
    add,
    attribute,
    boolean,
    boolean_text,
    children,
    full,
    integer,
    real,
    real_text,
    tag,
)
from orchestrator.core.ssp.common.signal_types import item_names
from orchestrator.core.structs import Struct
from orchestrator.core.system import (
    Connection,
    Connector,
    DataType,
    DelayTrace,
    Delivery,
    Jitter,
    JitterKind,
    LinearTransformation,
    MappingTransformation,
    Newest,
    Provenance,
    Transformation,
    TransportDelay,
    Variation,
    nanoseconds,
)
from orchestrator.core.system.line_attributes import ATTRIBUTES, attributes_on
from orchestrator.core.system.time import in_seconds

_Word = TypeVar("_Word", bound=StrEnum)
_LOST = "lost"


def _add_delay(element: etree._Element, delay: TransportDelay) -> None:
    written = add(
        annotate(element, DELAY_TYPE),
        "sd:TransportDelay",
        nominal=seconds_text(delay.nominal_ns),
        unit="s",
        provenance=str(delay.provenance),
        **{k: v for k, v in (("device", delay.device), ("date", delay.date)) if v},
    )
    varies = delay.variation
    if varies is None:
        return
    variation = add(
        written,
        "sd:Variation",
        loss=repr(varies.loss),
        seed=str(varies.seed),
        delivery=str(varies.delivery),
        newest=str(varies.newest),
    )
    if varies.jitter is not None:
        add(
            variation,
            "sd:Jitter",
            kind=str(varies.jitter.kind),
            spread=seconds_text(varies.jitter.spread_ns),
            shape=repr(varies.jitter.shape),
            correlation=seconds_text(varies.jitter.correlation_ns),
        )
    if varies.trace is not None:
        trace = varies.trace
        rows = zip(trace.times_ns, trace.delays_ns, strict=True)
        pairs = (f"{seconds_text(t)} {_LOST if d is None else seconds_text(d)}" for t, d in rows)
        interpolated = "true" if trace.interpolated else "false"
        add(variation, "sd:Trace", interpolated=interpolated).text = ", ".join(pairs)


def _read_delay(connection: etree._Element, location: Place) -> TransportDelay | None:
    """Read the transport delay of an ssd:Connection."""
    element = own_annotation(connection, DELAY_TYPE, "sd:TransportDelay")
    if element is None:
        return None
    only(element, ("nominal", "unit", "provenance", "device", "date"))
    nominal = element.get("nominal")
    if nominal is None:
        raise SspError("sd:TransportDelay: expected the attribute nominal, in seconds")
    provenance = _word(element, "provenance", Provenance) or Provenance.ASSUMED
    time = nanoseconds(f"{nominal} {element.get('unit', 's')}", "delay")
    inside = _single(element, ("sd:Variation",))
    variation = None if inside is None else _variation(inside, location)
    device, date = element.get("device", ""), element.get("date", "")
    return TransportDelay(time, provenance, variation, device, date)


def _word(element: etree._Element, name: str, words: type[_Word]) -> _Word | None:
    text = element.get(name)
    if text is not None and text not in set(words):
        raise SspError(f"{tag(element)}: expected {name} {', '.join(words)}, found '{text}'")
    return None if text is None else words(text)


def _single(element: etree._Element, names: tuple[str, ...]) -> etree._Element | None:
    """Return the only child element, if there is one; it must have one of these names."""
    inside = children(element)
    if len(inside) > 1 or any(tag(child_element) not in names for child_element in inside):
        raise SspError(
            f"{tag(element)}: expected at most one {' or '.join(names)} in it, found"
            f" {', '.join(map(tag, inside))}"
        )
    return inside[0] if inside else None


def _number(element: etree._Element, name: str, default: str, kind: type[float]) -> float:
    text = element.get(name, default)
    try:
        return kind(text)
    except ValueError:
        raise SspError(f"{tag(element)}: {name}: expected a number, found '{text}'") from None


def _variation(element: etree._Element, location: Place) -> Variation:
    only(element, ("loss", "seed", "delivery", "newest"))
    inside = _single(element, ("sd:Jitter", "sd:Trace"))
    is_jitter = inside is not None and tag(inside) == "sd:Jitter"
    return Variation(
        _jitter(inside) if inside is not None and is_jitter else None,
        _trace(inside, location) if inside is not None and not is_jitter else None,
        _number(element, "loss", "0", float),
        int(_number(element, "seed", "0", int)),
        _word(element, "delivery", Delivery) or Delivery.REORDERED,
        _word(element, "newest", Newest) or Newest.SENT,
    )


def _jitter(element: etree._Element) -> Jitter:
    empty(element)
    only(element, ("kind", "spread", "shape", "correlation"))
    kind, spread = _word(element, "kind", JitterKind), element.get("spread")
    if kind is None or spread is None:
        raise SspError("sd:Jitter: expected the attributes kind, and spread in seconds")
    return Jitter(
        kind,
        nanoseconds(in_seconds(spread), "spread of a jitter"),
        _number(element, "shape", "2", float),
        nanoseconds(in_seconds(element.get("correlation", "0")), "correlation of a jitter"),
    )


def _trace(element: etree._Element, location: Place) -> DelayTrace:
    only(element, ("interpolated", "source"))
    if children(element):
        raise SspError("sd:Trace: expected text only")
    interpolated = element.get("interpolated", "false")
    if interpolated not in {"true", "false"}:
        raise SspError(f"sd:Trace: expected interpolated true or false, found '{interpolated}'")
    source, text = element.get("source"), (element.text or "").strip()
    if (source is None) == (not text):
        raise SspError("sd:Trace: expected either a source, or pairs of time and delay as text")
    if source is not None:
        file = location.file(source, inside=True)
        return DelayTrace.read(file, interpolated=interpolated == "true")
    pairs = []
    for number, row in enumerate(text.split(","), start=1):
        words = row.split()
        if len(words) != 2:
            raise DescriptionError(
                f"sd:Trace, row {number}: expected a time and a delay, found '{row.strip()}'"
            )
        pairs.append((words[0], "" if words[1] == _LOST else words[1]))
    return DelayTrace.of(pairs, interpolated=interpolated == "true")


Scalar = float | int | bool | str | bytes

_CLAUSE: Final = "SSP 2.0, 4.5.2"
_Key = int | str

_READ: Final[Mapping[str, Callable[[str], _Key]]] = {
    "ssc:BooleanMappingTransformation": boolean,
    "ssc:IntegerMappingTransformation": integer,
    "ssc:EnumerationMappingTransformation": str,
}


class ValueChange(Struct):
    """What a mapping of parameters makes of a value.

    suppress_unit_conversion: Whether units are not looked at.
    change: Factor and offset, after the unit conversion; or values, or names of items, by those of
        the source.
    """

    suppress_unit_conversion: bool
    change: LinearTransformation | Mapping[_Key, _Key] | None

    def of(self, value: Scalar) -> Scalar:
        """Return what becomes of a value; one that the table does not have stays."""
        if isinstance(self.change, LinearTransformation):
            if isinstance(value, (bool, str, bytes)):
                raise DescriptionError(f"a linear transformation is for numbers, found {value!r}")
            return self.change.factor * value + self.change.offset
        if self.change is None:
            return value
        if isinstance(value, (float, bytes)):
            raise DescriptionError(f"a table is for values that can be listed, found {value!r}")
        mapped = self.change.get(value, value)
        return bool(mapped) if isinstance(value, bool) else mapped


def _change(parent: etree._Element) -> LinearTransformation | dict[_Key, _Key] | None:
    """Read the first transformation that stands in an element."""
    for inner in children(parent):
        if tag(inner) == "ssc:LinearTransformation":
            return _linear(inner)
        if tag(inner) in _READ:
            return _table(inner)
    return None


def _linear(element: etree._Element) -> LinearTransformation:
    factor, offset = (attribute(element, n, real, d) for n, d in (("factor", 1.0), ("offset", 0.0)))
    if not (isfinite(factor) and isfinite(offset)):
        raise refusal(
            codes.TRANSFORMATION, f"expected finite numbers, found {factor} and {offset}", _CLAUSE
        )
    return LinearTransformation(factor, offset)


def _table(element: etree._Element) -> dict[_Key, _Key]:
    read = _READ[tag(element)]
    table: dict[_Key, _Key] = {}
    nothing: _Key = ""
    for entry in element.findall(full("ssc:MapEntry")):
        source, target = (attribute(entry, end, read, nothing) for end in ("source", "target"))
        if source in table:
            raise refusal(codes.TRANSFORMATION, f"maps {source!r} twice", _CLAUSE)
        table[source] = target
    if not table:
        raise refusal(codes.TRANSFORMATION, "expected at least one MapEntry", _CLAUSE)
    return table


def read_change(entry: etree._Element) -> ValueChange:
    """Read what an ssm:MappingEntry makes of a value."""
    suppressed = attribute(entry, "suppressUnitConversion", boolean, default=False)
    return ValueChange(suppressed, _change(entry))


def _read_transformation(
    connection: etree._Element, source: Connector | None, target: Connector | None
) -> Transformation | None:
    """Read the transformation of an ssd:Connection."""
    table = _change(connection)
    if table is None or isinstance(table, LinearTransformation):
        return table
    for same in _unmapped({type(key) for key in table}, source, target):
        table.setdefault(same, same)
    entries = [
        (_value(from_value, source, "source"), _value(to_value, target, "target"))
        for from_value, to_value in table.items()
    ]
    return MappingTransformation(tuple(entries))


def _unmapped(
    keys: set[type], source: Connector | None, target: Connector | None
) -> Iterable[_Key]:
    """List what passes unchanged where a table does not name it, as far as it can be listed."""
    if keys == {bool}:
        return (False, True)
    if keys == {str}:
        own_items, others = ((end and end.enumeration) for end in (source, target))
        return (
            [item for item in own_items.items if item in others.items]
            if own_items and others
            else ()
        )
    return ()


def _value(value: _Key, connector: Connector | None, side: str) -> int:
    if not isinstance(value, str):
        return int(value)
    enumeration = connector.enumeration if connector else None
    if enumeration is None or value not in enumeration.items:
        items = ", ".join(enumeration.items) if enumeration else "no enumeration is declared"
        raise refusal(
            codes.TRANSFORMATION,
            f"the {side} has no item '{value}'; its items are {items}",
            _CLAUSE,
        )
    return enumeration.items[value]


def add_transformation(
    connection: etree._Element,
    transformation: Transformation,
    source: Connector | None,
    target: Connector | None,
    version: str,
) -> None:
    """Append the transformation of a connection between two connectors."""
    if isinstance(transformation, LinearTransformation):
        add(
            connection,
            "ssc:LinearTransformation",
            factor=real_text(transformation.factor),
            offset=real_text(transformation.offset),
        )
        return
    kind, texts = _form(transformation, source, target, version)
    element = add(connection, f"ssc:{kind}MappingTransformation")
    for from_text, to_text in texts:
        add(element, "ssc:MapEntry", source=from_text, target=to_text)


def _form(
    table: MappingTransformation,
    source: Connector | None,
    target: Connector | None,
    version: str,
) -> tuple[str, list[tuple[str, str]]]:
    ends = [end for end in (source, target) if end is not None]
    types = {end.type for end in ends}
    if types == {DataType.BOOLEAN}:
        if any(value not in {0, 1} for pair in table.entries for value in pair):
            raise DescriptionError(f"a table of truth values: expected 0 and 1, found {table}")
        return "Boolean", [(boolean_text(s), boolean_text(t)) for s, t in table.entries]
    if not types <= {DataType.INTEGER}:
        raise CapabilityError(
            f"a table from {' to '.join(end.type for end in ends)}; SSP has tables from Boolean to"
            " Boolean and from Integer to Integer"
        )
    first, last = (item_names(end.enumeration if end else None) for end in (source, target))
    if all(s in first and t in last for s, t in table.entries):
        return "Enumeration", [(first[s], last[t]) for s, t in table.entries]
    bits = 31 if version == "1.0" else 63
    for value in (value for pair in table.entries for value in pair):
        if not -(2**bits) <= value < 2**bits:
            raise DescriptionError(f"{value} does not fit the {bits + 1} bits of SSP {version}")
    return "Integer", [(str(s), str(t)) for s, t in table.entries]


#: Connectors at the two ends of a connection; ``None`` if they are not known.
LineEnds = tuple[Connector | None, Connector | None]


class _LineForm(NamedTuple):
    """How an attribute of a connection stands in SSP.

    read: Reads it from an ssd:Connection; files that it names are in the place.
    add: Adds a value to an ssd:Connection of a version of SSP.
    """

    read: Callable[[etree._Element, LineEnds, Place], Any]
    add: Callable[[etree._Element, Any, LineEnds, str], None]


#: Attributes with a form of their own, in the order of writing; attributes that are not
#: here are words in ``sd:Line``.
_FORMS: Final[Mapping[str, _LineForm]] = {
    "suppress_unit_conversion": _LineForm(
        lambda element, *_: attribute(element, "suppressUnitConversion", boolean, default=False),
        lambda element, value, *_: element.set("suppressUnitConversion", boolean_text(value)),
    ),
    "transformation": _LineForm(
        lambda element, ends, _: _read_transformation(element, *ends),
        lambda element, value, ends, version: add_transformation(element, value, *ends, version),
    ),
    "delay": _LineForm(
        lambda element, _, location: _read_delay(element, location),
        lambda element, value, *_: _add_delay(element, value),
    ),
}
_WORDS: Final = tuple(codec for codec in ATTRIBUTES if codec.name not in _FORMS)


def read_line(element: etree._Element, ends: LineEnds, location: Place) -> dict[str, Any]:
    """Read the attributes of an ssd:Connection: fields of a connection."""
    values = {name: form.read(element, ends, location) for name, form in _FORMS.items()}
    line = own_annotation(element, LINE_TYPE, "sd:Line")
    if line is None:
        return values
    empty(line)
    only(line, [codec.name for codec in _WORDS])
    settings = {str(name): text for name, text in line.attrib.items()}
    try:
        return values | {codec.name: codec.read(settings, "sd:Line") for codec in _WORDS}
    except DescriptionError as error:
        raise SspError(*error.problems) from None


def add_line(element: etree._Element, line: Connection, ends: LineEnds, version: str) -> None:
    """Add the attributes of a connection to its ssd:Connection."""
    values = {codec.name: (codec, value) for codec, value in attributes_on(line)}
    for name, form in _FORMS.items():
        if name in values:
            form.add(element, values[name][1], ends, version)
    texts = {name: codec.text(v) for name, (codec, v) in values.items() if name not in _FORMS}
    if texts:
        add(annotate(element, LINE_TYPE), "sd:Line", **texts)
