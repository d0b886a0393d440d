"""``[expect.NAME]`` of experiments: verdicts in all places, exit codes, and what is refused."""

import html
import json
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from orchestrator import Extension, read_experiment, run_experiment
from orchestrator.core.simulation import RunStop
from orchestrator.study.extension import loaded

SYSTEM = """
[system]
name = "s"
[component.a]
source = "block:part.py:Part"
"""
BLOCK = """
from orchestrator import Block, Output, Parameter

class Part(Block):
    y: float = Output(unit="m", depends_on=())
    k: float = Parameter(start=1.0, unit="m/s")

    def step(self, t: float, h: float) -> None:
        self.y = self.k * (t + h)
"""
EXPERIMENT = """
title = "x"
[defaults]
step = "1 ms"
stop = "10 ms"
linearise = false
[case.one]
system = "s.toml"
measure.peak = { kind = "peak", signal = "a.y" }
[sweep.slopes]
case = "one"
over = "a.k"
values = [1.0, 3.0]
measures = ["peak"]
"""
KEPT = '[expect.low]\nthat = ["peak < 11 mm", "a.y >= 0 m"]\nrequirement = "R-1 <a>"\n'
BROKEN = '[expect.high]\nthat = "a.y < 5 mm"\nrequirement = "R-2"\n'
SWEPT = '[expect.swept]\nthat = "peak < 20 mm"\nsweep = "slopes"\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    known = {"in_N.csv": "time,a.y [N]\n0,1\n1,1\n"}
    for name, text in {"s.toml": SYSTEM, "part.py": BLOCK, **known}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(softdock, text, *options):
    Path("experiment.toml").write_text(text)
    return softdock("run", "experiment.toml", "--output", "out", *options)


def test_a_broken_one_has_its_exit_code_its_line_and_stands_everywhere(softdock, folder):
    code, said, warned = run(softdock, EXPERIMENT + KEPT + BROKEN)
    assert code == 5
    assert " ".join(warned.split()) == (
        "warning: expectation 'high' [R-2], case 'one': broken: expected a.y < 5 mm,"
        " found 0.005 m at 0.005 s, at worst 0.01 m at 0.01 s"
    )
    assert "Expectations of one" in said
    assert "Expectations of one" in (folder / "out" / "report.html").read_text()
    content = json.loads((folder / "out" / "summary.json").read_text())
    assert [one["passed"] for one in content["cases"]["one"]["expect"]] == [True, True, False]
    assert len(content["broken"]) == 1
    verdicts = json.loads((folder / "out" / "verdicts.json").read_text())
    assert verdicts["passed"] is False
    assert verdicts["verdicts"]["one"][2]["time"] == 0.005

    root = ET.parse(folder / "out" / "junit.xml").getroot()  # noqa: S314 - our own
    assert (root.get("tests"), root.get("failures")) == ("3", "1")
    tests = root.findall("testsuite[@name='one']/testcase")
    assert [one.get("name") for one in tests][::2] == ["low: peak < 11 mm", "high: a.y < 5 mm"]
    assert [one.find("failure") is None for one in tests] == [True, True, False]
    assert tests[0].find("properties/property").attrib == {
        "name": "requirement",
        "value": "R-1 <a>",
    }
    assert "at worst 0.01 m" in tests[2].find("failure").get("message")


def test_where_a_measure_cannot_be_read_off_all_is_said_and_the_code_is_2(softdock, folder):
    text = (
        EXPERIMENT.partition("[sweep")[0]
        + BROKEN
        + """
[case.one.measure.settled]
kind = "settling"
signal = "a.y"
within = 1e-9
[expect.settles]
that = "settled < 1 s"
"""
    )
    code, _, error = run(softdock, text)
    said = " ".join(error.split())
    assert code == 2
    assert "expectation 'high' [R-2], case 'one': broken" in said
    assert "expectation 'settles', case 'one': broken: expected settled < 1 s, found none" in said
    assert "measure 'settled'" in said


