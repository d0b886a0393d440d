import cProfile
import logging
import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise, product

import networkx as nx
import numpy as np
import pytest
from recorded_runs import equal_steps

from orchestrator.core.coupling import DelayMode, plan_delays
from orchestrator.core.system import (
    Causality,
    Component,
    Connector,
    Extrapolation,
    Loop,
    Source,
    SourceKind,
    System,
    closed_loops,
)
from orchestrator.core.system import loops as module

PORTS = {
    name: Connector(name, causality)
    for name, causality in (
        ("u0", Causality.INPUT),
        ("u1", Causality.INPUT),
        ("y0", Causality.OUTPUT),
        ("y1", Causality.OUTPUT),
    )
}


def part(feedthrough=None, *, states=True):
    source = Source(SourceKind.BLOCK, "part")
    return Component("part", source, PORTS, feedthrough or {}, has_states=states)


def dense(one, other):
    system = System("dense").add("a", one).add("b", other)
    for i in range(2):
        system = system.connect(f"a.y{i}", f"b.u{i}").connect(f"b.y{i}", f"a.u{i}")
    return system


def test_signals_side_by_side_are_one_loop():
    (loop,) = closed_loops(dense(part(), part()))
    assert loop.count == 4
    assert sorted(map(str, loop.lines)) == [
        "a.y0 -> b.u0", "a.y1 -> b.u1", "b.y0 -> a.u0", "b.y1 -> a.u1",
    ]  # fmt: skip


_MANY = """
from orchestrator import System
from orchestrator.core.system import Causality, Component, Connector, Source, SourceKind
from orchestrator.core.system import closed_loops
from orchestrator.core.system import loops as module

module.MOST_LOOPS = 20
ports = {"u": Connector("u", Causality.INPUT), "y": Connector("y", Causality.OUTPUT)}
for i in range(6):
    ports[f"u{i}"] = Connector(f"u{i}", Causality.INPUT)
system, source = System("many"), Source(SourceKind.BLOCK, "part")
names = "target", "servo", "screw", "ring", "device", "lock"
for name in names:
    system = system.add(name, Component(name, source, ports, {}, has_states=True))
for i, one in enumerate(names):
    for other in names:
        if other != one:
            system = system.connect(f"{one}.y", f"{other}.u{i}")
print(*closed_loops(system), sep=";")
"""


