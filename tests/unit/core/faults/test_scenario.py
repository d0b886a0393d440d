"""A whole scenario in an experiment file: variant, parameter sets, inputs, options and faults."""

import json

import numpy as np
import pytest

from orchestrator.cli.target import systems_of
from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.recording import read_parquet
from orchestrator.core.simunits import block
from orchestrator.core.ssp import write_ssp
from orchestrator.core.system import Causality, Connector, DefaultExperiment, System
from orchestrator.study import read_experiment, run_experiment
from tests.page_plots import plots_of

pytestmark = pytest.mark.usefixtures("sample_blocks")


def ramp(factor):
    """A ramp in ms through a gain, and one of the system's own inputs through another."""
    own = {"bias": Connector("bias", Causality.INPUT)}
    system = System("ramp", connectors=own, experiment=DefaultExperiment(0, 20_000_000, 1_000_000))
    return (
        system.add("s", block("source"))
        .add("g", block("gain"), k=factor)
        .add("h", block("gain"), k=1.0)
        .connect("s.time", "g.u", factor=1e3)
        .connect("bias", "h.u")
    )


PARAMETERS = """<?xml version="1.0" encoding="UTF-8"?>
<ssv:ParameterSet version="1.0" name="set"
  xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues">
  <ssv:Parameters>{}</ssv:Parameters>
</ssv:ParameterSet>
"""


def ssv(**values):
    parameter = '<ssv:Parameter name="{}"><ssv:Real value="{}"/></ssv:Parameter>'
    rows = (parameter.format(name.replace("_", "."), value) for name, value in values.items())
    return PARAMETERS.format("".join(rows))


CASE = """
title = "one"
[defaults]
algorithm = "jacobi"
[case.a]
system = "ramp.ssp"
variant = "double"
parameters = ["h.ssv", "g.ssv"]
early_return = false
set = { bias = 3.0 }
"""
FAULTS = """
[case.a.fault.late-link]
kind = "drop"
on = "s.time -> g.u"
from = "5 ms"
until = "9 ms"
[case.a.fault.worn]
kind = "bias"
on = ["s.time"]
from = "12 ms"
value = 1
"""


@pytest.fixture
def folder(tmp_path):
    write_ssp(ramp(1.0), tmp_path / "ramp.ssp", {"double": ramp(2.0)})
    (tmp_path / "h.ssv").write_text(ssv(g_k=9.0, h_k=5.0))
    (tmp_path / "g.ssv").write_text(ssv(g_k=4.0))
    return tmp_path


def run(folder, text):
    (folder / "experiment.toml").write_text(text)
    read = read_experiment(folder / "experiment.toml")
    return run_experiment(read, folder, folder / "out")


@pytest.mark.slow
def test_everything_of_a_scenario(folder):
    result = run(folder, CASE + FAULTS).cases["a"].result
    n = np.arange(20.0)
    expected = np.where((n >= 5) & (n < 9), 4, n) + np.where(n >= 12, 1000, 0)
    # The last parameter set wins: a gain of 4.
    np.testing.assert_allclose(result["g.y"][1:], 4.0 * expected, rtol=0, atol=1e-11)
    assert set(result["h.y"]) == {15.0}


def test_the_variant_alone(folder):
    text = CASE.replace('parameters = ["h.ssv", "g.ssv"]', "")
    result = run(folder, text).cases["a"].result
    np.testing.assert_allclose(result["g.y"][1:], 2.0 * np.arange(20), rtol=0, atol=1e-11)