def test_kept_ones_end_with_0_and_a_run_without_takes_their_verdicts_away(softdock, folder):
    assert run(softdock, EXPERIMENT + KEPT)[0] == 0
    assert (folder / "out" / "junit.xml").exists()
    assert run(softdock, EXPERIMENT)[0] == 0
    assert not (folder / "out" / "junit.xml").exists()
    assert not (folder / "out" / "verdicts.json").exists()


@pytest.mark.parametrize("options", [(), ("--realtime",)])
def test_one_that_stops_a_run_ends_it_and_keeps_what_there_is(softdock, folder, options):
    text = EXPERIMENT.partition("[sweep")[0].replace('"10 ms"', '"1000 s"')
    code, said, error = run(softdock, text + BROKEN + "stop = true\n", *options)
    assert code == 5, error
    assert "stopped as requested" in said.replace("\n", " ")
    (case,) = json.loads((folder / "out" / "summary.json").read_text())["cases"].values()
    assert 0.005 <= case["simulated_s"] < 900.0
    assert case["measures"]["peak"]["value"] == pytest.approx(case["simulated_s"])


def test_a_block_that_has_the_word_does_not_take_the_end_for_its_own_error(softdock, folder):
    slow = BLOCK.replace("        self.y", "        time.sleep(2 * h)\n        self.y")
    (folder / "part.py").write_text(f"import time\n{slow}")
    text = EXPERIMENT.partition("[sweep")[0].replace('"10 ms"', '"1000 s"')
    code, _, error = run(softdock, text + BROKEN + "stop = true\n", "--realtime")
    assert code == 5, error


def test_a_run_in_real_time_that_chooses_its_steps_cannot_be_stopped_so(softdock, folder):
    text = EXPERIMENT.partition("[sweep")[0] + BROKEN + "stop = true\n"
    options = ("--realtime", "--algorithm", "step-doubling")
    code, _, error = run(softdock, text, *options)
    assert code == 2
    assert "a run in real time is watched only with a fixed step" in " ".join(error.split())


def test_runs_of_sweeps_are_judged_by_run_and_by_sweep(softdock, folder):
    code, said, warned = run(softdock, EXPERIMENT + SWEPT)
    assert code == 5
    assert "Expectations of sweep slopes" in said
    assert "one at a.k = 3: broken" in warned.replace("\n", " ")
    code, _, warned = softdock("sweep", "experiment.toml", "--output", "out", "--workers", "1")
    assert code == 5
    assert "one at value = 3.0: broken: expected peak < 20 mm, found 0.03 m" in " ".join(
        warned.split()
    )
    assert "Expectations of sweep slopes" in (folder / "out" / "sweep.html").read_text()
    table = (folder / "out" / "slopes.verdicts.csv").read_text()
    assert table.splitlines()[1:] == ["one at value = 1.0,passed", "one at value = 3.0,broken"]
    root = ET.parse(folder / "out" / "slopes.junit.xml").getroot()  # noqa: S314 - our own
    assert root.get("failures") == "1"


def test_cases_of_a_sweep_that_lack_the_measure_are_not_judged(softdock, folder):
    text = (
        EXPERIMENT.partition("[sweep")[0]
        + """
[case.two]
system = "s.toml"
measure.rise = { kind = "final", signal = "a.y" }
[sweep.slopes]
cases = ["one", "two"]
measures = ["peak", "rise"]
[sweep.slopes.over.slope]
set = ["a.k"]
values = [1.0]
[expect.swept]
that = "peak < 20 mm"
sweep = "slopes"
"""
    )
    (folder / "experiment.toml").write_text(text)
    done = softdock("sweep", "experiment.toml", "--output", "out", "--workers", "1")
    assert done[0] == 0, done
    table = (folder / "out" / "slopes.verdicts.csv").read_text()
    assert table.splitlines() == ["run,peak < 20 mm", "one at slope = 1.0,passed"]


