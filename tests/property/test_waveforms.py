"""Waveform mode: the engine against the reference, bit for bit, whatever the units can take."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.reference import run_reference
from step_control import FIXED

from orchestrator.core.master import Execution
from orchestrator.core.simunits import block, fmu
from orchestrator.core.system import System

pytestmark = pytest.mark.usefixtures("sample_blocks")
MS = 1_000_000
delays = st.sampled_from([1, MS, 3 * MS, 7 * MS + 1]) | st.integers(1, 12 * MS)
#: How a body may be run: co-simulation, model exchange, or a block that holds its inputs.
KINDS = ("cs", "me", "block")


@pytest.fixture(scope="module")
def kinds(plants):
    """A body of its own kind each: force to velocity and position."""
    path = plants / "Chaser.fmu"
    return {
        "cs": (fmu(path), "force", "position", {"m": 2.0}),
        "me": (fmu(path), "force", "position", {"m": 2.0}),
        "block": (block("strict_lag"), "u", "y", {"a": 0.9, "b": 0.5, "x0": 1.0}),
    }


@st.composite
def rings(draw, *, cut=True):
    """What stands in a ring, in order, and its delays; the ring is closed by a gain below zero."""
    some = draw(st.lists(st.sampled_from(KINDS), min_size=2, max_size=4))
    late = [draw(st.none() | delays) for _ in some]
    if cut:
        late[-1] = late[-1] or draw(delays)
    return list(zip(some, late, strict=True))


def made(kinds, ring):
    system = System("ring")
    for i, (kind, _) in enumerate(ring):
        component, _, _, values = kinds[kind]
        system = system.add(f"n{i}", component, **values)
        if kind == "me":
            system = system.with_options(f"n{i}", interface="me", tolerance=1e-6)
    for i, (kind, delay) in enumerate(ring):
        other = (i + 1) % len(ring)
        system = system.connect(
            f"n{i}.{kinds[kind][2]}",
            f"n{other}.{kinds[ring[other][0]][1]}",
            delay=None if delay is None else f"{delay} ns",
            factor=-0.5 if other == 0 else 0.8,
            suppress_unit_conversion=True,
        )
    return system


@settings(max_examples=25, deadline=None)
@given(
    ring=rings(),
    algorithm=st.sampled_from(FIXED),
    step=st.sampled_from(["1 ms", "2 ms", "999999 ns"]),
    rates=st.lists(st.sampled_from([1, 1, 2, 5]), min_size=4, max_size=4),
)
def test_engine_equals_reference(kinds, ring, algorithm, step, rates):
    system = made(kinds, ring)
    options = {"step": step, "algorithm": algorithm, "delay": "waveform"}
    if algorithm in {"jacobi", "gauss-seidel"}:  # others step all units alike
        options["rates"] = {f"n{i}": rates[i] for i in range(len(ring)) if rates[i] > 1}
    expect_equal(system, **options)


@settings(max_examples=8, deadline=None)
@given(ring=rings(cut=False), mode=st.sampled_from(["waveform", "mean"]))
def test_what_is_iterated_over_the_step_equals_the_reference(kinds, ring, mode):
    """Rings with delays of any length, or none at all."""
    expect_equal(made(kinds, ring), step="3 ms", algorithm="waveform", delay=mode)


@pytest.mark.parametrize("extrapolation", ["linear", "smoothed"])
def test_slopes_of_extrapolated_inputs_equal_the_reference(kinds, extrapolation):
    """The slope is that of the input, in its unit, and not that of the source."""
    body = kinds["cs"][0]
    system = System("s").add("a", body, m=2.0, v0=0.3).add("b", body, m=2.0)
    line = {"extrapolation": extrapolation, "factor": 40.0, "suppress_unit_conversion": True}
    system = system.connect("a.position", "b.force", **line)
    system = system.connect("b.position", "a.force", **line)
    expect_equal(system, step="1 ms", algorithm="jacobi")


def expect_equal(system, **options):
    one, two = (Execution(system, **options) for _ in range(2))
    one.advance(f"{30 * one.schedule.step_ns} ns")
    rows = run_reference(two, 30)
    found = one.recording()
    for i, name in enumerate(found.names):
        np.testing.assert_array_equal(found.values[:, i], rows[:, one.schedule.slots[name][0]])
