"""Values and enumerations, right and wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from diagnostic_cases.case import (
    Case,
    Forge,
    around,
    changed,
    enumerated,
    line,
    owning,
    pair,
    probe,
    with_lines,
)
from orchestrator.core.simunits import block
from orchestrator.core.system import Causality, Connector, DataType, MappingTransformation, System

VALUES: Mapping[str, Case] = {
    "VAL101": Case(lambda _: pair(z=1.0), lambda _: pair(k=1.0)),
    "VAL102": Case(lambda _: pair(y=1.0), lambda _: pair(k=1.0)),
    "VAL103": Case(lambda _: pair(k="much"), lambda _: pair(k=2)),
    "VAL104": Case(lambda _: pair(k=float("nan")), lambda _: pair(k=1e300)),
    "VAL105": Case(
        lambda make: changed(make, 'start="2"', 'start="2" min="0" max="5"', gain=5.5),
        lambda make: changed(make, 'start="2"', 'start="2" min="0" max="5"', gain=5.0),
    ),
    "VAL106": Case(lambda make: _constant(make, gain=3.0), lambda make: probe(make, gain=3.0)),
    "VAL121": Case(
        lambda _: System("s").add("lead", block("phase_lead"), measured=0.0, rest=0.0),
        lambda _: System("s").add("lead", block("phase_lead"), measured=0.0, rest=1.0),
    ),
    "VAL122": Case(
        lambda make: _of_softdock(make, 5.5),
        lambda make: _of_softdock(make, 5.0),
    ),
    "VAL110": Case(lambda _: pair(u=1.0), lambda _: pair()),
}


def _constant(make: Forge, **values: object) -> System:
    old = 'name="gain" valueReference="3" causality="parameter" variability="fixed"'
    new = 'name="gain" valueReference="3" causality="local" variability="constant"'
    return changed(make, old, new, **values)


def _of_softdock(make: Forge, gain: float) -> System:
    def limited(change: Callable[[str], str]) -> Path:
        return make.probe(
            lambda text: change(text.replace('start="2"', 'start="2" min="0" max="5"'))
        )

    own = 'generationTool="Softdock"'
    return changed(Forge(limited, make.c), 'generationTool="the tests"', own, gain=gain)


ENUMERATIONS: Mapping[str, Case] = {
    "ENU101": Case(lambda _: _setting(3), lambda _: _setting(1)),
    "ENU102": Case(
        lambda _: _switch(_taking("x", "y"), ((0, 0),), "off", "on"),
        lambda _: _switch(_taking("x", "y"), ((0, 0), (1, 1)), "off", "on"),
    ),
    "ENU103": Case(
        lambda _: _switch(_taking("x", "y"), ((0, 0), (1, 2)), "off", "on"),
        lambda _: _switch(_taking("x", "y"), ((0, 1), (1, 0)), "off", "on"),
    ),
    "ENU104": Case(
        lambda _: _switch(_taking("x", "y"), None, "off", "on"),
        lambda _: _switch(_taking("off", "on"), None, "off", "on"),
    ),
    "ENU105": Case(
        lambda _: with_lines(
            System("s").add("lag", block("lag")),
            line("lag.y", "lag.u", transformation=MappingTransformation(((0, 1),))),
        ),
        lambda _: _switch(_taking("x", "y"), ((0, 0), (1, 1)), "off", "on"),
    ),
    "ENU106": Case(
        lambda _: _switch(_taking("x", "y"), ((0, 0), (1, 1), (2, 1)), "off", "on"),
        lambda _: _switch(_taking("x", "y"), ((0, 0), (1, 1)), "off", "on"),
    ),
}


def _setting(value: int) -> System:
    """A block whose input n is declared with an enumeration of two items."""
    typed = block("typed")
    numbers = enumerated("n", Causality.INPUT, "off", "on")
    typed = replace(typed, connectors={**typed.connectors, "n": numbers})
    return System("s").add("typed", typed, n=value, flag=False)


def _switch(target: Connector, table: tuple[tuple[int, int], ...] | None, *sources: str) -> System:
    """An own input with an enumeration that feeds an input inside through a table."""
    feeds = Connector("mode", Causality.INPUT, DataType.INTEGER, start=0)
    if sources:
        feeds = replace(enumerated("mode", Causality.INPUT, *sources), start=0)
    inner = System("inner").add("typed", block("typed"), flag=False)
    inner = owning(with_lines(inner, line("mode", "typed.n")), target)
    mapping = MappingTransformation(table) if table else None
    outer = owning(replace(around(inner), connectors={}), feeds)
    return with_lines(outer, line("mode", f"inner.{target.name}", transformation=mapping))


def _taking(*items: str) -> Connector:
    return enumerated("mode", Causality.INPUT, *items)
