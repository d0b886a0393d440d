"""Events against closed form, with each solver: a bouncing ball and friction that sticks."""

from __future__ import annotations

from collections.abc import Callable
from math import asin, cos, pi, sin, sqrt
from pathlib import Path
from typing import Any

import pytest
from fmpy import simulate_fmu
from fmpy.fmi1 import FMICallException
from scipy.optimize import brentq

GRAVITY, RESTITUTION = 9.81, 0.8

BALL = f"""model Ball
  Real h(start=1, fixed=true), v(start=0, fixed=true);
  discrete Real hit(start=0);
  Integer n(start=0);
equation
  der(h) = v;
  der(v) = -{GRAVITY};
  when h <= 0 then
    reinit(v, -{RESTITUTION}*pre(v));
    n = pre(n) + 1;
    hit = time;
  end when;
end Ball;"""

FRICTION = """model Friction "a mass of 1 kg, dry friction of 1 N, pulled with 1.2 sin(t)"
  Integer way(start=0, fixed=true);
  Real x(start=0, fixed=true), v(start=0, fixed=true), f;
equation
  f = 1.2*sin(time);
  way = if pre(way) == 0 then (if f > 1 then 1 elseif f < -1 then -1 else 0)
    elseif pre(way)*v < 0 then 0 else pre(way);
  der(x) = if way == 0 then 0 else v;
  der(v) = if way == 0 then 0 else f - way;
end Friction;"""

# Errors allowed: about five times those measured (tolerance 1e-8; rk4: 1 ms).
SOLVERS = {"dopri5": 2e-13, "rk4": 2e-13, "cvode": 1e-7}


def ball(time: float) -> tuple[float, float, int]:
    """Height, moment of the last bounce and number of bounces."""
    fall = sqrt(2.0 / GRAVITY)
    if time < fall:
        return 1.0 - 0.5 * GRAVITY * time**2, 0.0, 0
    hit, speed, count = fall, RESTITUTION * GRAVITY * fall, 1
    while hit + 2.0 * speed / GRAVITY <= time:
        hit, speed, count = hit + 2.0 * speed / GRAVITY, RESTITUTION * speed, count + 1
    return speed * (time - hit) - 0.5 * GRAVITY * (time - hit) ** 2, hit, count


def friction() -> tuple[float, float]:
    """Where the mass is after its first slide, and when that ends."""
    begin = asin(1.0 / 1.2)

    def speed(time: float) -> float:
        return 1.2 * (cos(begin) - cos(time)) - (time - begin)

    end = float(brentq(speed, begin + 0.5, pi, xtol=1e-15))
    slide = 1.2 * (cos(begin) * (end - begin) - sin(end) + sin(begin)) - 0.5 * (end - begin) ** 2
    return slide, end


@pytest.mark.parametrize("method", SOLVERS)
def test_ten_bounces(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any], method: str
) -> None:
    slave = open_fmu(build_text("Ball", BALL, method=method)).initialize()
    for _ in range(36):
        slave.step(0.1)
        height, hit, count = ball(slave.time)
        h, t = slave.get("h", "hit")
        assert h == pytest.approx(height, abs=SOLVERS[method])
        assert t == pytest.approx(hit, abs=SOLVERS[method])
        assert slave.fmu.getInteger([slave.references["n"]]) == [count]
    assert count == 10


def test_ten_bounces_in_model_exchange(build_text: Callable[..., Path]) -> None:
    fmu = build_text("Ball", BALL, method="dopri5")
    result = simulate_fmu(
        str(fmu),
        fmi_type="ModelExchange",
        stop_time=3.6,
        output_interval=0.1,
        relative_tolerance=1e-10,
        output=["h", "hit", "n"],
    )
    height, hit, count = ball(3.6)
    assert result["n"][-1] == count == 10
    assert result["h"][-1] == pytest.approx(height, abs=1e-6)
    assert result["hit"][-1] == pytest.approx(hit, abs=1e-6)


@pytest.mark.parametrize("method", SOLVERS)
def test_friction_sticks(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any], method: str
) -> None:
    slave = open_fmu(build_text("Friction", FRICTION, method=method)).initialize()
    slide, end = friction()
    assert 0.985 < end < pi
    slave.step(0.1, 40)
    assert slave.get("x")[0] == pytest.approx(slide, abs=max(SOLVERS[method], 1e-9))
    assert slave.get("v")[0] == pytest.approx(0.0, abs=1e-12)
    assert slave.fmu.getInteger([slave.references["way"]]) == [0]