def test_in_python_verdicts_are_objects(folder):
    (folder / "experiment.toml").write_text(EXPERIMENT + KEPT + BROKEN)
    experiment = read_experiment(folder / "experiment.toml")
    outcome = run_experiment(experiment, folder, folder / "out")
    verdicts = outcome.cases["one"].value("expect")
    assert [verdict.passed for verdict in verdicts] == [True, True, False]
    assert (verdicts[0].value, verdicts[0].unit) == (pytest.approx(0.01), "m")
    assert len(outcome.broken) == 1


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('that = "peek < 1 m"', "no measure and no recorded signal 'peek'. Did you mean 'peak'?"),
        ('that = "a.z < 1 m"', "no measure and no recorded signal 'a.z'"),
        ('that = "peak < 1 N"', "'peak' is in m"),
        ('that = "a.y < 1"', "expected a unit after 1, such as 'm'"),
        ('that = "peak"', "expected a name, a bound and its unit"),
        ("that = []", "expect.x.that"),
        ('that = "peak within 1 m"', "with a 'reference'"),
        ('that = "a.y within 1 m"\nreference = "no.csv"', "no.csv"),
        ('that = "a.y within 1 m"\nreference = "in_N.csv"', "expectation 'x', case 'one': "),
        ('that = "peak < 1 m"\nfrom = "1 s"', "'peak' is a measure, and from"),
        ('that = "a.y < 1 m"\nafter = "a.u > 1 m"', "no recorded signal 'a.u'"),
        ('that = "a.y < 1 m"\nfrom = "soon"', "soon"),
        ('that = "peak < 1 m"\ncase = "two"', "no case 'two'"),
        ('that = "peak < 1 m"\nsweep = "slope"', "no sweep 'slope'. Did you mean 'slopes'?"),
        ('that = "rise < 1 m"\nsweep = "slopes"', "sweep 'slopes' has no measure 'rise'"),
        ('that = "peak < 1 m"\nlimit = 3', "limit"),
    ],
)
def test_bad_input_is_one_error_before_anything_runs(softdock, folder, table, said):
    code, out, error = run(softdock, f"{EXPERIMENT}[expect.x]\n{table}\n")
    assert code == 2, out
    assert said in " ".join(error.split())
    assert error.count("error: ") == 1
    assert not (folder / "out").exists()


def test_sums_of_a_ledger_are_judged_when_a_run_has_ended(softdock, folder):
    (folder / "s.toml").write_text(
        SYSTEM.replace("block:part.py:Part", "block:spring_dashpot")
        + "values = { k = 2.0, latched = true, position_a = 1.0, velocity_a = 0.0,"
        " position_b = 0.0, velocity_b = 0.0 }\n"
    )
    text = EXPERIMENT.partition("[sweep")[0].replace("a.y", "a.force_a")
    text += "[ledger.all]\ncases = ['one']\n[ledger.all.account.sheet]\nstored = 'a.energy'\n"
    text += "[expect.x]\nthat = 'ledger.stored within 1 uJ of 1 J'\n"
    code, _, error = run(softdock, text)
    assert code == 0, error
    code, _, error = run(softdock, text + "stop = true\n")
    assert code == 2
    assert "'ledger.stored' is known only after the run" in " ".join(error.split())


def test_a_run_without_expectations_loads_none_of_their_code(folder):
    (folder / "experiment.toml").write_text(EXPERIMENT)
    program = (
        "import sys; sys.argv = ['softdock', 'run', 'experiment.toml']\n"
        "from orchestrator.cli.main import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "print([n for n in sys.modules if 'expect_table' in n or '.expect' in n or 'mcap' in n])"
    )
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


COMPARED = """
[case.other]
system = "s.toml"
measure.apart = { kind = "difference", signal = "a.y", to = "one" }
measure.own = { kind = "peak", signal = "a.y" }
[expect.near]
case = "other"
that = ["apart < 1 nm", "own < 11 mm"]
"""


