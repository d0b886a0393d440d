"""Ledgers of runs whose inputs follow their signals within the steps, as they do by default."""

from dataclasses import replace

import numpy as np
import pytest
from systems import GROUND, UNPUSHED, body_at_contact, plant

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.recording.files import read_result
from orchestrator.core.recording.parquet import write_parquet
from orchestrator.core.simunits import Block, Input, Output, Parameter, block, fmu, resolve
from orchestrator.core.system import (
    Fault,
    Jitter,
    JitterKind,
    Positive,
    System,
    TransportDelay,
    Variation,
)
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
from orchestrator.study.energy.work import work_of

MODES = [
    ("gauss-seidel", "waveform"),
    ("jacobi", "waveform"),
    ("gauss-seidel", "mean"),
    ("gauss-seidel", "plain"),
    ("jacobi", "plain"),
    ("waveform", "waveform"),
    ("newton", "mean"),
]


SHEET = ["sheet.position_a", "sheet.velocity_a"]


def sprung(plants, delay=None, *, apart=0.0, v0=0.0, late=None):
    """7.5 kg on a spring and a damper that stand on the ground."""
    late = late or ({"delay": delay} if delay else {})
    body = plant(plants, "Chaser", m=7.5, v0=v0, **UNPUSHED)
    ground = GROUND | {"position_b": apart}
    sheet = plant(plants, "SpringDashpot", k=2510.0, d=6.0, latched=True, **ground)
    return body_at_contact(body, sheet, name="sprung", names=("body", "sheet"), motion=late)


def ledger_of(system, step, **options):
    system = resolve(system)
    record = ["*", "body.force", *SHEET]
    result = simulate(system, step=step, stop="2 s", record=record, **options)
    return energy_ledger(result, system, automatic_plan(system))


@pytest.mark.parametrize(("algorithm", "mode"), MODES)
@pytest.mark.parametrize("delay", [None, "8 ms", "5.3 ms"])
@pytest.mark.parametrize("begin", [{"v0": 0.1}, {"apart": 0.01}])
def test_the_balance_closes_with_the_second_order_of_the_step(
    plants, algorithm, mode, delay, begin
):
    """Of held inputs, too: the quadrature of an effort that goes on is of the second order.

    With the initial velocity the damper takes energy before the first motion has arrived.
    """
    coarse, fine = (
        ledger_of(sprung(plants, delay, **begin), step, algorithm=algorithm, delay=mode)
        for step in ("2 ms", "1 ms")
    )
    assert coarse.residual < 4e-4 * coarse.turnover
    assert fine.residual < 0.4 * coarse.residual


def late_motion_of(ledger):
    return next(e for e in ledger.of(Kind.CREATED) if e.name.startswith("late motion at sheet."))


@pytest.mark.parametrize(
    ("algorithm", "mode", "delay", "late_ms"),
    [
        ("jacobi", "waveform", None, 2.0),
        ("jacobi", "plain", "8 ms", 8.0 + 2.0),
        ("gauss-seidel", "mean", "8 ms", 8.0 + 1.0),
        ("gauss-seidel", "mean", "5.3 ms", 5.3 + 1.0),
        ("gauss-seidel", "plain", "8 ms", 8.0 + 2.0),
    ],
)
def test_what_the_damper_takes_before_the_motion_arrives_is_an_entry(
    plants, algorithm, mode, delay, late_ms
):
    """It is d v**2 times the time until then: the position is still that of the start."""
    ledger = ledger_of(sprung(plants, delay, v0=0.1), "2 ms", algorithm=algorithm, delay=mode)
    late = late_motion_of(ledger).energy
    assert late[-1] == pytest.approx(6.0 * 0.1**2 * late_ms / 1e3, rel=2e-2)
    assert late[12] == pytest.approx(late[-1], rel=2e-2)  # 24 ms: all of it is of the start


