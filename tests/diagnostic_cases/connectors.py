"""Connections, right and wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from diagnostic_cases.case import (
    Case,
    around,
    line,
    owning,
    pair,
    with_lines,
)
from orchestrator.core.simunits import block
from orchestrator.core.system import Bus, Causality, Component, Connector, System

CONNECTORS: Mapping[str, Case] = {
    "CON101": Case(lambda _: with_lines(pair(), line("nobody.y", "gain.u")), lambda _: pair()),
    "CON102": Case(lambda _: with_lines(pair(), line("source.z", "gain.u")), lambda _: pair()),
    "CON103": Case(lambda _: with_lines(pair(), line("gain.u", "source.y")), lambda _: pair()),
    "CON104": Case(
        lambda _: System("s").add("t", block("typed"), n=0).connect("t.m", "t.flag"),
        lambda _: System("s").add("t", block("typed"), flag=True).connect("t.m", "t.n"),
    ),
    "CON105": Case(
        lambda _: System("s").add("m", block("matrix")).connect("m.total", "m.u"),
        lambda _: System("s").add("m", block("matrix")).connect("m.y", "m.u"),
    ),
    "CON106": Case(
        lambda _: System("s").add("b", block("body")).connect("b.position", "b.force"),
        lambda _: (
            System("s")
            .add("b", block("body"))
            .add("g", block("gain"))
            .connect("b.position", "g.u")
            .connect("g.y", "b.force")
        ),
    ),
    "CON107": Case(
        lambda _: (
            System("s")
            .add("t", block("typed"), flag=False)
            .connect("t.m", "t.n", delay="5 ms", interpolation="linear")
        ),
        lambda _: (
            System("s")
            .add("t", block("typed"), flag=False)
            .connect("t.m", "t.n", delay="5 ms", interpolation="hold")
        ),
    ),
    "CON108": Case(
        lambda _: pair().add("more", block("source")).connect("more.y", "gain.u"),
        lambda _: pair(),
    ),
    "CON109": Case(
        lambda _: System("s").add("gain", block("gain")),
        lambda _: System("s").add("gain", block("gain"), u=1.0),
    ),
    "CON110": Case(
        lambda _: with_lines(
            System("s").add("b", block("body"), virtual_force=0.0, thrust=0.0),
            line("b.position", "b.force", suppress_unit_conversion=True),
        ),
        lambda _: System("s").add("b", block("body"), force=0.0, virtual_force=0.0, thrust=0.0),
    ),
    "CON111": Case(
        lambda _: _in_millimetres(suppressed=True), lambda _: _in_millimetres(suppressed=False)
    ),
    "CON120": Case(lambda _: _framed("hub", "arm"), lambda _: _framed("hub", "hub")),
    "CON112": Case(
        lambda _: (
            System("s")
            .add("b", block("body"), force=0.0, virtual_force=0.0, thrust=0.0)
            .add("g", block("gain"))
            .connect("b.position", "g.u")
        ),
        lambda _: pair(),
    ),
    "CON121": Case(
        lambda _: System("s").add("g", _in("Nm"), u=0.0),
        lambda _: System("s").add("g", _in("N.m"), u=0.0),
    ),
    "CON122": Case(
        lambda _: System("s").add("g", _in("Newtn"), u=0.0),
        lambda _: System("s").add("g", _in("N"), u=0.0),
    ),
    "CON113": Case(
        lambda _: pair(),
        lambda _: System("s").add("lag", block("lag")).connect("lag.y", "lag.u"),
    ),
    "CON114": Case(lambda _: pair().add("alone", block("gain"), u=0.0), lambda _: pair()),
    "CON115": Case(
        lambda _: pair().add("x", block("source")).add("y", block("gain")).connect("x.y", "y.u"),
        lambda _: pair(),
    ),
    "CON116": Case(lambda _: _bus(2), lambda _: _bus(1)),
    "CON117": Case(
        lambda _: around(owning(pair(), Connector("idle", Causality.INPUT))),
        lambda _: around(pair()),
    ),
    "CON118": Case(
        lambda _: _fed(Connector("u", Causality.INPUT)),
        lambda _: _fed(Connector("u", Causality.INPUT, start=1.0)),
    ),
}


def _in(unit: str) -> Component:
    """A gain whose input has a unit."""
    gain = block("gain")
    return replace(
        gain, connectors={**gain.connectors, "u": replace(gain.connectors["u"], unit=unit)}
    )


def _framed(one: str, other: str) -> System:
    """A body on a gain, whose power ports say their frames."""
    body = block("body").with_power_port("side", "force", "velocity", frame=one)
    gain = replace(block("gain"), connectors={**block("gain").connectors})
    gain = gain.with_power_port("side", "y", "u", frame=other)
    system = System("s").add("body", body, virtual_force=0.0, thrust=0.0).add("gain", gain)
    return system.connect("gain.y", "body.force").connect("body.velocity", "gain.u")


def _fed(own: Connector) -> System:
    system = System("s").add("gain", block("gain"))
    return owning(with_lines(system, line("u", "gain.u")), own)


def _in_millimetres(*, suppressed: bool) -> System:
    """A position in m that leaves through an own output in mm."""
    system = System("s").add("b", block("body"), force=0.0, virtual_force=0.0, thrust=0.0)
    connector = Connector("position", Causality.OUTPUT, unit="mm")
    out = line("b.position", "position", suppress_unit_conversion=suppressed)
    return owning(with_lines(system, out), connector)


def _bus(writers: int) -> System:
    """Sources that write one entry of a dictionary, and a gain that reads it."""
    system = System("s").add("gain", block("gain"))
    entry = Connector("x", Causality.INOUT)
    for number in range(writers):
        name = f"writer{number}"
        inner = System(name, buses={"bus": Bus("bus", "all", {"x": entry})})
        inner = inner.add("source", block("source"))
        inner = with_lines(inner, line("source.y", "bus.x"))
        system = replace(system, systems={**system.systems, name: inner})
    system = replace(system, buses={"bus": Bus("bus", "all", {"x": entry})})
    return with_lines(system, line("bus.x", "gain.u"))