def test_a_measure_that_needs_another_case_is_not_judged_without_it(softdock, folder):
    code, out, err = run(softdock, EXPERIMENT + COMPARED, "--case", "other")
    assert (code, err) == (0, "")
    assert "not judged" in out
    root = ET.parse("out/junit.xml").getroot()  # noqa: S314 - ours
    assert root.get("skipped") == "1"
    assert root.get("failures") == "0"
    (skipped,) = root.iter("skipped")
    assert skipped.get("message") == "it needs case 'one', which was not run"
    verdicts = json.loads(Path("out/verdicts.json").read_text())
    assert verdicts["passed"] is True
    assert [one["passed"] for one in verdicts["verdicts"]["other"]] == [None, True]
    assert run(softdock, EXPERIMENT + COMPARED)[0] == 0


#: Whose stop ends a run, why, the exit code, and what is said of it.
STOPS = {
    "operator": ("stop by operator pts/3", 6, "stopped by the operator at 0.005 s"),
    "supervisor": (
        "contact: much energy (energy 0.16 J, limit 0.15 J)",
        3,
        "stopped by the supervisor at 0.005 s: contact: much energy (energy 0.16 J, limit 0.15 J)",
    ),
}


class Stopping(Extension):
    """Does as a rig does when its operator or its supervisor stops it."""

    by = "operator"
    is_whole = True

    @contextmanager
    def around(self, run, steps):
        stop = RunStop(self.by, STOPS[self.by][0], is_whole=self.is_whole)
        yield replace(steps, end=lambda: stop)


FAILING = (
    BLOCK
    + """
        if t > 0.0045:
            raise ValueError("the rig is at rest")
"""
)


@pytest.mark.parametrize("is_whole", [True, False])
@pytest.mark.parametrize("by", ["operator", "supervisor", None])
def test_a_stop_ends_the_run_as_what_it_is(softdock, folder, monkeypatch, by, is_whole):
    """Instead of the step that fails by it: report, measures, own exit code, no further case."""
    Path("part.py").write_text(FAILING)
    if by is not None:
        monkeypatch.setattr(Stopping, "by", by)
        monkeypatch.setattr(Stopping, "is_whole", is_whole)
        monkeypatch.setattr("orchestrator.study.runner.loaded", with_stopping)
    text = EXPERIMENT.replace('kind = "peak"', 'kind = "final"') + COMPARED
    text += KEPT + 'case = "one"\n'
    text += '[case.one.measure.late]\nkind = "peak"\nsignal = "a.y"\nfrom = "9 ms"\n'
    code, _, err = run(softdock, text)
    if by is None:
        assert (code, "the rig is at rest" in err) == (2, True)
        return
    why, expected, sentence = STOPS[by]
    said = " ".join(err.split())
    assert code == expected, said
    assert f"case 'one': {sentence}; no further case was run" in said
    assert Path("out/report.html").is_file()
    summary = json.loads(Path("out/summary.json").read_text())
    assert summary["stopped"] == {"one": sentence}
    assert list(summary["cases"]) == ["one"]
    assert summary["cases"]["one"]["measures"]["peak"]["value"] == pytest.approx(0.005)
    remarks = " ".join(summary["cases"]["one"]["remarks"])
    assert (f"stopped by the operator at 0.005 s ({why})" in remarks) is (by == "operator")
    failed = "the run ended while the rig came to rest: component 'a' failed"
    assert (failed in remarks) is not is_whole
    page = html.unescape(Path("out/report.html").read_text())
    assert f"Case one was {sentence}." in page
    assert 'class="verdicts bad"' in page
    assert "warning: measure 'late'" in remarks
    assert (summary["problems"], summary["sweeps"]) == ([], {})
    assert {one["passed"] for one in summary["cases"]["one"]["expect"]} == {None}


def with_stopping(*given, **more):
    extensions, left_out = loaded(*given, **more)
    return [*extensions, Stopping("stopping")], left_out