@pytest.mark.parametrize("method", SOLVERS)
def test_saved_just_before_an_event_it_happens_again_bit_by_bit(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any], method: str
) -> None:
    fmu = build_text("Ball", BALL, method=method)
    slave, other = open_fmu(fmu, "one").initialize(), open_fmu(fmu, "two").initialize()
    for n in range(36):
        saved = slave.fmu.getFMUState()
        raw = slave.fmu.serializeFMUstate(saved)
        slave.fmu.doStep(0.1 * n, 0.1)
        first = _bits(slave)
        slave.fmu.setFMUState(saved)
        slave.fmu.doStep(0.1 * n, 0.1)
        again = _bits(slave)
        copy = other.fmu.deSerializeFMUstate(raw)
        other.fmu.setFMUState(copy)
        other.fmu.doStep(0.1 * n, 0.1)
        assert first == again == _bits(other)
        slave.fmu.freeFMUState(saved)
        other.fmu.freeFMUState(copy)
    assert slave.fmu.getInteger([slave.references["n"]]) == [10]


def _bits(slave: Any) -> list[str]:
    return [value.hex() for value in slave.get("h", "v", "hit")]


def test_a_restored_state_warns_as_often_as_the_first_run(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    text = (
        "model Warn Real x(start=1, fixed=true); equation der(x) = -x;"
        ' assert(x > 0.5 or x < 0.3, "between", AssertionLevel.warning); end Warn;'
    )
    slave = open_fmu(build_text("Warn", text, method="dopri5")).initialize()
    saved = slave.fmu.getFMUState()
    slave.step(0.1, 9)
    assert len(slave.messages) == 1, "once per violation"
    inside = slave.fmu.getFMUState()
    slave.step(0.1, 3)
    slave.fmu.setFMUState(inside)
    slave.time = 0.9
    slave.step(0.1, 2)
    assert len(slave.messages) == 1, "it has been said"
    slave.fmu.setFMUState(saved)
    slave.time = 0.0
    slave.step(0.1, 9)
    assert len(slave.messages) == 2
    slave.fmu.freeFMUState(saved)
    slave.fmu.freeFMUState(inside)


@pytest.mark.slow
@pytest.mark.parametrize("method", SOLVERS)
def test_an_assert_that_only_a_trial_stage_violates_is_not_heard(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any], method: str
) -> None:
    text = (
        "model Trial Real x(start=1, fixed=true); equation der(x) = -1;"
        ' assert(x > 0.2, "too small", AssertionLevel.warning);'
        " when x <= 0.5 then reinit(x, 1); end when; end Trial;"
    )
    slave = open_fmu(build_text("Trial", text, max_step=0.7, method=method)).initialize()
    slave.step(0.7, 4)
    assert slave.messages == []
    assert slave.get("x") == [pytest.approx(0.7, abs=1e-9)]


@pytest.mark.parametrize("method", ["dopri5", "rk4"])
@pytest.mark.parametrize("restitution", [0.05, 0.3, 0.5, 0.9])
def test_a_ball_never_falls_through_the_floor(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any], method: str, restitution: float
) -> None:
    text = BALL.replace(f"-{RESTITUTION}*", f"-{restitution}*")
    slave = open_fmu(build_text("Ball", text, method=method)).initialize()
    end = sqrt(2.0 / GRAVITY) * (1.0 + restitution) / (1.0 - restitution)
    slave.step(0.05, int(end / 0.05))
    assert slave.get("h")[0] >= -1e-12
    with pytest.raises(FMICallException):
        slave.step(0.05, 2)
    assert "events accumulate" in slave.messages[-1]


def test_a_fast_switch_after_a_long_rest_is_no_accumulation(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    text = (
        "model Rest input Real u; Integer n(start=0); Real x(start=0, fixed=true); equation"
        " der(x) = u; when x > 0.5 then reinit(x, -0.5); n = pre(n) + 1; end when; end Rest;"
    )
    slave = open_fmu(build_text("Rest", text, method="dopri5")).initialize()
    slave.step(20000.0)
    slave.set(u=1000.0)
    slave.step(0.1, 2)
    assert slave.fmu.getInteger([slave.references["n"]])[0] in {199, 200}
