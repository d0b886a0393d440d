"""A system that is written and read again is the same system."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from orchestrator.ssp import read_ssd, write_ssd
from orchestrator.ssp.schema import Schema, violations
from orchestrator.system import (
    Causality,
    Component,
    Connection,
    Connector,
    DataType,
    DefaultExperiment,
    DelayTrace,
    Delivery,
    Endpoint,
    Extrapolation,
    Interpolation,
    Jitter,
    JitterKind,
    LinearTransformation,
    Newest,
    Provenance,
    Source,
    SourceKind,
    System,
    TransportDelay,
    Value,
    Variation,
)


def characters(*, without: str = "") -> st.SearchStrategy[str]:
    """All of Unicode that XML holds, line breaks and quotes included."""
    excluded = "\ufffe\uffff" + without
    plain = st.characters(min_codepoint=32, exclude_categories=["Cs"], exclude_characters=excluded)
    return plain | st.sampled_from("\t\n\r\"'&<>")


TEXT = st.text(characters(), max_size=8)
NAMES = st.text(characters(without="."), min_size=1, max_size=8)
REALS = st.floats(allow_nan=False)
TIMES = st.integers(0, 2**63 - 1) | st.integers(0, 10**11)
UNITS = st.sampled_from([None, "", "1", "m", "mm", "N.s/m", "kg.m2", "rad/s", "deg", "degC", "%"])
VALUES: dict[DataType, st.SearchStrategy[Value]] = {
    DataType.REAL: REALS | st.integers(-(2**53), 2**53),
    DataType.INTEGER: st.integers(-(2**31), 2**31 - 1),
    DataType.BOOLEAN: st.booleans(),
    DataType.STRING: TEXT,
}
SOURCES = st.builds(Source, st.just(SourceKind.BLOCK), NAMES) | st.builds(
    lambda name: Source(SourceKind.FMU, f"/models/{name}.fmu"),
    st.text(characters(without="/"), max_size=8),
)


LOSSES = st.floats(0.0, 1.0, exclude_max=True, exclude_min=True)
JITTERS = st.builds(
    Jitter,
    st.sampled_from([JitterKind.GAMMA]),
    st.integers(1, 10**12),
    st.floats(0.1, 100.0),
    TIMES,
) | st.builds(Jitter, st.sampled_from(JitterKind), st.just(1), st.just(2.0), TIMES)


@st.composite
def traces(draw: Callable[..., object]) -> DelayTrace:
    times = draw(st.lists(TIMES, min_size=1, max_size=5, unique=True))
    delay = st.none() | TIMES
    delays = draw(st.lists(delay, min_size=len(times), max_size=len(times)))
    return DelayTrace(tuple(sorted(times)), tuple(delays), draw(st.booleans()))


VARIATIONS = st.builds(
    Variation,
    st.none() | JITTERS,
    st.none(),
    LOSSES,
    st.integers(0, 2**63 - 1),
    st.sampled_from(Delivery),
    st.sampled_from(Newest),
) | st.builds(Variation, st.none(), traces(), st.just(0.0) | LOSSES)
DELAYS = st.builds(
    TransportDelay,
    st.integers(3, 2**63 - 1),
    st.sampled_from(Provenance),
    st.none() | VARIATIONS,
)


@st.composite
def connectors(draw: Callable[..., object]) -> Connector:
    kind = draw(st.sampled_from(list(VALUES)))
    unit = draw(UNITS) if kind is DataType.REAL else None
    return Connector(
        draw(st.text(characters(), min_size=1, max_size=8)),
        draw(st.sampled_from(Causality)),
        kind,
        unit,
        description=draw(TEXT),
    )


@st.composite
def components(draw: Callable[..., object]) -> Component:
    ports = draw(st.lists(connectors(), max_size=5, unique_by=lambda c: c.name))
    settable = [c for c in ports if c.causality is not Causality.OUTPUT]
    chosen = (
        draw(st.lists(st.sampled_from(settable), unique_by=lambda c: c.name)) if settable else []
    )
    return Component(
        draw(NAMES),
        draw(SOURCES),
        {c.name: c for c in ports},
        values={c.name: draw(VALUES[c.type]) for c in chosen},
    )


@st.composite
def systems(draw: Callable[..., object]) -> System:
    parts = draw(st.lists(components(), max_size=4, unique_by=lambda c: c.name))
    ends = [Endpoint(part.name, name) for part in parts for name in part.connectors]
    linear = st.none() | st.builds(LinearTransformation, REALS, REALS)
    delayed = st.builds(
        Connection,
        st.sampled_from(ends),
        st.sampled_from(ends),
        DELAYS,
        linear,
        st.sampled_from([None, Interpolation.LINEAR, Interpolation.CUBIC]),
        st.sampled_from([None, Extrapolation.HOLD, Extrapolation.QUADRATIC]),
    )
    direct = st.builds(
        Connection,
        st.sampled_from(ends),
        st.sampled_from(ends),
        st.none(),
        linear,
        st.none(),
        st.none() | st.sampled_from(Extrapolation),
    )
    lines = delayed | direct
    optional = st.none() | TIMES
    experiment = st.builds(DefaultExperiment, TIMES, optional, optional, st.none() | TEXT)
    return System(
        draw(st.text(characters(), min_size=1, max_size=8)),
        {part.name: part for part in parts},
        tuple(draw(st.lists(lines, max_size=5))) if ends else (),
        draw(experiment),
        draw(TEXT),
    )


@settings(deadline=None, max_examples=200)
@given(systems())
def test_a_system_comes_back_equal(system: System) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "SystemStructure.ssd"
        write_ssd(system, path)
        first = path.read_bytes()
        assert violations(etree.fromstring(first), Schema.DESCRIPTION) == []
        back = read_ssd(path)
        assert back == system
        assert list(back.components) == list(system.components)
        write_ssd(back, path)
        assert path.read_bytes() == first