def test_where_there_are_too_many_every_process_takes_the_same():
    """The order of sets of names is another in each process."""
    found = {
        subprocess.run(  # noqa: S603
            [sys.executable, "-c", _MANY],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1
    assert found.pop().count(";") == 19


def test_signals_that_pass_otherwise_are_loops_of_their_own():
    # b.y0 shows b.u0 at once, all else goes through states: with and without half a step in b.
    loops = closed_loops(dense(part({"y0": (), "y1": ()}), part({"y0": ("u0",), "y1": ()})))
    assert {(str(loop), loop.feedthrough, loop.count) for loop in loops} == {
        ("a.y0 -> b.y0 -> a", (True, False), 1),
        ("a.y0 -> b.y1 -> a", (False, False), 1),
        ("a.y1 -> b.y0 -> a", (False, False), 2),  # b.u1 acts on nothing at once
    }


def test_more_loops_than_are_listed_are_said(monkeypatch, caplog):
    system = dense(part({"y0": ("u0",), "y1": ()}), part({"y0": ("u0",), "y1": ()}))
    assert len(closed_loops(system)) == 4
    assert not caplog.records
    monkeypatch.setattr(module, "MOST_LOOPS", 3)
    with caplog.at_level(logging.WARNING):
        assert len(closed_loops(system)) == 3
    assert "more than 3 closed loops" in caplog.text


def drawn(random):
    """Three parts with many signals between them, some delayed, that pass on all, some or none."""
    names = [f"u{i}" for i in range(4)]
    ports = {name: Connector(name, Causality.INPUT) for name in names}
    ports |= {f"y{i}": Connector(f"y{i}", Causality.OUTPUT) for i in range(4)}
    system = System("drawn")
    for name in "abc":
        ways = [tuple(names), tuple(names), tuple(names[:2]), ()]
        feedthrough = {f"y{i}": ways[random.integers(4)] for i in range(4)}
        states = bool(random.integers(2))
        kind = Component("part", Source(SourceKind.BLOCK, "part"), ports, feedthrough, {}, states)
        system = system.add(name, kind)
    for target in [f"{name}.{u}" for name in "abc" for u in names]:
        source = f"{random.choice(list('abc'))}.y{random.integers(4)}"
        delay = "7 ms" if random.random() < 0.1 else None
        ahead = Extrapolation.LINEAR if delay is None and random.random() < 0.1 else None
        system = system.connect(source, target, delay=delay, extrapolation=ahead)
    return system


def one_by_one(system):
    """Every ring of ports, found line by line."""
    graph = nx.DiGraph((c.source.component, c.target.component) for c in system.connections)

    def between(ends):
        return [c for c in system.connections if (c.source.component, c.target.component) == ends]

    def through(line, after):
        component = system.components[line.target.component]
        output = after.source.connector
        passes = component.passes(line.target.connector, output)
        return passes, line.target.connector in component.direct_inputs(output)

    for names in nx.simple_cycles(graph):
        for ring in product(*(between(ends) for ends in pairwise([*names, names[0]]))):
            acts = [through(line, after) for line, after in pairwise([*ring, ring[0]])]
            if all(passes for passes, _ in acts):
                yield Loop(ring, tuple(direct for _, direct in acts), 1, ring)


def kind(ring):
    """What a ring's delay follows from: components, delays, predictions, feed-through."""
    parts = [
        (line.source.component, line.delay and line.target, line.extrapolation, direct)
        for line, direct in zip(ring.connections, ring.feedthrough, strict=True)
    ]
    first = min(range(len(parts)), key=lambda i: parts[i][0])
    return tuple(parts[first:] + parts[:first])


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("mode", list(DelayMode))
def test_loops_are_the_rings_and_are_held_to_the_same_delays(seed, mode):
    system = drawn(np.random.default_rng(seed))
    loops, rings = closed_loops(system), list(one_by_one(system))
    each_line = {}
    for ring in rings:
        each_line.setdefault(kind(ring), []).extend(ring.connections)
    assert {kind(loop): loop.count for loop in loops} == Counter(map(kind, rings))
    assert {kind(loop): set(loop.lines) for loop in loops} == {
        key: set(lines) for key, lines in each_line.items()
    }

    def timing(line):
        return equal_steps(10**6, before=line.source.component < line.target.component)

    plans, delays = plan_delays(system.connections, loops, mode, timing)
    others, each = plan_delays(system.connections, rings, mode, timing)
    for target, plan in others.items():
        assert plans[target].shift_ns == pytest.approx(plan.shift_ns, abs=1)  # rounded to 1 ns
    # The same delays around the same components, as often.
    assert sum(delay.ring_count for delay in delays) == sum(len(delay.loops) for delay in each)
    table = {(frozenset(d.components), d.physical_ns, round(d.numerical_ns)) for d in each}
    for delay in delays:
        near = [
            numerical
            for components, physical, numerical in table
            if (components, physical) == (frozenset(delay.components), delay.physical_ns)
        ]
        assert min(abs(delay.numerical_ns - numerical) for numerical in near) <= 2.0


@pytest.mark.parametrize("direct", [(), None])
def test_calls_grow_with_the_connectors(direct):
    """Of two components with N lines each way: four times as many take less than eight times."""

    def calls(size):
        names = range(size)
        ports = {f"u{i}": Connector(f"u{i}", Causality.INPUT) for i in names}
        ports |= {f"y{i}": Connector(f"y{i}", Causality.OUTPUT) for i in names}
        feedthrough = {} if direct is None else {f"y{i}": direct for i in names}
        wide = Component("wide", Source(SourceKind.BLOCK, "wide"), ports, feedthrough)
        system = System("wide").add("a", wide).add("b", wide)
        for i in names:
            system = system.connect(f"a.y{i}", f"b.u{i}").connect(f"b.y{i}", f"a.u{i}", delay=1)
        counted = cProfile.Profile()
        counted.runcall(module._bundles, system)
        return sum(entry.callcount for entry in counted.getstats())

    assert calls(160) < 8 * calls(40)
