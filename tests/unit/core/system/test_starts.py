"""Inputs of FMUs that nothing feeds keep what they begin with; those of blocks are told."""

from __future__ import annotations

from orchestrator.core.system import (
    Causality,
    Component,
    Connection,
    Connector,
    Endpoint,
    Source,
    SourceKind,
    System,
    kept_notes,
    with_starts,
    without_starts,
)
from orchestrator.core.system.values import KeptStart


def part(name: str, kind: SourceKind = SourceKind.FMU, **values: float) -> Component:
    connectors = [
        Connector("u", Causality.INPUT, unit="N", start=2.5),
        Connector("v", Causality.INPUT, start=1.0),
        Connector("k", Causality.PARAMETER, start=3.0),
        Connector("y", Causality.OUTPUT, start=0.0),
    ]
    location = "x.fmu" if kind is SourceKind.FMU else "x"
    return Component(name, Source(kind, location), {c.name: c for c in connectors}, values=values)


def test_inputs_that_nothing_feeds_keep_their_starts() -> None:
    line = Connection(Endpoint("b", "y"), Endpoint("a", "u"))
    system, kept = with_starts(System("s", {"a": part("a"), "b": part("b", u=0.0)}, (line,)))
    assert system.component("a").values == {"v": 1.0}
    assert system.component("b").values == {"u": 0.0, "v": 1.0}
    assert kept == [KeptStart(Endpoint("a", "v"), 1.0), KeptStart(Endpoint("b", "v"), 1.0)]
    assert without_starts(system, kept).component("b").values == {"u": 0.0}


def test_an_input_of_the_system_without_a_value_feeds_nothing() -> None:
    lines = (
        Connection(Endpoint("", "force"), Endpoint("a", "u")),
        Connection(Endpoint("", "stiff"), Endpoint("a", "k")),
    )
    own = {
        "force": Connector("force", Causality.INPUT),
        "stiff": Connector("stiff", Causality.PARAMETER),
    }
    open_ = System("s", {"a": part("a", v=0.0)}, lines, connectors=own)
    system, kept = with_starts(open_)
    assert system.closed().component("a").values == {"v": 0.0, "u": 2.5, "k": 3.0}
    assert kept_notes(kept)[0].endswith(" begin with: a.u = 2.5 N, a.k = 3.0")
    given = System("s", {"a": part("a", v=0.0)}, lines, connectors=own, values={"force": 9.0})
    assert with_starts(given)[1] == [KeptStart(Endpoint("a", "k"), 3.0)]
    assert with_starts(open_, closed=False)[1] == []  # it will be fed from outside


def test_blocks_are_left_alone() -> None:
    assert with_starts(System("s", {"a": part("a", SourceKind.BLOCK)}))[1] == []


def test_names_that_hold_equals_signs() -> None:
    odd = Connector("u = 1", Causality.INPUT, start=2.5)
    bare = Component("a", Source(SourceKind.FMU, "x.fmu"), {odd.name: odd})
    held, kept = with_starts(System("s", {"a": bare}))
    assert held.component("a").values == {"u = 1": 2.5}
    assert without_starts(held, kept).component("a").values == {}
