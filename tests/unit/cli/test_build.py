"""``softdock build`` as a user types it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fmpy import read_model_description

GOOD = """model {0} "decays"
  Real x(start=1, fixed=true);
equation
  der(x) = -x;
  annotation(experiment(StartTime=1, StopTime=3, Tolerance=1e-5, Interval=0.25));
end {0};
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("B", "A"):
        (tmp_path / f"{name}.mo").write_text(GOOD.format(name))
    return tmp_path


def test_modelica_file_alone(softdock, folder: Path) -> None:
    code, out, err = softdock("build", "A.mo", "--fmi", "both", "--json")
    assert (code, err) == (0, "")
    files = json.loads(out)[0]["files"]
    assert files == {"2.0": "build/A.fmu", "3.0": "build/A.fmi3.fmu"}
    for file in files.values():
        experiment = read_model_description(file).defaultExperiment
        said = (experiment.startTime, experiment.stopTime, experiment.tolerance)
        assert (*map(float, said), float(experiment.stepSize)) == (1.0, 3.0, 1e-5, 0.25)


def test_options_win_over_recipe_and_annotation(softdock, folder: Path) -> None:
    (folder / "A.toml").write_text(
        '[fmu]\nmodel = "A"\nroot = "."\n[solver]\nmethod = "rk4"\n[experiment]\nstop_time = 2\n'
    )
    assert softdock("build", "A.toml", "--output", "o")[0] == 0
    experiment = read_model_description("o/A.fmu").defaultExperiment
    assert [float(experiment.startTime), float(experiment.stopTime)] == [1.0, 2.0]
    again = json.loads(softdock("build", "A.toml", "--output", "o", "--json")[1])
    assert again[0]["cached"]
    options = ("--solver", "dopri5", "--tolerance", "1e-3", "--max-step", "0.5")
    changed = json.loads(softdock("build", "A.toml", "--output", "o", "--json", *options)[1])
    assert not changed[0]["cached"]
    assert float(read_model_description("o/A.fmu").defaultExperiment.tolerance) == 1e-3


@pytest.mark.slow
def test_one_failure_does_not_lose_the_others(softdock, folder: Path) -> None:
    (folder / "C.mo").write_text("model C\n  Real x;\nequation\n  x = ;\nend C;\n")
    (folder / "D.mo").write_text("model D\n  Real x;\nequation\n  x = z;\nend D;\n")
    code, out, err = softdock("build", "B.mo", "C.mo", "A.mo", "D.mo", "--jobs", 2)
    assert code == 2
    assert [line.split()[0] for line in out.splitlines()] == ["build/B.fmu", "build/A.fmu"]
    assert "C.mo:4:7: unexpected `;`" in err
    assert "D.mo:4" in err
    assert err.index("C.mo") < err.index("D.mo")
    assert "Traceback" not in err
    assert "unsendable" not in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Real x(start=1, fixed=true);\nReal z;\nequation\nder(x) = -x;", "1 equation for 2 .* z"),
        (
            "Real x;\nequation\nx = 1;\nx = 2;",
            r"2 equations for 1 unknown; superfluous .*M\.mo:5.*M\.mo:6",
        ),
        (
            "Real x(start=1, fixed=true);\nReal y, z;\nequation\nder(x) = -x;\ny = x;\nx + y = 3;",
            r"cannot be solved for z; superfluous .*M\.mo:6; .*M\.mo:7",
        ),
        ("Real x;\nequation\nx = true;", r"M\.mo:5"),
        ("Foo.Bar b;", r"'Foo\.Bar' stands at .*M\.mo:3"),
        ("Real x;\nequation\nx = delay(time, 1.0);", r"M\.mo:5: .*delay\(\)"),
        ('Real x(unit="blah");\nequation\nx = 1;', r"'x' at .*M\.mo:3: 'blah' is not a unit"),
    ],
)
def test_messages_name_lines_and_variables(softdock, folder: Path, text: str, said: str) -> None:
    (folder / "M.mo").write_text(f'model M "m"\n\n{text}\nend M;\n')
    code, _, err = softdock("build", "M.mo")
    assert code == 2
    assert re.search(said, err.replace("\n", " ")), err


def test_two_fmus_of_one_name_are_refused(softdock, folder: Path) -> None:
    (folder / "A.toml").write_text('[fmu]\nmodel = "B"\nname = "A"\nroot = "."\n')
    code, _, err = softdock("build", "A.mo", "A.toml")
    assert code == 2
    assert "would be built from A and from B" in err


def test_model_needs_one_file(softdock, folder: Path) -> None:
    code, _, err = softdock("build", "A.mo", "B.mo", "--model", "A")
    assert code == 2
    assert "give that file alone" in err
