"""Energy ledgers of an experiment: the table, what it writes, and what it refuses."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from systems import GROUND, body_at_contact, plant

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.recording import read_parquet
from orchestrator.core.simunits import fmu
from orchestrator.core.ssp import read_system, write_ssd
from orchestrator.core.system import System
from orchestrator.study import read_experiment, run_experiment, simulate
from orchestrator.study.energy import Kind
from tests.page_plots import plots_of

TEXT = """
title = "push"
[defaults]
step = "1 ms"
stop = "0.5 s"
delay = "plain"
formats = ["parquet"]
[case.push]
system = "push.ssd"
"""
LEDGER = """
[ledger.all]
cases = ["push"]
[ledger.all.account]
chaser = { stored = "chaser.energy", dissipated = [] }
sheet = { stored = "sheet.energy", dissipated = "sheet.dissipation" }
[ledger.all.port]
thrusters = { account = "chaser", effort = "chaser.thrust", displacement = "chaser.position" }
pushed = { account = "chaser", effort = "chaser.force", displacement = "chaser.position" }
robot = { account = "chaser", effort = "chaser.force", flow = "chaser.speed", only_with = "robot" }
[ledger.all.port.pressed]
account = "sheet"
effort = "sheet.force_a"
displacement = "sheet.position_a"
positive = "out"
[ledger.all.interface.line]
from = "pressed"
to = "pushed"
stages = [
  { name = "transport", displacement = "chaser.position" },
  { name = "robot", effort = "robot.force", only_with = "robot" },
]
"""


@pytest.fixture
def run(tmp_path, plants):
    """Write the system, and run an experiment file of it."""
    body = plant(plants, "Chaser", m=50.0, v0=0.1, thrust=5.0, virtual_force=0.0)
    sheet = plant(plants, "Compliance", k=2000.0, d=3.0, latched=True, **GROUND)
    names, motion = ("chaser", "sheet"), {"delay": "16 ms"}
    system = body_at_contact(body, sheet, name="push", names=names, motion=motion)
    write_ssd(system, tmp_path / "push.ssd")

    def start(text, **options):
        (tmp_path / "experiment.toml").write_text(text)
        experiment = read_experiment(tmp_path / "experiment.toml")
        return run_experiment(experiment, tmp_path, tmp_path / "out", **options)

    return start


@pytest.mark.slow
def test_a_case_has_table_figure_and_totals(run, tmp_path):
    outcome = run(TEXT + LEDGER)
    assert not outcome.problems
    case = outcome.cases["push"]
    ledger = case.value("ledger")
    # Before the first sample arrives the sheet is told a velocity, but no motion: d v^2 of 17 ms.
    assert ledger.residual == pytest.approx(3.0 * 0.1**2 * 17e-3, rel=1e-3)
    with (tmp_path / "out" / "push.ledger.csv").open() as file:
        title, *rows = csv.reader(file)
    assert title == ["energy", "of", "value [J]", "share [%]"]
    by_name = {(row[0], row[1]): (float(row[2]), float(row[3])) for row in rows}
    assert by_name["at the begin", "chaser"] == (pytest.approx(0.25, rel=1e-15), 100.0)
    created = float(ledger.total(Kind.CREATED)[-1])
    assert by_name["created", "line"] == (created, pytest.approx(400.0 * created, rel=1e-14))
    assert [row[1] for row in rows if row[0] == "of this"] == ["transport", "hold"]
    x = case.result["chaser.position"]
    assert by_name["from outside", "thrusters"][0] == pytest.approx(5.0 * (x[-1] - x[0]))
    totals = read_parquet(tmp_path / "out" / "push.parquet").attrs["run"]["energies"]
    assert totals == case.result.energies == ledger.totals()
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["cases"]["push"]["energy_j"] == totals
    assert sum(by_name[key, n][0] for key, n in by_name if key == "at the end") == totals["stored"]
    report = (tmp_path / "out" / "report.html").read_text()
    assert "Energy ledger of push" in report
    panels = plots_of(tmp_path / "out" / "report.html")["Energy of 'push'"]["panels"]
    residual = next(panel for panel in panels if panel["ylabel"] == "Residual [J]")
    entries = [entry.energy for entry in ledger.of(Kind.RESIDUAL) if entry.energy.any()]
    assert entries
    np.testing.assert_array_equal([curve["y"] for curve in residual["curves"]], entries)


@pytest.mark.slow
def test_sums_are_signals_of_the_result(run, tmp_path, wording):
    measure = '[case.push.measure]\nmade = { kind = "final", signal = "ledger.created" }\n'
    case = run(TEXT + measure + LEDGER).cases["push"]
    made = case.measured["made"]
    assert (made.value, made.unit) == (case.result.energies["created"], "J")
    frame = read_parquet(tmp_path / "out" / "push.parquet")
    balance = frame["ledger.stored"] - frame["ledger.stored"].iloc[0]
    balance -= frame["ledger.external"] + frame["ledger.created"]
    balance += frame["ledger.dissipated"] + frame["ledger.given"]
    np.testing.assert_allclose(balance, frame["ledger.residual"], atol=1e-12)
    sweep = '[sweep.mass]\ncase = "push"\nover = "chaser.m"\nvalues = [50]\nmeasures = ["made"]\n'
    with wording.raises(DescriptionError, code="EXP102"):
        run(TEXT + measure + sweep + LEDGER)
    with wording.raises(DescriptionError, code="EXP102", key="case.push.measure.made"):
        run(TEXT + measure)


@pytest.mark.slow
def test_inputs_are_recorded_as_they_were_held(run, tmp_path):
    result = run(TEXT + LEDGER).cases["push"].result
    force, held = result["sheet.force_a"], result["chaser.force"]
    # Gauss-Seidel steps the sheet first, with what was sent 16 ms before the begin of the step.
    np.testing.assert_array_equal(held[1:], force[1:])
    np.testing.assert_array_equal(result["sheet.position_a"][17:], result["chaser.position"][:-17])


@pytest.mark.slow
def test_a_balance_that_is_open_is_a_problem(run):
    turned = LEDGER.replace("thrusters = { account", 'thrusters = { positive = "out", account')
    outcome = run(TEXT + turned)
    (problem,) = outcome.problems
    assert problem.startswith("case 'push': ledger 'all': the balance is open by ")
    assert "most of it at 'chaser'" in problem
    assert problem.removeprefix("case 'push': ") in outcome.cases["push"].result.remarks
    lenient = turned.replace('cases = ["push"]', 'cases = ["push"]\ntolerance = 0.9')
    assert not run(TEXT + lenient).problems


@pytest.mark.slow
def test_connections_say_it_if_the_table_does_not(run):
    outcome = run(TEXT + '[ledger.all]\ncases = ["push"]\n')
    ledger = outcome.cases["push"].value("ledger")
    created, late = ledger.of(Kind.CREATED)
    assert created.name == "sheet.a - chaser.port"
    assert late.name == "late motion at sheet.a"  # until 16 ms and a step of 1 ms are over
    assert late.energy[20] == pytest.approx(3.0 * 0.1**2 * 17e-3, rel=0.02)
    assert ledger.unchecked == ("chaser",)  # nobody says what it loses, or what its thrusters do


@pytest.mark.slow
def test_a_declared_port_needs_no_table(run, tmp_path, plants):
    assert run(TEXT).cases["push"].value("ledger") is None
    path = tmp_path / "push.ssd"
    system = read_system(path)
    parts = dict(system.components)
    parts["chaser"] = parts["chaser"].with_power_port(
        "nose", "force", "velocity", displacement="position"
    )
    parts["sheet"] = parts["sheet"].with_power_port(
        "front", "force_a", "velocity_a", displacement="position_a"
    )
    write_ssd(replace(system, components=parts), path)
    case = run(TEXT).cases["push"]
    assert [entry.name for entry in case.value("ledger").of(Kind.CREATED)] == [
        "sheet.front - chaser.nose",
        "late motion at sheet.front",
    ]
    assert (
        not run(TEXT.replace('system = "push.ssd"', 'system = "push.ssd"\nevery = 2'))
        .cases["push"]
        .result.energies
    )


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (
            'cases = ["push"]',
            'cases = ["pull"]',
            "'ledger.all.cases': no case 'pull'",
        ),
        ('"chaser.energy"', '"chaser.energie"', "ledger 'all', case 'push': "),
        ('"chaser.energy"', '"chaser.velocity"', "'chaser.velocity' in m/s is no energy"),
        ('stop = "0.5 s"', 'stop = "0.5 s"\nevery = 2', "every: expected 1, found 2"),
        ('from = "pressed"', 'from = "pres"', "no port 'pres'; ports: thrusters, pushed, pressed"),
        ('positive = "out"', 'positive = "away"', "'ledger.all.port.pressed.positive': "),
        ('{ name = "transport"', '{ nam = "transport"', "unknown key 'ledger.all.interface.line"),
        ("[ledger.all.account]", '[ledger.two]\ncases = ["push"]\n[ledger.all.account]', "'two'"),
    ],
)
def test_what_is_wrong_is_told_before_the_run(run, tmp_path, old, new, text):
    assert old in TEXT + LEDGER
    with pytest.raises(DescriptionError) as caught:
        run((TEXT + LEDGER).replace(old, new))
    assert text in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_without_ports_there_is_nothing_to_say(run, tmp_path, plants, wording):
    write_ssd(System("push").add("a", fmu(plants / "Compliance.fmu")), tmp_path / "push.ssd")
    with wording.raises(DescriptionError, code="EXP102", key="ledger"):
        run(TEXT + '[ledger.all]\ncases = ["push"]\n')


def test_inputs_are_recorded_by_name_only(plants):
    system = (
        System("s")
        .add("chaser", fmu(plants / "Chaser.fmu"), thrust=0.0, virtual_force=0.0)
        .add("sheet", fmu(plants / "Compliance.fmu"), velocity_a=0.0, velocity_b=0.0)
        .set("sheet.position_b", 0.0)
        .connect("chaser.position", "sheet.position_a")
        .connect("sheet.force_a", "chaser.force")
    )
    result = simulate(system, step="1 ms", stop="10 ms", record=["chaser.*", "sheet.position_a"])
    assert result.names == (
        "chaser.position",
        "chaser.velocity",
        "chaser.energy",
        "sheet.position_a",
    )
    assert result.units["sheet.position_a"] == "m"
    free = simulate(system, step="1 ms", stop="10 ms", record=["sheet.velocity_a"])
    assert set(free["sheet.velocity_a"]) == {0.0}
