"""Ledgers of runs whose inputs follow their signals within the steps, as they do by default."""

from dataclasses import replace

import numpy as np
import pytest

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.simunits import Block, Input, Output, Parameter, block, fmu, resolve
from orchestrator.core.system import System
from orchestrator.export import build_model
from orchestrator.study import simulate
from orchestrator.study.energy import (
    Account,
    Bond,
    Kind,
    LedgerPlan,
    LedgerPort,
    Motion,
    automatic_plan,
    energy_ledger,
)
from orchestrator.study.energy.samples import Samples

MODES = [
    ("gauss-seidel", "waveform"),
    ("jacobi", "waveform"),
    ("gauss-seidel", "mean"),
    ("gauss-seidel", "plain"),
    ("jacobi", "plain"),
    ("waveform", "waveform"),
    ("newton", "mean"),
]


def sprung(plants, delay=None, *, apart=0.0, v0=0.0):
    """7.5 kg on a spring and a damper that stand on the ground."""
    late = {"delay": delay} if delay else {}
    body = fmu(plants / "Chaser.fmu")
    sheet = fmu(plants / "SpringDashpot.fmu")
    return (
        System("sprung")
        .add("body", body, m=7.5, v0=v0, thrust=0.0, virtual_force=0.0)
        .add("sheet", sheet, k=2510.0, d=6.0, latched=True, position_b=apart, velocity_b=0.0)
        .connect("body.position", "sheet.position_a", **late)
        .connect("body.velocity", "sheet.velocity_a", **late)
        .connect("sheet.force_a", "body.force")
    )


def ledger_of(system, step, **options):
    system = resolve(system)
    record = ["*", "body.force", "sheet.position_a", "sheet.velocity_a"]
    result = simulate(system, step=step, stop="2 s", record=record, **options)
    return energy_ledger(result, system, automatic_plan(system))


@pytest.mark.parametrize(("algorithm", "mode"), MODES)
@pytest.mark.parametrize(("delay", "begin"), [(None, {"v0": 0.1}), ("8 ms", {"apart": 0.01})])
def test_the_balance_closes_with_the_second_order_of_the_step(
    plants, algorithm, mode, delay, begin
):
    """Of held inputs, too: the quadrature of an effort that goes on is of the second order."""
    coarse, fine = (
        ledger_of(sprung(plants, delay, **begin), step, algorithm=algorithm, delay=mode)
        for step in ("4 ms", "2 ms")
    )
    allowed = 1e-3 if mode == "waveform" else 2e-3
    assert coarse.residual < allowed * coarse.turnover
    assert fine.residual < 0.4 * coarse.residual


def test_the_default_settings_close(plants):
    """They were open by 0.088 J of 0.0375 J: inputs were taken as held at the begin of the step."""
    ledger = ledger_of(sprung(plants, v0=0.1), "4 ms")
    assert ledger.initial == pytest.approx(0.0375)
    assert ledger.residual < 3e-5
    created, kept = ledger.total(Kind.CREATED)[-1], ledger.total(Kind.STORED)[-1] - ledger.initial
    assert created - ledger.total(Kind.DISSIPATED)[-1] == pytest.approx(kept, abs=3e-5)


class Wave(Block):
    """A sine, and its rate."""

    y: float = Output(unit="m", depends_on=())
    v: float = Output(unit="m/s", depends_on=())
    omega: float = Parameter(start=40.0)

    def initialise(self, t):
        self.step(t, 0.0)

    def step(self, t, h):
        self.y, self.v = np.sin(self.omega * (t + h)), self.omega * np.cos(self.omega * (t + h))


class Probe(Block):
    """Shows what its input is at the end of a step, and what it was on the mean."""

    u: float = Input(unit="m")
    end: float = Output(unit="m", depends_on=())
    mean: float = Output(unit="m", depends_on=())

    def follow(self, t, h, moving):
        u, first, second, third = (float(each) for each in moving["u"])
        self.end = u + h * (first + h * (second / 2 + h * third / 6))
        self.mean = u + h * (first / 2 + h * (second / 6 + h * third / 24))


@pytest.mark.parametrize("delay", [None, "3 ms", "4 ms", "13.7 ms"])
@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi", "waveform"])
def test_inputs_are_integrated_as_the_unit_followed_them(algorithm, delay):
    late = {"delay": delay} if delay else {}
    system = System("s").add("wave", block(Wave)).add("probe", block(Probe))
    system = resolve(system.connect("wave.y", "probe.u", **late))
    result = simulate(
        system, step="4 ms", stop="0.4 s", record=["*", "probe.u"], algorithm=algorithm
    )
    course = Samples(result, system).course("probe.u", 4)
    ends, means = course.at(1.0)[:, 0], result["probe.mean"][1:]
    assert ends == pytest.approx(result["probe.end"][1:], abs=1e-12)
    nodes, weights = np.polynomial.legendre.leggauss(3)
    mean = sum(
        0.5 * w * course.at(0.5 + 0.5 * x)[:, 0] for x, w in zip(nodes, weights, strict=True)
    )
    assert mean == pytest.approx(means, abs=1e-12)


def test_an_input_that_nothing_explains_is_refused(plants, wording):
    system = resolve(sprung(plants, "8 ms", v0=0.1))
    result = simulate(
        system, step="4 ms", stop="0.1 s", record=["*", "body.force", "sheet.position_a"]
    )
    values = result.values.copy()
    values[:, result.names.index("sheet.position_a")] += 1e-3
    with wording.raises(DescriptionError):
        energy_ledger(replace(result, values=values), system, automatic_plan(system))


SAMPLED = """model Damper "Brakes what it measures, in samples"
  parameter Real k(unit="N.s/m") = 30; parameter Real ts(unit="s") = 0.02;
  input Real y(unit="m/s", start=0); discrete output Real u(unit="N", start=0, fixed=true);
equation
  when sample(0, ts) then u = -k*y; end when;
end Damper;
"""


def test_the_force_of_a_unit_that_samples_does_the_work_that_the_body_loses(plants, tmp_path):
    (tmp_path / "Damper.mo").write_text(SAMPLED, encoding="utf-8")
    path = build_model("Damper", tmp_path, tmp_path / "built", fmi=("2.0",)).path
    system = resolve(
        System("s")
        .add("body", fmu(plants / "Chaser.fmu"), m=7.5, v0=0.1, thrust=0.0, virtual_force=0.0)
        .add("o", fmu(path))
        .connect("body.velocity", "o.y")
        .connect("o.u", "body.force")
    )
    motion = Motion(("body.velocity",), ("body.position",))
    plan = LedgerPlan(
        (Account("body", ("body.energy",), ()),),
        (LedgerPort("brake", Bond(("body.force",), motion), "body"),),
    )
    for step in ("5 ms", "8 ms"):  # the force jumps between communication points, too
        result = simulate(system, step=step, stop="1 s", record=["*", "body.force", "o.y"])
        ledger = energy_ledger(result, system, plan)
        assert ledger.total(Kind.EXTERNAL)[-1] == pytest.approx(-0.0375, rel=2e-2)
        assert ledger.residual < 1e-6 * ledger.turnover