@pytest.mark.parametrize("delay", [None, "8 ms"])
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("drop", {}),
        ("stuck", {}),
        ("bias", {"value": 1e-3}),
        ("scale", {"factor": 1.2}),
        ("noise", {"sigma": 1e-4}),
        ("delay-step", {"delay": "20 ms"}),
    ],
)
def test_a_displacement_that_a_fault_changes_is_behind_its_flow(plants, kind, values, delay):
    line = "body.position -> sheet.position_a"
    fault = Fault.of(kind, line, "0.3 s", until="0.4 s", **values)
    coarse, fine = (
        ledger_of(sprung(plants, delay, v0=0.1), step, faults=[fault]) for step in ("2 ms", "1 ms")
    )
    assert coarse.residual < 1e-3 * coarse.turnover
    assert fine.residual < 0.5 * coarse.residual


@pytest.mark.parametrize(
    "variation", [{"loss": 0.5}, {"jitter": Jitter(JitterKind.UNIFORM, 5_000_000)}]
)
@pytest.mark.parametrize("interpolation", [None, "hold", "linear"])
def test_lines_that_lose_or_scatter_their_samples_close(plants, variation, interpolation):
    """Position and velocity lose different samples."""
    delay = TransportDelay(8_000_000, variation=Variation(seed=1, **variation))
    late = {"delay": delay, **({"interpolation": interpolation} if interpolation else {})}
    coarse, fine = (ledger_of(sprung(plants, v0=0.1, late=late), step) for step in ("2 ms", "1 ms"))
    assert coarse.residual < 1e-3 * coarse.turnover
    assert fine.residual < 0.6 * coarse.residual


@pytest.mark.parametrize("compensation", ["nepce", "corrector"])
def test_outputs_that_are_corrected_are_refused(plants, compensation):
    """The force is corrected, the energies that go with it are not: 0.28 of the turnover."""
    system = sprung(plants, v0=0.1, late={"compensation": compensation})
    if compensation == "nepce":
        assert ledger_of(system, "1 ms").closes(2e-4)
        return
    with pytest.raises(DescriptionError, match=r"position_a has the compensation 'corrector'"):
        ledger_of(system, "1 ms")


def test_a_motion_of_another_body_is_not_taken_for_a_late_one(plants):
    """The velocity of one, the displacement of another one: the balance stays open."""
    system = sprung(plants, v0=0.1).disconnect("body.position", "sheet.position_a")
    other = fmu(plants / "Chaser.fmu")
    system = system.add("other", other, v0=-0.1, thrust=0.0, virtual_force=0.0, force=0.0)
    system = resolve(system.connect("other.position", "sheet.position_a"))
    result = simulate(
        system, step="2 ms", stop="1 s", record=["*", "body.force", *SHEET], algorithm="jacobi"
    )
    bond = Bond(("sheet.force_a",), Motion(("sheet.velocity_a",), ("sheet.position_a",)))
    port = LedgerPort("sheet.force_a", bond, "sheet", Positive.OUT)
    sheet = Account("sheet", ("sheet.energy",), ("sheet.dissipation",))
    ledger = energy_ledger(result, system, LedgerPlan((sheet,), (port,)))
    assert not [entry for entry in ledger.entries if "late" in entry.name]
    assert not ledger.closes(0.05)


@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi"])
@pytest.mark.parametrize("mode", ["waveform", "plain"])
@pytest.mark.parametrize("rates", [{"sheet": 5}, {"body": 5}, {"body": 3, "sheet": 2}])
def test_the_balance_closes_where_components_take_several_steps_at_once(
    plants, algorithm, mode, rates
):
    """The work was summed over communication steps, in which neither side had moved: 0.83 open."""
    system = sprung(plants, "8 ms", apart=0.01)
    coarse, fine = (
        ledger_of(system, step, algorithm=algorithm, delay=mode, rates=rates)
        for step in ("1 ms", "0.5 ms")
    )
    assert coarse.residual < 3e-3 * coarse.turnover
    assert fine.residual < 0.7 * coarse.residual


