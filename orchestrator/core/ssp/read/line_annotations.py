"""Annotations of a connection in an SSD: its delay, how that varies, and what is between samples.

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

from enum import StrEnum
from typing import TypeVar

from lxml import etree

from orchestrator.core.diagnostics import DescriptionError, SspError
from orchestrator.core.ssp.archive.sources import Place
from orchestrator.core.ssp.common.annotations import (
    DELAY_TYPE,
    LINE_TYPE,
    annotate,
    empty,
    only,
    own,
    seconds_text,
)
from orchestrator.core.ssp.common.names import add, children, tag
from orchestrator.core.system import (
    Compensation,
    Connection,
    DelayTrace,
    Delivery,
    Extrapolation,
    Interpolation,
    Jitter,
    JitterKind,
    Newest,
    Provenance,
    TransportDelay,
    Variation,
    nanoseconds,
)

_Word = TypeVar("_Word", bound=StrEnum)
_LOST = "lost"


def add_line(element: etree._Element, line: Connection) -> None:
    """Append the annotations of a connection to its ssd:Connection."""
    if line.delay is not None:
        _add_delay(element, line.delay)
    ways = {
        "interpolation": line.interpolation,
        "extrapolation": line.extrapolation,
        "compensation": line.compensation,
    }
    said = {name: str(way) for name, way in ways.items() if way is not None}
    if said:
        add(annotate(element, LINE_TYPE), "sd:Line", **said)


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


def read_line(
    element: etree._Element,
) -> tuple[Interpolation | None, Extrapolation | None]:
    """Read how the samples of an ssd:Connection are interpolated and extrapolated."""
    line = own(element, LINE_TYPE, "sd:Line")
    if line is None:
        return None, None
    empty(line)
    only(line, ("interpolation", "extrapolation", "compensation"))
    return _word(line, "interpolation", Interpolation), _word(line, "extrapolation", Extrapolation)


def read_compensation(element: etree._Element) -> Compensation | None:
    """Read how an ssd:Connection makes up for what holding its signal did, or raise SspError."""
    line = own(element, LINE_TYPE, "sd:Line")
    return None if line is None else _word(line, "compensation", Compensation)


def read_delay(connection: etree._Element, place: Place) -> TransportDelay | None:
    """Read the transport delay of an ssd:Connection."""
    element = own(connection, DELAY_TYPE, "sd:TransportDelay")
    if element is None:
        return None
    only(element, ("nominal", "unit", "provenance", "device", "date"))
    nominal = element.get("nominal")
    if nominal is None:
        raise SspError("sd:TransportDelay: expected the attribute nominal, in seconds")
    provenance = _word(element, "provenance", Provenance) or Provenance.ASSUMED
    time = nanoseconds(f"{nominal} {element.get('unit', 's')}", "delay")
    inside = _single(element, ("sd:Variation",))
    variation = None if inside is None else _variation(inside, place)
    device, date = element.get("device", ""), element.get("date", "")
    return TransportDelay(time, provenance, variation, device, date)


def _word(element: etree._Element, name: str, words: type[_Word]) -> _Word | None:
    found = element.get(name)
    if found is not None and found not in set(words):
        raise SspError(f"{tag(element)}: expected {name} {', '.join(words)}, found '{found}'")
    return None if found is None else words(found)


def _single(element: etree._Element, names: tuple[str, ...]) -> etree._Element | None:
    """Return the only child element, if there is one; it must have one of these names."""
    inside = children(element)
    if len(inside) > 1 or any(tag(each) not in names for each in inside):
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


def _variation(element: etree._Element, place: Place) -> Variation:
    only(element, ("loss", "seed", "delivery", "newest"))
    inside = _single(element, ("sd:Jitter", "sd:Trace"))
    is_jitter = inside is not None and tag(inside) == "sd:Jitter"
    return Variation(
        _jitter(inside) if inside is not None and is_jitter else None,
        _trace(inside, place) if inside is not None and not is_jitter else None,
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
        nanoseconds(spread, "spread of a jitter"),
        _number(element, "shape", "2", float),
        nanoseconds(element.get("correlation", "0"), "correlation of a jitter"),
    )


def _trace(element: etree._Element, place: Place) -> DelayTrace:
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
        file = place.file(source, inside=True)
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
