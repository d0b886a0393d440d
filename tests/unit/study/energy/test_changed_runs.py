"""Ledgers of runs that were tuned, restored or stepped, and of components with stand-ins."""

from dataclasses import replace

import numpy as np
import pytest
from robot_twin import REST, TWIN, about
from systems import GROUND, UNPUSHED

from orchestrator import result_of, start
from orchestrator.core.coupling import Tuned
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.simunits import Block, Output, Parameter, block, fmu, resolve
from orchestrator.core.system import Positive, Source, System
from orchestrator.export import build_model
from orchestrator.rig.hardware.twin_file import twin_text
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
from orchestrator.study.prepare.prepare import swap_component

RECORD = ["*", "body.force", "sheet.position_a", "sheet.velocity_a"]
POSITION, VELOCITY = "body.position -> sheet.position_a", "body.velocity -> sheet.velocity_a"
K, D, V0 = 2510.0, 20.0, 0.1
CHANGED_MS = 60


def sprung(plants, delay=None, sheet=None):
    """7.5 kg on a spring and a damper that stand on the ground."""
    late = {"delay": delay} if delay else {}
    spring = fmu(sheet or plants / "SpringDashpot.fmu")
    values = {} if sheet else {"k": K, "d": D, "latched": True, **GROUND}
    return resolve(
        System("sprung")
        .add("body", fmu(plants / "Chaser.fmu"), m=7.5, v0=V0, **UNPUSHED)
        .add("sheet", spring, **values)
        .connect("body.position", "sheet.position_a", **late)
        .connect("body.velocity", "sheet.velocity_a", **late)
        .connect("sheet.force_a", "body.force")
    )


def tuned(step_ms, name, before, value, ramp_ms=0, after_ms=0):
    step, ramp = ((CHANGED_MS + after_ms) // step_ms, ramp_ms // step_ms)
    return Tuned(step, step * step_ms * 1_000_000, name, before, value, ramp)


def ledger_of(system, step_ms, stop="0.6 s", **options):
    result = simulate(system, step=f"{step_ms} ms", stop=stop, record=RECORD, **options)
    return result, energy_ledger(result, system, automatic_plan(system))


def entry(ledger, kind, begin):
    (found,) = (entry for entry in ledger.of(kind) if entry.name.startswith(begin))
    return found.energy


# --- tuned ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("algorithm", "mode"),
    [("gauss-seidel", "waveform"), ("jacobi", "waveform"), ("gauss-seidel", "mean")],
)
@pytest.mark.parametrize("names", [(POSITION, VELOCITY), (POSITION,)])
def test_the_balance_closes_while_delays_are_tuned(plants, algorithm, mode, names):
    """The master reads elsewhere in each step: the polynomials were those of the first delay.

    Where the velocity changes its sign the damper's force was power over nothing: 3e-3.
    """
    shares = []
    for step_ms in (4, 1):
        changes = [
            tuned(step_ms, name, 8_000_000, 16_000_000, ramp_ms=100, after_ms=104 * number)
            for number, name in enumerate(names)
        ]
        system = sprung(plants, "8 ms")
        result, ledger = ledger_of(system, step_ms, algorithm=algorithm, delay=mode, tuned=changes)
        assert len(result.tuned) == len(names)
        shares.append(ledger.residual / ledger.turnover)
    assert shares[0] < 1e-3
    assert shares[1] < 0.6 * shares[0]


def test_plans_have_the_ramps_of_their_delays(plants):
    system = sprung(plants, "8 ms")
    result, _ = ledger_of(system, 4, tuned=[tuned(4, POSITION, 8_000_000, 16_000_000, 100)])
    plans = {str(plan.connection): plan for plan in result.plans}
    moved = plans[POSITION]
    shifts = [moved.shift_at(step) - moved.shift_ns for step in (14, 15, 27, 39, 100)]
    assert shifts == [0, -320_000, -4_160_000, -8_000_000, -8_000_000]
    assert plans[VELOCITY].ramps == ()