def test_rows_that_were_left_out_are_refused(plants):
    system = resolve(sprung(plants, v0=0.1))
    record = ["*", "body.force", *SHEET]
    result = simulate(system, step="4 ms", stop="0.1 s", every=2, record=record)
    with pytest.raises(DescriptionError, match="one row for every 2 steps: expected every step"):
        energy_ledger(result, system, automatic_plan(system))


def test_a_result_from_a_file_is_refused_where_inputs_moved(plants, tmp_path):
    system = resolve(sprung(plants, "8 ms", v0=0.1))
    record = ["*", "body.force", *SHEET]
    for mode in ("waveform", "mean"):
        result = simulate(
            system, step="4 ms", stop="0.1 s", delay=mode, rates={"body": 2}, record=record
        )
        write_parquet(result, tmp_path / "run.parquet")
        read = read_result(tmp_path / "run.parquet")
        assert read.rates == {"body": 2}
        if mode == "waveform":
            with pytest.raises(DescriptionError, match="was read from a file, which does not hold"):
                energy_ledger(read, system, automatic_plan(system))
        else:
            again = energy_ledger(read, system, automatic_plan(system))
            once = energy_ledger(result, system, automatic_plan(system))
            assert again.residual == pytest.approx(once.residual)


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


class Push(Wave):
    """The same in newtons."""

    y: float = Output(unit="N", depends_on=())


@pytest.mark.parametrize("rates", [{}, {"push": 4}, {"wave": 4}, {"push": 3, "wave": 2}])
def test_work_between_components_of_unequal_steps_is_on_the_curves_of_each(rates):
    """Neither has rows where the other one steps; sin times the rate of sin is half of sin**2."""
    system = resolve(System("s").add("wave", block(Wave)).add("push", block(Push)))
    result = simulate(system, step="1 ms", stop="0.5 s", rates=rates, algorithm="jacobi")
    bond = Bond(("push.y",), Motion((), ("wave.y",)))
    whole = 12 * ((len(result.time) - 1) // 12) + 1
    work = work_of(Samples(result, system), bond).energy[:whole]
    assert work == pytest.approx(0.5 * np.sin(40.0 * result.time[:whole]) ** 2, abs=4e-4)


class Probe(Block):
    """Shows what its input is at the end of a step, and what it was on the mean."""

    u: float = Input(unit="m")
    end: float = Output(unit="m", depends_on=())
    mean: float = Output(unit="m", depends_on=())

    def follow(self, t, h, moving):
        u, first, second, third = (float(each) for each in moving["u"])
        self.end = u + h * (first + h * (second / 2 + h * third / 6))
        self.mean = u + h * (first / 2 + h * (second / 6 + h * third / 24))


@pytest.mark.parametrize("rates", [{}, {"probe": 3}, {"wave": 2}, {"wave": 3, "probe": 2}])
@pytest.mark.parametrize("delay", [None, "3 ms", "4 ms", "13.7 ms"])
@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi", "waveform"])
def test_inputs_are_integrated_as_the_unit_followed_them(algorithm, delay, rates):
    if rates and algorithm == "waveform":
        pytest.skip("only jacobi and gauss-seidel take rates")
    late = {"delay": delay} if delay else {}
    system = System("s").add("wave", block(Wave)).add("probe", block(Probe))
    system = resolve(system.connect("wave.y", "probe.u", **late))
    result = simulate(
        system, step="4 ms", stop="0.4 s", record=["*", "probe.u"], algorithm=algorithm, rates=rates
    )
    ticks = rates.get("probe", 1)
    course = Samples(result, system).at_steps(ticks).course("probe.u", 4)
    rows = slice(ticks, None, ticks)
    ends, means = course.at(1.0)[:, 0], result["probe.mean"][rows]
    if not any(plan.span_ns for plan in result.plans):  # held, as it would be read too early
        assert rates or delay is None
        assert ends == pytest.approx(result["probe.u"][rows], abs=0)
        return
    assert ends == pytest.approx(result["probe.end"][rows], abs=1e-12)
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
