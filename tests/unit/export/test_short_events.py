"""Relations that change and change back within one long step of the solver."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DIP = """model Dip
  Real x(start=0, fixed=true);
  discrete Real hit(start=-1);
  Integer n(start=0);
equation
  der(x) = 1;
  when (x - {at})^2 < 1e-4 then
    n = pre(n) + 1;
    hit = time;
  end when;
end Dip;"""

DIPS = """model Dips
  parameter Real a=0.3, b=0.6, level=2;
  Real x(start=0, fixed=true);
  discrete Real first(start=-1), second(start=-1), crossed(start=-1);
equation
  der(x) = 1;
  when (x - a)^2 < 1e-4 then
    first = time;
  end when;
  when (x - b)^2 < 1e-4 then
    second = time;
  end when;
  when x > level then
    crossed = time;
  end when;
end Dips;"""

# Dips that a method misses if it searches after the crossings, or in the order of the relations.
HIDDEN = (
    (0.05, 0.4, 0.45),
    (0.05, 0.62, 0.9),
    (0.1, 0.1, 0.15),
    (0.1, 0.1, 0.45),
    (0.1, 0.2, 2.0),
    (0.1, 0.31, 2.0),
    (0.1, 0.4, 0.35),
    (0.2, 0.1, 0.25),
)

THREE = """model Three
  parameter Real a=0.3, b=0.6, c=0.7;
  Real x(start=0, fixed=true);
  Integer n(start=0);
equation
  der(x) = 1;
  when (x - a)*(x - b)*(x - c) > 0 then
    n = pre(n) + 1;
  end when;
end Three;"""

# Three crossings between the same two looks, or on both sides of one.
TRIPLES = (
    (0.018, 0.021, 0.146),
    (0.539, 0.612, 0.623),
    (0.556, 0.642, 0.838),
    (0.804, 0.82, 0.97),
    (0.913, 0.9697, 0.9698),
)

WAVE = """model Wave
  Real x(start=0, fixed=true), y = 2*x - 1;
  Integer n(start=0);
equation
  der(x) = 1;
  when {wave} > {level} then
    n = pre(n) + 1;
  end when;
end Wave;"""
#: A polynomial of y that swings between -1 and 1 eight times without a sine.
SWINGS = "128*y^8 - 256*y^6 + 160*y^4 - 32*y^2 + 1"


@pytest.mark.parametrize("method", ["dopri5", "cvode"])
@pytest.mark.parametrize("at", [0.05, 0.31, 0.62, 0.93])
def test_a_dip_inside_a_step_is_found(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any], method: str, at: float
) -> None:
    slave = open_fmu(build_text("Dip", DIP.format(at=at), method=method)).initialize()
    slave.step(1.0)
    assert slave.fmu.getInteger([slave.references["n"]]) == [1]
    assert slave.get("hit") == pytest.approx([at - 0.01], abs=1e-7)


@pytest.mark.parametrize("method", ["dopri5", "cvode"])
def test_no_dip_hides_behind_another_event(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any], method: str
) -> None:
    """In one step: a dip before a crossing, at each look, and a dip before one of less index."""
    path, missed = build_text("Dips", DIPS, method=method), []
    for a, b, level in HIDDEN:
        slave = open_fmu(path)
        slave.fmu.setReal([slave.references[name] for name in ("a", "b", "level")], [a, b, level])
        slave.initialize().step(1.0)
        found = [slave.get(name)[0] for name in ("first", "second", "crossed")]
        if found != pytest.approx([a - 0.01, b - 0.01, level if level < 1.0 else -1.0], abs=1e-7):
            missed.append((a, b, level, found))
    assert not missed


@pytest.mark.parametrize("method", ["dopri5", "cvode"])
def test_three_crossings_in_one_step_are_found(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any], method: str
) -> None:
    path, found = build_text("Three", THREE, method=method), []
    for a, b, c in TRIPLES:
        slave = open_fmu(path).initialize(a=a, b=b, c=c)
        slave.step(1.0)
        found += slave.fmu.getInteger([slave.references["n"]])
    assert found == [2] * len(TRIPLES)


@pytest.mark.parametrize("method", ["dopri5", "cvode", "rk4"])
@pytest.mark.parametrize(
    ("wave", "level", "count"),
    [
        ("sin(10*x)", 0.5, 7),
        ("sin(10*time)", 0.5, 7),
        ("cos(200*x)", 0.99, 127),
        ("sin(20*x^2)", 0.5, 51),  # faster and faster
        ("x + 0.2*sin(50*x)", 1.5, 3),
    ],
)
@pytest.mark.parametrize("step", [0.5, 2.0])
def test_every_crossing_of_a_sine_is_found(
    build_text: Callable[..., Path],
    open_fmu: Callable[..., Any],
    method: str,
    wave: str,
    level: float,
    count: int,
    step: float,
) -> None:
    """The counts are those of 4 s, sampled at 1 us."""
    path = build_text("Wave", WAVE.format(wave=wave, level=level), method=method)
    slave = open_fmu(path).initialize()
    slave.step(step, count=round(4.0 / step))
    assert slave.fmu.getInteger([slave.references["n"]]) == [count]
    assert not [message for message in slave.messages if "max_step" in message]


def test_what_cannot_be_seen_is_said_once(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    text = WAVE.format(wave=SWINGS, level=1.01)  # nothing happens, but that is luck
    slave = open_fmu(build_text("Wave", text, method="dopri5")).initialize()
    slave.step(1.0)
    told = [message for message in slave.messages if "max_step" in message]
    assert len(told) == 1
    assert " > 1.01' goes up and down within one step of " in told[0]
    assert "may be missed" in told[0]