@pytest.mark.slow
def test_faults_stand_in_metadata_remarks_report_and_summary(folder):
    run(folder, CASE + FAULTS)
    out = folder / "out"
    drop, bias = read_parquet(out / "a.parquet").attrs["run"]["faults"]
    assert (drop["name"], drop["begin_ns"], drop["until_ns"]) == ("late-link", 5_000_000, 9_000_000)
    assert drop["lines"] == ["s.time -> g.u"]
    assert (bias["until_ns"], bias["what"]) == (None, "1 s are added to the sent value")
    summary = json.loads((out / "summary.json").read_text())["cases"]["a"]
    assert summary["faults"] == [drop, bias]
    assert (
        "fault 'late-link' from 0.005 s until 0.009 s on s.time -> g.u: no sample arrives, so"
        " the input keeps its value" in summary["remarks"]
    )
    report = (out / "report.html").read_text()
    assert "<h3>Faults</h3>" in report
    row = report[report.index('<th scope="row">late-link</th>') :]
    assert row.index("0.005") < row.index("0.009") < row.index("no sample arrives")
    # The default figure shades both, and says what they are.
    assert {span[0] for span in plots_of(out / "report.html")["a"]["spans"]} == {
        "late-link",
        "worn",
    }


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {'"drop"': '"drob"'},
            ["case 'a': fault 'late-link' on", "Did you mean 'drop'?"],
        ),
        ({"value = 1": ""}, ["case 'a': fault 'worn' on 's.time': missing 'value'"]),
        ({"-> g.u": "-> g.v"}, ["case 'a'", "'late-link'", "Did you mean 's.time -> g.u'?"]),
        (
            {'until = "9 ms"': 'until = "5 ms"', "value = 1": "sigma = 1"},
            ["until: expected later", "has no 'sigma'", "missing 'value'"],
        ),
        ({'from = "12 ms"': 'from = "20 ms"'}, ["'worn'", "before the end of the run at 0.02 s"]),
        ({'from = "12 ms"': 'form = "12 ms"'}, ["unknown key 'case.a.fault.worn.form'", "'from'?"]),
        ({"value = 1": 'value = "x"'}, ["'case.a.fault.worn.value': expected", "found 'x'"]),
        ({"value = 1": "value = 1\nseed = 1.5"}, ["seed': expected a whole number, found 1.5"]),
        ({'"double"': '"triple"'}, ["has no 'triple.ssd'", "double.ssd"]),
        ({"set = { bias": "set = { bis"}, ["case 'a': 'bis'", "Did you mean 'bias'?"]),
        ({"bias = 3.0": 'bias = "x"'}, ["case 'a': bias: expected"]),
        ({"set = { bias = 3.0 }": ""}, ["case 'a': input 'bias'", "has no value"]),
        ({'"g.ssv"': '"none.ssv"'}, ["case 'a'", "none.ssv: cannot be read: No such file"]),
    ],
)
def test_messages(folder, changes, expected):
    text = CASE + FAULTS
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "experiment.toml").write_text(text)
    with pytest.raises(SoftdockError) as checked:
        systems_of(folder / "experiment.toml")
    with pytest.raises(SoftdockError) as ran:
        run(folder, text)
    for part in expected:
        assert part in str(checked.value)
    assert str(ran.value) == str(checked.value)
    assert not (folder / "out").exists()


def test_a_name_of_a_parameter_set_that_reaches_nothing(folder):
    (folder / "g.ssv").write_text(ssv(g_k=1.0, g_kk=4.0, h_y=1.0))
    with pytest.raises(SoftdockError) as error:
        run(folder, CASE)
    second, first = str(error.value).splitlines()
    assert first.startswith(f"case 'a': {folder / 'g.ssv'}:4: parameter 'g.kk'")
    assert first.endswith("Did you mean 'k'?")
    assert "'h.y' is an output and cannot be set" in second


def test_a_problem_of_several_cases_is_one_line(folder):
    text = CASE + CASE[CASE.index("[case.a]") :].replace("case.a", "case.b")
    with pytest.raises(SoftdockError) as error:
        run(folder, text.replace("bias = 3.0", '"s.at" = "x", "g.z" = 1.0, bias = 1.0'))
    lines = str(error.value).splitlines()
    assert [line.startswith("cases 'a', 'b': ") for line in lines] == [True, True]


def test_one_key_one_line(folder):
    (folder / "experiment.toml").write_text(CASE.replace("[defaults]", "[defaults]\nstep = true"))
    with pytest.raises(SoftdockError) as error:
        read_experiment(folder / "experiment.toml")
    (line,) = str(error.value).splitlines()
    assert line.endswith(
        "'defaults.step': expected a text or a whole number or a number, found True"
    )


