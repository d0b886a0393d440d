"""A plant in Python with events: what :class:`Events` asks for is enough for an FMU."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import pytest
from fmpy import simulate_fmu

from orchestrator.export import DataType, Kind, Residual, ResidualDae, Variable, build_dae
from orchestrator.export.dae.events import DiscreteEquation, Events, Reinit, Relation

G, RESTITUTION = 9.81, 0.8


def _ball() -> ResidualDae:
    h, v = (
        Variable(name, Kind.OUTPUT, DataType.REAL, ca.SX.sym(name), ca.SX(start), fixed=True)
        for name, start in (("h", 1.0), ("v", 0.0))
    )
    rate = {name: ca.SX.sym(f"der({name})") for name in ("h", "v")}
    initial, below = ca.SX.sym("initial"), ca.SX.sym("below")
    hit, hit_before = ca.SX.sym("hit"), ca.SX.sym("pre(hit)")
    rises = ca.logic_and(ca.logic_and(hit, ca.logic_not(hit_before)), ca.logic_not(initial))
    events = Events(
        initial,
        relations=(
            Relation(below, -h.symbol, strict=False, size=ca.fabs(h.symbol), label="h <= 0"),
        ),
        discrete=(DiscreteEquation(hit, hit_before, below, ca.SX(0), exact=False, label="hit"),),
        reinits=(Reinit("v", rises, -RESTITUTION * v.symbol, "impact"),),
        before=frozenset({"v"}),
    )
    return ResidualDae(
        "Lab.Ball",
        ca.SX.sym("time"),
        (h, v),
        rate,
        (Residual(rate["h"] - v.symbol, "rate"), Residual(rate["v"] + G, "fall")),
        events=events,
    )


def _closed_form(end: float) -> float:
    time, speed = (2 / G) ** 0.5, RESTITUTION * (2 * G) ** 0.5
    while time + 2 * speed / G < end:
        time, speed = time + 2 * speed / G, RESTITUTION * speed
    return speed * (end - time) - G * (end - time) ** 2 / 2


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_ball_of_python_bounces(version: str, tmp_path: Path) -> None:
    fmu = build_dae(_ball(), tmp_path, fmi=(version,)).path
    result = simulate_fmu(
        str(fmu), stop_time=3.0, output_interval=0.5, fmi_type="CoSimulation", output=["h"]
    )
    assert result["h"][-1] == pytest.approx(_closed_form(3.0), abs=1e-10)


@pytest.mark.usefixtures("checked_sources")
def test_other_events_make_another_fmu(tmp_path: Path) -> None:
    ball = _ball()
    first = build_dae(ball, tmp_path)
    (relation,) = ball.events.relations
    higher = Relation(relation.symbol, 0.5 + relation.margin, strict=False, size=1, label="h <= .5")
    dae = ResidualDae(
        ball.name,
        ball.time,
        ball.variables,
        ball.derivatives,
        ball.residuals,
        events=Events(
            ball.events.initial, (higher,), (), ball.events.discrete, ball.events.reinits
        ),
    )
    assert not first.cached
    assert build_dae(ball, tmp_path).cached
    assert not build_dae(dae, tmp_path).cached
