"""Systems, their loops and results, as fixtures for tests of what is recorded and shown."""

from pathlib import Path

import numpy as np
import pytest
from systems import GROUND, body_at_contact

from orchestrator.core.coupling import DelayMode, Timing, plan_delays
from orchestrator.core.recording import Result
from orchestrator.core.system import (
    Causality,
    Component,
    Connector,
    DataType,
    Source,
    SourceKind,
    System,
    closed_loops,
)

UNITS = {"position": "m", "velocity": "m/s", "force": "N", "k": "N/m", "m": "kg"}


def component(source, inputs=(), outputs=(), parameters=()):
    """A component whose connectors take their unit from the first part of their name."""
    connectors = [
        Connector(name, causality, DataType.REAL, UNITS.get(name.split("_")[0]), start=1.5)
        for causality, names in (
            (Causality.INPUT, inputs),
            (Causality.OUTPUT, outputs),
            (Causality.PARAMETER, parameters),
        )
        for name in names
    ]
    feedthrough = {name: () for name in outputs if name in {"position", "velocity"}}
    return Component("unnamed", source, {c.name: c for c in connectors}, feedthrough)


def body():
    source = Source(SourceKind.FMU, "fmus/build/Body.fmu")
    return component(source, ["force", "thrust"], ["position", "velocity"], ["m"])


def sheet():
    source = Source(SourceKind.BLOCK, "sheet")
    inputs = [f"{quantity}_{side}" for side in "ab" for quantity in ("position", "velocity")]
    return component(source, inputs, ["force_a", "force_b"], ["k"])


@pytest.fixture
def capture():
    return body_at_contact(
        body().with_values({"thrust": 10.0, "m": 750.0}),
        sheet().with_values(GROUND),
        name="capture",
        names=("chaser", "sheet"),
        motion={"delay": "16 ms"},
        velocity={},
    )


@pytest.fixture
def hybrid():
    block = Source(SourceKind.BLOCK, "hybrid_contact")
    inputs = ["position_1", "velocity_1", "position_2", "velocity_2", "measured_force"]
    system = (
        System("hybrid")
        .add("chaser", body(), thrust=0.0)
        .add("target", body(), thrust=0.0)
        .add("sheet", sheet())
        .add("hybrid", component(block, inputs, ["force_1", "force_2"]))
    )
    for name, side, number in (("chaser", "a", 1), ("target", "b", 2)):
        for quantity in ("position", "velocity"):
            source = f"{name}.{quantity}"
            system = system.connect(source, f"sheet.{quantity}_{side}", delay="16 ms")
            system = system.connect(source, f"hybrid.{quantity}_{number}")
        system = system.connect(f"hybrid.force_{number}", f"{name}.force")
    return system.connect("sheet.force_a", "hybrid.measured_force", delay="2.5 ms", factor=-1.0)


def equal_steps(step_ns, *, before):
    """Two units of the same step; ``before``: the source is stepped first."""
    newest_ns, held_ns = (step_ns, -step_ns / 2) if before else (0, step_ns / 2)
    return Timing(step_ns, step_ns, newest_ns, held_ns, visible_ns=newest_ns)


@pytest.fixture
def loops_and_plans(capture):
    def timing(line):
        return equal_steps(4_000_000, before=line.source.component == "chaser")

    loops = closed_loops(capture)
    plans, delays = plan_delays(capture.connections, loops, DelayMode.PLAIN, timing)
    return tuple(delays), tuple(plans.values())


@pytest.fixture
def result(loops_and_plans):
    time_ns = np.arange(50, dtype=np.int64) * 100_000
    values = np.random.default_rng(7).normal(size=(50, 3)) * 10.0 ** np.arange(-200, 101, 150)
    values[3] = [0.1 + 0.2, -0.0, 5e-324]
    values[4] = [np.nan, np.inf, -np.inf]
    return Result(
        name="exact",
        time_ns=time_ns,
        names=("chaser.position", "sheet.force[0,1]", "sheet.count"),
        values=values,
        units={"chaser.position": "m", "sheet.force[0,1]": "N"},
        step_ns=100_000,
        algorithm="gauss-seidel",
        delay_mode="plain",
        loops=loops_and_plans[0],
        plans=loops_and_plans[1],
        wall_seconds=0.25,
        simulated_seconds=5.0,
    )


@pytest.fixture
def kept(tmp_path):
    """A file of an earlier run, in a folder of its own."""
    folder = tmp_path / "earlier"
    folder.mkdir()

    def make(name: str) -> Path:
        path = folder / name
        path.write_bytes(b"earlier")
        return path

    return make
