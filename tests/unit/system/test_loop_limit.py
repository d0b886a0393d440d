import logging

from orchestrator.system import (
    Causality,
    Component,
    Connector,
    Source,
    SourceKind,
    System,
    closed_loops,
)
from orchestrator.system import loops as module


def test_more_loops_than_are_listed_are_said(monkeypatch, caplog):
    ports = {
        name: Connector(name, causality)
        for name, causality in (
            ("u0", Causality.INPUT),
            ("u1", Causality.INPUT),
            ("y0", Causality.OUTPUT),
            ("y1", Causality.OUTPUT),
        )
    }
    part = Component("part", Source(SourceKind.BLOCK, "part"), ports)
    system = System("dense").add("a", part).add("b", part)
    for i in range(2):
        system = system.connect(f"a.y{i}", f"b.u{i}").connect(f"b.y{i}", f"a.u{i}")
    assert len(closed_loops(system)) == 4
    assert not caplog.records
    monkeypatch.setattr(module, "MOST_LOOPS", 3)
    with caplog.at_level(logging.WARNING):
        assert len(closed_loops(system)) == 3
    assert "more than 3 closed loops" in caplog.text
