"""A system that is written as a system file and read again is the same system."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from property.test_ssp_round_trip import NAMES, REALS, TEXT, systems

from orchestrator.authoring import read_toml, write_toml
from orchestrator.system import (
    BaseUnit,
    Bus,
    Causality,
    Connection,
    Connector,
    DataType,
    DefaultExperiment,
    Endpoint,
    Enumeration,
    MappingTransformation,
    Positive,
    PowerPort,
    System,
    UnitOptions,
)

#: A name that may stand in a path, and in the key of a connection.
PLAIN = NAMES.filter(lambda name: "/" not in name and "->" not in name and name == name.strip())
OWN = st.builds(
    Connector,
    PLAIN,
    st.sampled_from(Causality),
    st.just(DataType.REAL),
    st.none() | st.just("N"),
    st.sampled_from([(), (3,), (2, 2)]),
    TEXT,
    st.none() | REALS,
    unit_definition=st.none() | st.builds(BaseUnit, st.just({"kg": 1, "m": -2}), REALS, REALS),
)
MODES = st.builds(
    Connector,
    PLAIN,
    st.just(Causality.INPUT),
    st.just(DataType.INTEGER),
    enumeration=st.builds(
        Enumeration, TEXT, st.dictionaries(PLAIN, st.integers(-9, 9), min_size=1, max_size=3)
    ),
)
OPTIONS = st.builds(
    UnitOptions,
    st.sampled_from([None, "me"]),
    st.sampled_from([None, "cvode"]),
    st.none() | st.floats(1e-9, 0.5),
    restarts=st.integers(1, 5),
    step_timeout=st.sampled_from([10.0, "500 ms"]),
)


def usable(system: System) -> System:
    """Leave out what a system file refuses: ends that are connected twice, names with arrows."""
    lines = {str(c): c for c in system.connections if str(c).count("->") == 1}
    return replace(system, connections=tuple(c for c in lines.values() if _stands(c)))


def _stands(line: Connection) -> bool:
    return all(text == text.strip() for text in (str(line.source), str(line.target)))


def port(connectors: tuple[str, ...], frame: str | None, positive: Positive | None) -> PowerPort:
    return PowerPort("tip", connectors[:1], connectors[1:2], connectors[2:], frame, positive)


@st.composite
def trees(draw: Callable[..., object], depth: int = 2) -> System:
    """Systems with connectors of their own, options, power ports, buses and systems in them."""
    system = usable(draw(systems()))
    own = draw(st.lists(OWN | MODES, max_size=3, unique_by=lambda c: c.name))
    components = {
        name: replace(
            component,
            options=draw(OPTIONS),
            power_ports={
                "tip": port(
                    tuple(component.connectors),
                    draw(st.none() | TEXT),
                    draw(st.none() | st.sampled_from(Positive)),
                )
            }
            if len(component.connectors) > 1
            else {},
        )
        for name, component in system.components.items()
    }
    nested = {}
    if depth:
        for inner in draw(st.lists(trees(depth - 1), max_size=2, unique_by=lambda s: s.name)):
            name = f"in {len(nested)}"
            nested[name] = replace(inner, name=name, experiment=DefaultExperiment())
    lines = list(system.connections)
    if len(own) > 1:
        table = MappingTransformation(((0, 3), (1, -4)))
        ends = (Endpoint("", own[0].name), Endpoint("", own[1].name))
        lines.append(Connection(*ends, transformation=table, suppress_unit_conversion=True))
    return replace(
        system,
        components=components,
        connectors={c.name: c for c in own},
        values={
            c.name: draw(REALS) for c in own if draw(st.booleans()) and c.type is DataType.REAL
        },
        systems=nested,
        buses={"bus": Bus("bus", draw(TEXT), {c.name: c for c in own})},
        connections=tuple(lines),
    )


@given(trees())
def test_written_and_read(system: System) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "system.toml"
        write_toml(system, path)
        assert read_toml(path) == system
        text = path.read_bytes()
        write_toml(read_toml(path), path)
        assert path.read_bytes() == text, "equal systems give equal bytes"
