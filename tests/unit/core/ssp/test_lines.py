"""Annotations of connections: delays that vary, and what is between samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orchestrator.core.diagnostics import SspError
from orchestrator.core.ssp import read_ssd
from orchestrator.core.system import (
    DelayTrace,
    Delivery,
    Extrapolation,
    Interpolation,
    Jitter,
    JitterKind,
    Newest,
    TransportDelay,
    Variation,
)

LOOP = 'startElement="a" startConnector="x" endElement="a" endConnector="u"'


def line(*annotations: tuple[str, str]) -> str:
    notes = "".join(
        f'<ssc:Annotation type="io.softdock.{kind}">{content}</ssc:Annotation>'
        for kind, content in annotations
    )
    return f"<ssd:Connection {LOOP}><ssd:Annotations>{notes}</ssd:Annotations></ssd:Connection>"


def varying(content: str, attributes: str = "", nominal: str = "0.01") -> str:
    inside = f"<sd:Variation {attributes}>{content}</sd:Variation>"
    return line(("delay", f'<sd:TransportDelay nominal="{nominal}">{inside}</sd:TransportDelay>'))


def test_a_jitter(ssd: Any) -> None:
    jitter = '<sd:Jitter kind="gamma" spread="0.002" shape="3" correlation="50 ms"/>'
    attributes = 'loss="0.25" seed="7" delivery="in-order" newest="arrived"'
    (read,) = read_ssd(ssd(connections=varying(jitter, attributes))).connections
    assert read.delay == TransportDelay(
        10_000_000,
        variation=Variation(
            Jitter(JitterKind.GAMMA, 2_000_000, 3.0, 50_000_000),
            None,
            0.25,
            7,
            Delivery.IN_ORDER,
            Newest.ARRIVED,
        ),
    )


def test_what_is_left_out_has_its_default(ssd: Any) -> None:
    (read,) = read_ssd(ssd(connections=varying("", 'loss="0.5"'))).connections
    assert read.delay == TransportDelay(10_000_000, variation=Variation(loss=0.5))


def test_a_trace_as_text_and_as_a_file(ssd: Any) -> None:
    text = '<sd:Trace interpolated="true">0 0.016, 0.1 lost,\n 0.2 20ms</sd:Trace>'
    expected = DelayTrace((0, 10**8, 2 * 10**8), (16 * 10**6, None, 2 * 10**7), True)
    (read,) = read_ssd(ssd(connections=varying(text))).connections
    assert read.delay is not None
    assert read.delay.variation == Variation(trace=expected)
    path = ssd(connections=varying('<sd:Trace interpolated="true" source="d.csv"/>'))
    (path.parent / "d.csv").write_text("time,delay\n0,0.016\n0.1,\n0.2,20 ms\n")
    (again,) = read_ssd(path).connections
    assert again == read


def test_lines(ssd: Any) -> None:
    content = '<sd:Line interpolation="cubic" extrapolation="quadratic"/>'
    both = line(("delay", '<sd:TransportDelay nominal="1"/>'), ("line", content))
    (read,) = read_ssd(ssd(connections=both)).connections
    assert (read.interpolation, read.extrapolation) == (
        Interpolation.CUBIC,
        Extrapolation.QUADRATIC,
    )
    alone = line(("line", '<sd:Line extrapolation="smoothed"/>'))
    (read,) = read_ssd(ssd(connections=alone)).connections
    assert (read.delay, read.extrapolation) == (None, Extrapolation.SMOOTHED)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (varying(""), "found neither"),
        (varying("", 'loss="x"'), "loss: expected a number, found 'x'"),
        (varying("", 'loss="1"'), "a probability of 0 to below 1, found 1"),
        (varying("", 'loss="nan"'), "a probability of 0 to below 1, found nan"),
        (varying("", 'loss="0.1" seed="-1"'), "found -1"),
        (varying("", 'loss="0.1" seed="1.5"'), "seed: expected a number, found '1.5'"),
        (varying("", 'loss="0.1" order="1"'), "unknown attribute order"),
        (varying("", 'loss="0.1" newest="x"'), "expected newest sent, arrived, found 'x'"),
        (varying("<sd:Jitter/>"), "expected the attributes kind, and spread"),
        (varying('<sd:Jitter kind="x" spread="1"/>'), "kind uniform, normal, gamma, found 'x'"),
        (varying('<sd:Jitter kind="uniform" spread="1"/>'), "makes a delay of 0.01 s negative"),
        (varying('<sd:Jitter kind="uniform" spread="0"/>'), "expected > 0 s"),
        (varying('<sd:Jitter kind="gamma" spread="1" shape="0"/>'), "expected 0.05 to 1e6"),
        (varying('<sd:Jitter kind="normal" spread="1ns" shape="3"/>'), "has no shape"),
        (varying('<sd:Jitter kind="gamma" spread="1">x</sd:Jitter>'), "expected an empty element"),
        (varying('<sd:Jitter kind="gamma" spread="1"/><sd:Trace/>'), "at most one sd:Jitter or"),
        (varying("<sd:Trace/>"), "expected either a source, or pairs"),
        (varying("<sd:Trace>0</sd:Trace>"), "row 1: expected a time and a delay, found '0'"),
        (varying("<sd:Trace>0 1, 0 1</sd:Trace>"), "row 2: expected a time after 0 s"),
        (varying("<sd:Trace>0 -1</sd:Trace>"), "row 1: expected a delay >= 0 s"),
        (varying('<sd:Trace source="../d.csv"/>'), "is outside of the folder"),
        (varying('<sd:Trace source="none.csv"/>'), "cannot be read as CSV"),
        (
            line(("line", '<sd:Line interpolation="spline"/>')),
            "expected one of hold, linear",
        ),
        (line(("line", '<sd:Line interpolation="cubic"/>')), "needs a delay"),
        (line(("line", '<sd:Line order="2"/>')), "unknown attribute order"),
        (
            line(
                ("delay", '<sd:TransportDelay nominal="1"/>'),
                ("line", '<sd:Line extrapolation="smoothed"/>'),
            ),
            "is for connections without a delay",
        ),
    ],
)
def test_wrong_values(ssd: Any, text: str, expected: str, wording) -> None:
    with wording.raises(SspError, place="connection a.x -> a.u") as error:
        read_ssd(ssd(connections=text))
    assert expected in str(error.value)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "found nothing"),
        ("t,d\n0,1\n", "expected the titles time, delay; found t, d"),
        ("time,delay\n0\n", "line 2: expected 2 cells, found 1"),
        ("time,delay\n0,x\n", "row 1: delay: expected seconds"),
    ],
)
def test_wrong_files(ssd: Any, content: str, expected: str, wording) -> None:
    path: Path = ssd(connections=varying('<sd:Trace source="d.csv"/>'))
    (path.parent / "d.csv").write_text(content)
    with wording.raises(SspError, code="SSP115", place="connection a.x -> a.u") as error:
        read_ssd(path)
    assert expected in str(error.value)
