"""Random systems of all that SSP holds, nested, for both of its versions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hypothesis import strategies as st

from orchestrator.core.system import (
    BaseUnit,
    Bus,
    Causality,
    Component,
    ComponentOptions,
    Connection,
    Connector,
    DataType,
    DefaultExperiment,
    DelayTrace,
    Delivery,
    Endpoint,
    Enumeration,
    Extrapolation,
    Interpolation,
    Jitter,
    JitterKind,
    LinearTransformation,
    MappingTransformation,
    Newest,
    Positive,
    PowerPort,
    Provenance,
    Source,
    SourceKind,
    System,
    TransportDelay,
    Value,
    Variability,
    Variation,
)

Draw = Callable[..., object]


def characters(*, without: str = "") -> st.SearchStrategy[str]:
    """All of Unicode that XML holds, line breaks and quotes included."""
    excluded = "\ufffe\uffff" + without
    plain = st.characters(min_codepoint=32, exclude_categories=["Cs"], exclude_characters=excluded)
    return plain | st.sampled_from("\t\n\r\"'&<>")


TEXT = st.text(characters(), max_size=8)
NAMES = st.text(characters(without="./"), min_size=1, max_size=6) | st.sampled_from(
    ["a%2Eb", "%2F", "%252E", "50%", "100%25"]
)
OWN_NAMES = st.text(characters(without="."), min_size=1, max_size=8)
REALS = st.floats(allow_nan=False)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
TIMES = st.integers(0, 2**63 - 1) | st.integers(0, 10**11)
UNITS = st.sampled_from([None, "", "1", "m", "mm", "N.s/m", "kg.m2", "rad/s", "deg", "degC", "%"])
#: Units with names that say nothing, each defined in one way.
DEFINED = {"kgps": BaseUnit({"kg": 1, "s": -1}), "[mm]": BaseUnit({"m": 1}, 0.001), "mm": None}
ENUMERATIONS = [
    Enumeration("gear", {"reverse": -1, "neutral": 0, "first": 1, "1st": 1}),
    Enumeration("an odd & name", {"a b": 5}),
]
NEW = (Causality.STRUCTURAL_PARAMETER, Causality.CONSTANT, Causality.LOCAL)
OLD = [kind for kind in Causality if kind not in (*NEW, Causality.INOUT)]
SETTABLE = (Causality.INPUT, Causality.PARAMETER, Causality.STRUCTURAL_PARAMETER, Causality.LOCAL)
TYPES = [kind for kind in DataType if kind is not DataType.CLOCK]
SOURCES = (
    st.builds(Source, st.just(SourceKind.BLOCK), OWN_NAMES)
    | st.builds(Source, st.just(SourceKind.DEVICE), OWN_NAMES)
    | st.builds(
        lambda name: Source(SourceKind.LOG, f"/results/{name}.parquet"),
        st.text(characters(without="/?"), max_size=8),
    )
    | st.builds(
        lambda name: Source(SourceKind.FMU, f"/models/{name}.fmu"),
        st.text(characters(without="/"), max_size=8),
    )
)
OPTIONS = st.builds(
    ComponentOptions,
    interface=st.sampled_from([None, "cs", "me"]),
    solver=st.sampled_from([None, "dopri5", "cvode"]),
    tolerance=st.none() | st.floats(1e-12, 0.5),
    backend=st.sampled_from(["native", "fmpy"]),
    isolation=st.sampled_from([None, "none", "process"]),
    process=st.none() | NAMES,
    step_timeout=st.sampled_from([10.0, 2.5, "500 ms", "3 s", 7]),
    on_failure=st.sampled_from(["stop", "hold", "restart"]),
    restarts=st.integers(1, 5),
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
def traces(draw: Draw) -> DelayTrace:
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


def scalars(connector: Connector, version: str) -> st.SearchStrategy[Value]:
    bits = 31 if version == "1.0" else 63
    return {
        DataType.REAL: REALS | st.integers(-(2**53), 2**53),
        DataType.INTEGER: st.integers(-(2**bits), 2**bits - 1),
        DataType.BOOLEAN: st.booleans(),
        DataType.STRING: TEXT,
        DataType.BINARY: st.binary(max_size=4),
    }[connector.type]


@st.composite
def values(draw: Draw, connector: Connector, version: str) -> Value:
    element = scalars(connector, version)
    if not connector.shape:
        return draw(element)
    return tuple(draw(st.lists(element, min_size=connector.size, max_size=connector.size)))


@st.composite
def connectors(draw: Draw, version: str, names: st.SearchStrategy[str]) -> Connector:
    kind = draw(st.sampled_from(TYPES if version == "1.0" else list(DataType)))
    real, integer = kind is DataType.REAL, kind is DataType.INTEGER
    unit = draw(UNITS | st.sampled_from(sorted(DEFINED))) if real else None
    shapes = st.lists(st.integers(1, 3), max_size=2).map(tuple)
    causalities = OLD if version == "1.0" else [*OLD, *NEW]
    return Connector(
        draw(names),
        draw(st.sampled_from(causalities)),
        kind,
        unit,
        () if version == "1.0" else draw(shapes),
        draw(TEXT),
        enumeration=draw(st.sampled_from([None, *ENUMERATIONS])) if integer else None,
        unit_definition=DEFINED.get(unit) if unit else None,
    )


@st.composite
def settings_of(draw: Draw, ports: list[Connector], version: str) -> dict[str, Value]:
    free = [c for c in ports if c.causality in SETTABLE and c.type is not DataType.CLOCK]
    if not free:
        return {}
    chosen = draw(st.lists(st.sampled_from(free), unique_by=lambda c: c.name))
    return {c.name: draw(values(c, version)) for c in chosen}


@st.composite
def components(draw: Draw, version: str) -> Component:
    names = st.text(characters(), min_size=1, max_size=8)
    ports = draw(st.lists(connectors(version, names), max_size=4, unique_by=lambda c: c.name))
    return Component(
        draw(NAMES),
        draw(SOURCES),
        {c.name: c for c in ports},
        values=draw(settings_of(ports, version)),
        options=draw(OPTIONS | st.just(ComponentOptions())),
        power_ports=draw(ports_of(ports)),
    )


@st.composite
def buses(draw: Draw, version: str) -> Bus:
    names = st.text(characters(), min_size=1, max_size=8)
    ports = draw(st.lists(connectors(version, names), max_size=2, unique_by=lambda c: c.name))
    entries = {c.name: replace(c, causality=Causality.INOUT) for c in ports}
    return Bus(draw(NAMES), "", entries)


@st.composite
def ports_of(draw: Draw, connectors: list[Connector]) -> dict[str, PowerPort]:
    if len(connectors) < 3 or draw(st.booleans()):
        return {}
    effort, flow, along = (c.name for c in connectors[:3])
    way = st.none() | st.sampled_from(Positive)
    frame = draw(st.none() | TEXT)
    name = draw(OWN_NAMES)
    return {name: PowerPort(name, (effort,), (flow,), (along,), frame, draw(way))}


def outward(connector: Connector, *, own: bool) -> bool | None:
    """Whether a connector gives a signal inside the system; None: either."""
    if connector.causality is Causality.INOUT:
        return None
    taking = connector.causality in SETTABLE and connector.causality is not Causality.LOCAL
    return taking if own else not taking


@st.composite
def connections(draw: Draw, source: Connector, target: Connector, ends: tuple) -> Connection:
    linear = st.builds(LinearTransformation, FINITE, FINITE)
    pair = {source.type, target.type}
    table = st.none()
    if pair == {DataType.BOOLEAN}:
        table = st.builds(
            lambda a, b: MappingTransformation(((0, int(a)), (1, int(b)))),
            st.booleans(),
            st.booleans(),
        )
    elif pair == {DataType.INTEGER} and None in (source.enumeration, target.enumeration):
        table = st.dictionaries(
            st.integers(-100, 100), st.integers(-100, 100), min_size=1, max_size=3
        ).map(lambda pairs: MappingTransformation(tuple(pairs.items())))
    transformation = draw(st.none() | linear | table)
    delay = draw(st.none() | DELAYS)
    if delay is None:
        ways = (None, draw(st.none() | st.sampled_from(Extrapolation)))
    else:
        ways = (
            draw(st.sampled_from([None, Interpolation.LINEAR, Interpolation.CUBIC])),
            draw(st.sampled_from([None, Extrapolation.HOLD, Extrapolation.QUADRATIC])),
        )
    return Connection(*ends, delay, transformation, *ways, draw(st.booleans()))


@st.composite
def systems(draw: Draw, version: str, depth: int = 2, name: str | None = None) -> System:
    parts = draw(st.lists(components(version), max_size=3, unique_by=lambda c: c.name))
    taken = {part.name for part in parts}
    lines = draw(st.lists(buses(version), max_size=1))
    lines = [replace(bus, dictionary=f"bus of {depth} {name}") for bus in lines]
    lines = [bus for bus in lines if bus.name not in taken]
    taken |= {bus.name for bus in lines}
    inner = {}
    for key in draw(st.lists(NAMES, max_size=2, unique=True)) if depth else []:
        if key not in taken:
            inner[key] = draw(systems(version, depth - 1, key))
    own = draw(st.lists(connectors(version, OWN_NAMES), max_size=3, unique_by=lambda c: c.name))
    if own and draw(st.booleans()):
        started = replace(own[0], variability=draw(st.sampled_from(Variability)))
        if started.type is not DataType.CLOCK:
            started = replace(started, start=draw(values(started, version)))
        own[0] = started
    owners = [(c, Endpoint("", c.name), True) for c in own]
    for key, some in [
        *((p.name, p.connectors) for p in parts),
        *((k, s.connectors) for k, s in inner.items()),
        *((b.name, b.connectors) for b in lines),
    ]:
        owners += [(c, Endpoint(key, c.name), False) for c in some.values()]
    giving = [(c, e) for c, e, is_own in owners if outward(c, own=is_own)]
    taking = [(c, e) for c, e, is_own in owners if outward(c, own=is_own) is False]
    made = []
    for _ in range(draw(st.integers(0, 3)) if giving and taking else 0):
        source, target = draw(st.sampled_from(giving)), draw(st.sampled_from(taking))
        made.append(draw(connections(source[0], target[0], (source[1], target[1]))))
    optional = st.none() | TIMES
    option = FINITE | st.booleans() | TEXT | st.integers(-5, 5)
    top = st.builds(
        DefaultExperiment,
        TIMES,
        optional,
        optional,
        st.none() | TEXT,
        st.dictionaries(st.text(characters(), min_size=1, max_size=5), option, max_size=2),
        st.dictionaries(NAMES, st.integers(1, 1000), max_size=2),
        st.none() | st.booleans(),
    )
    return System(
        draw(OWN_NAMES) if name is None else name,
        {part.name: part for part in parts},
        tuple(made),
        draw(top) if name is None else DefaultExperiment(),
        draw(TEXT),
        {c.name: c for c in own},
        inner,
        {bus.name: bus for bus in lines},
        draw(settings_of(own, version)),
        draw(ports_of(own)),
    )