@pytest.mark.slow
def test_a_growth_is_predicted_with_the_delay_of_the_fault(folder):
    """The loop m s^2 + (K + b s) exp(-s h) = 0 of a body, a spring and a damper."""
    still = {"position_b": 0.0, "velocity_a": 0.0, "velocity_b": 0.0}
    loop = (
        System("loop", experiment=DefaultExperiment(0, 40_000_000_000, 4_000_000))
        .add("body", block("body"), thrust=10.0)
        .add("sheet", block("spring_dashpot"), k=2510.0, d=0.0, latched=True, **still)
        .add("damper", block("virtual_damper"), b=60.0)
        .connect("body.position", "sheet.position_a", delay="16 ms")
        .connect("body.velocity", "damper.velocity", delay="16 ms")
        .connect("sheet.force_a", "body.force")
        .connect("damper.force", "body.virtual_force")
    )
    write_ssp(loop, folder / "loop.ssp")
    text = """
title = "growth"
[case.a]
system = "loop.ssp"
[case.a.fault.longer]
kind = "delay-step"
on = ["body.position", "body.velocity"]
from = "10 s"
until = "30 s"
delay = "32 ms"
[case.a.measure]
"""
    predict = "predict = { mass = 750, stiffness = 2510, damping = 60 }"
    growth = f'kind = "growth", signal = "body.position", {predict}'
    windows = {"before": ("1 s", "10 s"), "during": ("11 s", "30 s"), "after": ("31 s", "40 s")}
    for name, (begin, until) in windows.items():
        text += f'{name} = {{ {growth}, from = "{begin}", until = "{until}" }}\n'
    outcome = run(folder, text + f'across = {{ {growth}, from = "5 s" }}\n')
    measured = outcome.cases["a"].measured
    for name in windows:
        # The fit sees a pure oscillation; the coupling is of second order at 4 ms.
        assert measured[name].value == pytest.approx(measured[name].details["predicted"], abs=1e-5)
    assert measured["before"].value < -0.013 < 0.013 < measured["during"].value
    (problem,) = outcome.problems
    assert "the delay changes within the window of the measure, since fault 'longer'" in problem


SWEEP = """
[case.a.measure]
last = { kind = "final", signal = "g.y" }
[sweep.longer]
case = "a"
over = "fault.late-link.until"
values = ["9 ms", 0.012, "21 ms"]
measures = ["last"]
[sweep.more]
case = "a"
over = ["fault.worn.value", "s.at"]
values = [0.5, 2]
measures = ["last"]
"""


@pytest.mark.slow
def test_figures_of_faults_are_swept(folder):
    (folder / "experiment.toml").write_text(CASE + FAULTS + SWEEP)
    read = read_experiment(folder / "experiment.toml")
    sweeps = run_experiment(read, folder, folder / "out").sweeps
    assert sweeps["longer"].values == [0.009, 0.012, 0.021]
    values = [measured.value for measured in sweeps["longer"].measured["last"]]
    # Until after the end the gain of 4 sees the 4 that came last.
    np.testing.assert_allclose(values, [4 * 1019, 4 * 1019, 16], rtol=1e-12)
    values = [measured.value for measured in sweeps["more"].measured["last"]]
    np.testing.assert_allclose(values, [4 * 519, 4 * 2019], rtol=1e-12)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"9 ms", 0.012', '"5 ms", 0.012'),
        ("late-link.until", "late-link.untill"),
        ("late-link.until", "late.until"),
        ("0.5, 2]", '"x", 2]'),
    ],
)
def test_wrong_sweeps_of_faults(folder, old, new, wording):
    text = CASE + FAULTS + SWEEP
    assert old in text
    with wording.raises(SoftdockError):
        run(folder, text.replace(old, new))
    assert not (folder / "out").exists()


def test_the_step_is_swept_together_with_a_parameter_in_seconds(folder):
    sweep = SWEEP[: SWEEP.index("[sweep.more]")]
    sweep = sweep.replace('"fault.late-link.until"', '["step", "fault.late-link.until"]')
    (folder / "experiment.toml").write_text(CASE + FAULTS + sweep)
    experiment = read_experiment(folder / "experiment.toml")
    (axis,) = experiment.sweeps["longer"].over.values()
    assert (axis.step, axis.fault, axis.unit) == (True, ("late-link.until",), None)
    mixed = sweep.replace("fault.late-link.until", "s.at")
    (folder / "experiment.toml").write_text(CASE + FAULTS + mixed)
    experiment = read_experiment(folder / "experiment.toml")
    (axis,) = experiment.sweeps["longer"].over.values()
    assert (axis.step, axis.set, axis.unit) == (True, ("s.at",), "s")
