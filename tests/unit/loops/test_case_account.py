"""What a run says of its loops: what its schedule does to them, or why that is not known."""

import html
import json
from typing import ClassVar

import numpy as np
import pytest

from orchestrator import Block, Input, Output, Parameter, State, read_experiment, run_experiment
from orchestrator.core.recording import read_parquet
from orchestrator.core.simunits import block
from orchestrator.core.system import System
from orchestrator.loops.run_account import MOST_COMPONENTS, run_account
from orchestrator.study.measure import fit_growth

SYSTEM = """
[system]
name = "ring"
[component.mass]
source = "block:swinging"
[component.spring]
source = "block:scaled"
[connections]
"mass.x -> spring.u" = { delay = "16 ms" }
"spring.y -> mass.u" = {}
"""
EXPERIMENT = """
title = "ring"
[defaults]
step = "16 ms"
stop = "20 s"
algorithm = "jacobi"
delay = "plain"
[case.late]
system = "ring.toml"
"""


class Swinging(Block):
    """750 kg that are pushed, and what is seen of them: the position with a lead of 24 ms."""

    u: float = Input()
    x: float = Output(depends_on=())
    state: list = State(start=[0.01, 0.0])

    def initialise(self, t):
        self.x = self.state[0]

    def step(self, t, h):
        x, v = self.state
        a = self.u / 750.0
        self.state = [x + h * v + h * h * a / 2, v + h * a]
        self.x = self.state[0] + 60.0 / 2510.0 * self.state[1]


class Scaled(Block):
    u: float = Input()
    k: float = Parameter(start=-2510.0)
    y: float = Output(depends_on=("u",))
    broken: bool = Parameter(start=False)
    owners: ClassVar[list] = []

    def initialise(self, t):
        if not any(owner is self for owner in self.owners):
            self.owners.append(self)
        if self.broken and len(self.owners) > 1:
            raise ZeroDivisionError("once is enough")

    def step(self, t, h):
        self.y = self.k * self.u


@pytest.fixture
def ring(register, tmp_path, monkeypatch):
    register(swinging=Swinging, scaled=Scaled)
    monkeypatch.setattr(Scaled, "owners", [])
    (tmp_path / "ring.toml").write_text(SYSTEM)
    path = tmp_path / "experiment.toml"
    path.write_text(EXPERIMENT)
    return path


def run(path, name="out"):
    outcome = run_experiment(read_experiment(path), path.parent, path.parent / name)
    return outcome.cases["late"]


@pytest.mark.usefixtures("no_pictures")
def test_modes_are_those_of_the_run_and_stand_wherever_results_do(ring, tmp_path):
    """Plain Jacobi at the delay's own length: the loop grows although it dies down."""
    case = run(ring)
    (loop,) = case.value("linearised").accounts
    fit = fit_growth(case.result.time, case.result["mass.x"], start=2.0)
    assert loop.modes[0].growth == pytest.approx(fit.sigma, rel=1e-6)
    (warning,) = [text for text in case.result.remarks if "loop of mass, spring" in text]
    assert "1/s instead of decaying at 0.013" in warning
    out = tmp_path / "out"
    summary = json.loads((out / "summary.json").read_text())["cases"]["late"]
    told = summary["linearised"]["loops"][0]["modes"][0]
    assert told["growth_1_s"] == loop.modes[0].growth
    assert told["exact_growth_1_s"] == loop.modes[0].exact.real
    assert warning in summary["remarks"]
    kept = read_parquet(out / "late.parquet").attrs["run"]["linearised"]
    assert kept == summary["linearised"]
    report = html.unescape((out / "report.html").read_text())
    assert "Loops of late" in report
    assert warning in report


@pytest.mark.usefixtures("no_pictures")
def test_who_does_not_want_it_has_the_same_run_without(ring):
    with_it = run(ring)
    assert len(Scaled.owners) == 2
    ring.write_text(EXPERIMENT.replace("[case", "linearise = false\n[case"))
    without = run(ring, "other")
    assert without.value("linearised") is None
    assert len(Scaled.owners) == 3
    assert "linearised" not in without.as_json()
    assert without.result.linearised == {}
    np.testing.assert_array_equal(with_it.result.values, without.result.values)


@pytest.mark.usefixtures("no_pictures")
def test_what_cannot_be_linearised_never_breaks_a_run(ring):
    text = EXPERIMENT + "[case.late.set]\n" + '"spring.broken" = true\n'
    ring.write_text(text)
    case = run(ring)
    assert case.value("linearised").accounts == ()
    (notice,) = [text for text in case.result.remarks if "not linearised" in text]
    assert "spring" in notice
    assert "once is enough" in notice


def test_large_and_isolated_systems_say_how_it_is_had_all_the_same(register):
    register(scaled=Scaled)
    system = System("many")
    for i in range(MOST_COMPONENTS + 1):
        system = system.add(f"c{i}", block("scaled"))
    for i in range(MOST_COMPONENTS + 1):
        end = f"c{(i + 1) % (MOST_COMPONENTS + 1)}.u"
        system = system.connect(f"c{i}.y", end, delay="1 ms")
    account = run_account(system, step="1 ms")
    assert account.notice == (
        "loops were not linearised: 41 components, more than 40; 'softdock analyze loop' does so"
    )
    small = (
        System("two")
        .add("a", block("scaled"), k=0.5)
        .add("b", block("scaled"), k=0.5)
        .connect("a.y", "b.u", delay="20 s")
        .connect("b.y", "a.u")
    )
    assert "the delays take" in run_account(small, step="1 ms").notice
    apart = small.with_options("b", isolation="process")
    assert "component 'b' runs in a process of its own" in run_account(apart, step="1 s").notice
    assert run_account(small, step="1 s").notice == ""


def test_a_chain_has_no_account(register, monkeypatch):
    register(scaled=Scaled)
    monkeypatch.setattr(Scaled, "owners", [])
    chain = System("chain").add("a", block("scaled"), u=1.0).add("b", block("scaled"))
    chain = chain.connect("a.y", "b.u")
    nothing = {"loops": [], "contact": {}, "notice": "", "seconds": 0.0}
    assert run_account(chain, step="1 ms").as_json() == nothing
    assert Scaled.owners == []
