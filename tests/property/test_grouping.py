"""Whatever is nested how deep: made flat, the connections are those of the flat system."""

from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import given

from orchestrator.core.system import (
    Causality,
    Component,
    Connection,
    Connector,
    Endpoint,
    LinearTransformation,
    Source,
    SourceKind,
    System,
    TransportDelay,
)
from orchestrator.core.system.building import grouped

UNITS = (None, "m", "mm")
NAMES = "abcdef"


@st.composite
def flat_systems(draw):
    components, sources, targets = {}, [], []
    for name in NAMES[: draw(st.integers(2, 6))]:
        ports = {}
        for key, kind, ends in (("u", "input", targets), ("y", "output", sources)):
            for i in range(draw(st.integers(0, 2))):
                connector = Connector(
                    f"{key}.{i}", Causality(kind), unit=draw(st.sampled_from(UNITS))
                )
                ports[connector.name] = connector
                ends.append(Endpoint(name, connector.name))
        components[name] = Component(name, Source(SourceKind.BLOCK, "gain"), ports)
    lines = []
    for target in targets if sources else ():
        source = draw(st.sampled_from([None, *sources]))
        if source is None:
            continue
        delay = draw(st.sampled_from([None, TransportDelay(5)]))
        linear = draw(st.sampled_from([None, LinearTransformation(2.0, 1.0)]))
        lines.append(Connection(source, target, delay, linear))
    return System("s", components, tuple(lines))


@pytest.mark.slow
@given(st.data(), flat_systems())
def test_grouping_and_flattening_changes_no_connection(data, system):
    nested, paths = system, {name: name for name in system.components}
    for number in range(data.draw(st.integers(1, 4))):
        here = [*nested.components, *nested.systems]
        members = data.draw(st.lists(st.sampled_from(here), min_size=1, unique=True))
        group = f"group{number}"
        nested = grouped(nested, group, members)
        for name, path in paths.items():
            if path.partition("/")[0] in members:
                paths[name] = f"{group}/{path}"
    flat = nested.flat()
    assert set(flat.components) == set(paths.values())

    def moved(end):
        return end._replace(component=paths[end.component])

    expected = [
        replace(c, source=moved(c.source), target=moved(c.target)) for c in system.connections
    ]
    assert sorted(map(repr, flat.connections)) == sorted(map(repr, expected))
    assert not flat.systems