@pytest.mark.parametrize("step_ms", [4, 1])
@pytest.mark.parametrize("delay", [None, "8 ms"])
@pytest.mark.parametrize("options", [{}, {"algorithm": "jacobi", "delay": "plain"}])
def test_a_stiffness_that_is_tuned_brings_half_its_change_times_x_squared(
    plants, step_ms, delay, options
):
    """It was open by that: 0.2 of the largest entry."""
    change = tuned(step_ms, "sheet.k", K, 2.0 * K)
    result, ledger = ledger_of(sprung(plants, delay), step_ms, tuned=[change], **options)
    compression = result["sheet.compression"][CHANGED_MS // step_ms]
    brought = entry(ledger, Kind.EXTERNAL, "change of sheet.k")
    assert brought[-1] == pytest.approx(0.5 * K * compression**2, rel=4e-3)
    assert brought[CHANGED_MS // step_ms] == 0.0
    assert ledger.residual < (1e-3 if step_ms == 1 or not options else 2e-3) * ledger.turnover


def test_a_damping_that_is_tuned_brings_nothing(plants):
    _, ledger = ledger_of(sprung(plants), 4, tuned=[tuned(4, "sheet.d", D, 2.0 * D)])
    brought = entry(ledger, Kind.EXTERNAL, "change of sheet.d")
    assert np.abs(brought).max() < 1e-3 * ledger.turnover
    assert ledger.residual < 1e-3 * ledger.turnover


@pytest.mark.parametrize("rates", [{"sheet": 3}, {"body": 3}])
def test_a_stiffness_is_tuned_within_the_step_of_its_component(plants, rates):
    change = tuned(1, "sheet.k", K, 2.0 * K)
    _, ledger = ledger_of(sprung(plants), 1, tuned=[change], rates=rates)
    assert entry(ledger, Kind.EXTERNAL, "change of sheet.k")[-1] > 0.01 * ledger.turnover
    assert ledger.residual < 1e-3 * ledger.turnover


# --- stepped and restored ---------------------------------------------------------------------


def stepped(system, record=RECORD, stored=False, **keywords):
    """Step, go back, and go on; in another execution if the checkpoint is stored."""
    with start(system, step="4 ms", record=record) as run:
        run.advance("0.2 s")
        saved = run.save()
        saved = saved.stored() if stored else saved
        run.advance("0.4 s")
        if not stored:
            run.restore(saved)
            run.advance("0.6 s")
            return result_of(run, **keywords)
    with start(system, step="4 ms", record=record) as run:
        run.restore(saved)
        run.advance("0.6 s")
        return result_of(run, **keywords)


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("delay", [None, "8 ms"])
def test_the_ledger_of_a_restored_run_is_that_of_the_whole_run(plants, delay, stored):
    system = sprung(plants, delay)
    whole, expected = ledger_of(system, 4)
    result = stepped(system, stored=stored)
    np.testing.assert_array_equal(result.values, whole.values)
    assert result.name == "sprung"
    ledger = energy_ledger(result, system, automatic_plan(system))
    assert ledger.totals() == expected.totals()
    assert ledger.residual < 1e-3 * ledger.turnover


@pytest.mark.parametrize("is_recorded", [True, False])
def test_a_wall_that_a_program_moves_brings_energy(plants, is_recorded):
    system = sprung(plants)
    record = [*RECORD, *(["sheet.position_b"] if is_recorded else [])]
    with start(system, step="1 ms", record=record) as run:
        run.advance("0.06 s")
        run.set("sheet.position_b", 0.01)
        run.advance("0.2 s")
        result = result_of(run)
    if not is_recorded:
        with pytest.raises(
            DescriptionError, match="position_b' was set by a program during the run and was not"
        ):
            energy_ledger(result, system)
        return
    ledger = energy_ledger(result, system)
    x = result["body.position"][60]
    brought = entry(ledger, Kind.EXTERNAL, "change of sheet.position_b")[-1]
    assert brought == pytest.approx(0.5 * K * ((x - 0.01) ** 2 - x**2), rel=4e-3)
    assert ledger.residual < 1e-3 * ledger.turnover


def test_a_force_that_a_program_sets_does_its_work_through_a_port(plants):
    system = sprung(plants)
    motion = Motion(("body.velocity",), ("body.position",))
    ports = tuple(
        LedgerPort(name, Bond((f"body.{name}",), motion), "body") for name in ("force", "thrust")
    )
    plan = LedgerPlan((Account("body", ("body.energy",), ()),), ports)
    with start(system, step="1 ms", record=[*RECORD, "body.thrust"]) as run:
        while run.time < 0.3:
            run.set("body.thrust", 30.0 * np.sin(20.0 * run.time))
            run.step()
        result = result_of(run)
    ledger = energy_ledger(result, system, plan)
    assert abs(entry(ledger, Kind.EXTERNAL, "thrust")[-1]) > 0.01 * ledger.turnover
    assert ledger.residual < 1e-6 * ledger.turnover
    assert not [entry for entry in ledger.entries if "change" in entry.name]


# --- stand-ins --------------------------------------------------------------------------------


@pytest.mark.parametrize("step_ms", [4, 1])
@pytest.mark.parametrize("delay", [None, "8 ms"])
@pytest.mark.parametrize("component", ["sheet", "body"])
def test_a_recording_brings_energy_from_outside(plants, tmp_path, step_ms, delay, component):
    """It has no account: the work at the port of what it acts on is that of its own signals."""
    system = sprung(plants, delay)
    first, _ = ledger_of(system, step_ms)
    first.save(tmp_path / "run.npz")
    other = {"sheet": ("body.m", 9.0), "body": ("sheet.d", 40.0)}[component]
    replayed = resolve(swap_component(system.set(*other), component, f"log:{tmp_path / 'run.npz'}"))
    result, ledger = ledger_of(replayed, step_ms)
    assert not ledger.of(Kind.CREATED) or component == "body"
    port = "body.port" if component == "sheet" else "sheet.a"
    work = entry(ledger, Kind.EXTERNAL, port)
    if component == "sheet":
        kinetic = 0.5 * 9.0 * result["body.velocity"] ** 2
        np.testing.assert_allclose(work, kinetic - kinetic[0], atol=1e-3 * ledger.turnover)
    else:
        assert ledger.residual < 1e-3 * ledger.turnover
    assert {e.name for e in ledger.of(Kind.STORED)} == {"sheet", "body"} - {component}


def test_a_ledger_of_recordings_alone_is_refused(plants, tmp_path):
    system = sprung(plants)
    first, _ = ledger_of(system, 4)
    first.save(tmp_path / "run.npz")
    source = f"log:{tmp_path / 'run.npz'}"
    system = resolve(swap_component(system, "sheet", source))
    with pytest.raises(DescriptionError, match="every account of the ledger has a recording"):
        ledger_of(resolve(swap_component(system, "body", source)), 4)


class Shaker(Block):
    """Moves as it was told, whatever pushes it."""

    position: float = Output(unit="m", depends_on=())
    velocity: float = Output(unit="m/s", depends_on=())
    omega: float = Parameter(start=8.0 * np.pi, unit="rad/s")

    def initialise(self, t):
        self.step(t, 0.0)

    def step(self, t, h):
        phase = self.omega * (t + h)
        self.position, self.velocity = 0.01 * np.cos(phase), -0.01 * self.omega * np.sin(phase)


def shaken(plants):
    """The spring without its damper, moved as a shaker moves, and its ledger's plan."""
    system = sprung(plants).disconnect("sheet.force_a", "body.force").set("sheet.d", 0.0)
    system = system.remove("body").add("body", block(Shaker))
    for name in ("position", "velocity"):
        system = system.connect(f"body.{name}", f"sheet.{name}_a")
    bond = Bond(("sheet.force_a",), Motion(("sheet.velocity_a",), ("sheet.position_a",)))
    port = LedgerPort("sheet", bond, "sheet", Positive.OUT)
    account = Account("sheet", ("sheet.energy",), ("sheet.dissipation",))
    return resolve(system), LedgerPlan((account,), (port,))


def created_in_four_cycles(ledger, step_ms):
    assert not ledger.of(Kind.RESIDUAL)
    created = entry(ledger, Kind.CREATED, "late outputs of sheet")
    return created[-1] - created[1000 // step_ms]


#: Pi k A**2 sin(omega tau) in each cycle, J.
LATE = 4.0 * np.pi * K * 0.01**2 * np.sin(8.0 * np.pi * 0.016)


@pytest.mark.parametrize("step_ms", [4, 1])
def test_the_late_force_of_a_twin_creates_energy(plants, tmp_path, step_ms):
    """Its model is not late, so that the balance lacks what the delay creates."""
    pair = REST.model_copy(
        update={"response": "force_a", "transit": about(0.016), "noise": about(0.0), "offset": 0.0}
    )
    path = tmp_path / "sheet.twin.toml"
    path.write_text(twin_text(TWIN.model_copy(update={"pair": (pair,)})))
    system, plan = shaken(plants)
    system = resolve(swap_component(system, "sheet", f"twin:{path}"))
    result = simulate(system, step=f"{step_ms} ms", stop="2 s", record=["*", *RECORD[2:]])
    created = created_in_four_cycles(energy_ledger(result, system, plan), step_ms)
    assert created == pytest.approx(LATE, rel=1e-3 if step_ms == 1 else 5e-3)


@pytest.mark.parametrize("step_ms", [4, 1])
def test_the_late_force_of_a_device_creates_energy(plants, step_ms):
    """As that of a twin, where an estimate of its energy comes with it."""
    system, plan = shaken(plants)
    result = simulate(system, step=f"{step_ms} ms", stop="2 s", record=["*", *RECORD[2:]])
    values, late = result.values.copy(), 16 // step_ms
    force = result.names.index("sheet.force_a")
    values[late:, force], values[:late, force] = values[:-late, force], values[0, force]
    rig = replace(system.components["sheet"], source=Source.parse("device:udp?port=1"))
    ledger = energy_ledger(replace(result, values=values), system.replace(rig), plan)
    created = created_in_four_cycles(ledger, step_ms)
    assert created == pytest.approx(LATE, rel=1e-3 if step_ms == 1 else 5e-3)


# --- events -----------------------------------------------------------------------------------

SWITCHED = """model Switched "A spring, and a damper that is switched in samples"
  parameter Real k(unit="N/m") = 2510; parameter Real ts(unit="s") = 0.05;
  input Real position_a(unit="m", start=0); input Real velocity_a(unit="m/s", start=0);
  output Real force_a(unit="N"); output Real energy(unit="J"); output Real dissipation(unit="W");
protected
  discrete Real d(unit="N.s/m", start=30, fixed=true);
equation
  when sample(0, ts) then d = 90 - pre(d); end when;
  force_a = -k*position_a - d*velocity_a;
  energy = 0.5*k*position_a^2;
  dissipation = d*velocity_a^2;
end Switched;
"""


@pytest.fixture(scope="module")
def switched(tmp_path_factory):
    folder = tmp_path_factory.mktemp("switched")
    (folder / "Switched.mo").write_text(SWITCHED, encoding="utf-8")
    return build_model("Switched", folder, folder / "built", fmi=("3.0",)).path


@pytest.mark.parametrize(
    ("delay", "step_ms", "options", "most"),
    [
        (None, 1, {}, 2e-4),
        (None, 4, {"delay": "mean"}, 2e-3),
        ("8 ms", 1, {"delay": "mean"}, 2e-4),
        ("8 ms", 4, {"delay": "mean"}, 2e-3),
        (None, 1, {"algorithm": "jacobi"}, 2e-4),
        ("8 ms", 1, {"algorithm": "jacobi"}, 2e-4),
    ],
)
def test_the_balance_closes_with_an_fmu_in_event_mode(
    plants, switched, delay, step_ms, options, most
):
    """A damper is switched each 50 ms, which ends a step of 1 ms and divides one of 4 ms."""
    system = sprung(plants, delay, switched)
    assert system.components["sheet"].has_event_mode
    _, ledger = ledger_of(system, step_ms, **options)
    assert ledger.residual < most * ledger.turnover


@pytest.mark.parametrize(("delay", "step_ms"), [(None, 4), ("8 ms", 4), ("8 ms", 1)])
def test_inputs_that_move_otherwise_at_events_are_refused(plants, switched, delay, step_ms):
    """A divided step, and an extrapolation that begins again behind an event, are in no sample."""
    system = sprung(plants, delay, switched)
    with pytest.raises(DescriptionError, match=r"in steps with an event of 'sheet': choose delay"):
        ledger_of(system, step_ms)


def test_outputs_at_an_event_belong_to_inputs_at_its_time(plants, switched):
    """The inputs had followed their signals to there, and were set back to the step's begin."""
    system = sprung(plants, None, switched)
    result, _ = ledger_of(system, 1)
    expected = 0.5 * 2510.0 * result["body.position"] ** 2
    np.testing.assert_allclose(result["sheet.energy"], expected, atol=1e-12)
