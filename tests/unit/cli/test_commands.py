import json
import shutil
import tomllib
from pathlib import Path

import pytest

from orchestrator import (
    Block,
    Input,
    Output,
    System,
    block,
    read_system,
    simulate,
    swap_component,
)
from orchestrator.analysis import IdealImpact
from orchestrator.simunits import resolve

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "epos"


@pytest.fixture
def example(plants, tmp_path):
    """A copy of the example beside copies of the FMUs, for tests that damage something."""
    folder = tmp_path / "examples" / "epos"
    shutil.copytree(EXAMPLE, folder)
    shutil.copytree(plants, tmp_path / "fmus" / "build")
    return folder


def damaged(folder, name, old, new):
    path = folder / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return path


def test_run_prints_json_and_nothing_else(softdock, example, tmp_path):
    code, out, err = softdock(
        "run",
        example,
        "--case",
        "capture_b60",
        "--step",
        "4 ms",
        "--json",
        "--output",
        tmp_path / "out",
    )
    assert (code, err) == (0, "")
    case = json.loads(out)["cases"]["capture_b60"]
    assert case["loops"][0]["physical_delay_ms"] == 16.0
    assert case["loops"][0]["numerical_delay_ms"] == 0.0
    assert case["measures"]["growth"]["value"] == pytest.approx(-0.013225, abs=1e-5)
    assert case["real_time_factor"] > 1.0
    written = json.loads(out)["files"]
    assert all(Path(name).is_file() for name in written)
    assert any(name.endswith("report.html") for name in written)


def test_run_of_a_plain_system_file(softdock, example, tmp_path):
    code, out, _ = softdock(
        "run", example / "ideal.ssd", "--stop", "100 ms", "--json", "--output", tmp_path / "out"
    )
    assert code == 0
    assert json.loads(out)["cases"]["ideal"]["simulated_s"] == pytest.approx(0.1)


def test_options_of_the_recording(softdock, example, tmp_path):
    out = tmp_path / "out"
    arguments = ["run", example / "ideal.ssd", "--stop", "95 ms", "--output", out, "--json"]
    choice = ["--record", "*.position", "--every", "10", "--format", "mat", "--format", "csv"]
    code, printed, err = softdock(*arguments, *choice, "--flush", "100 ms")
    assert (code, err) == (0, "")
    assert {path.name for path in out.glob("ideal.*")} == {"ideal.mat", "ideal.csv"}
    header, *rows = (out / "ideal.csv").read_text().splitlines()
    assert header == "time [s],chaser.position [m],target.position [m]"
    assert [float(row.split(",")[0]) for row in rows] == [*(i / 100 for i in range(10)), 0.095]
    assert any("--every '10'" in text for text in json.loads(printed)["cases"]["ideal"]["remarks"])


def test_set_changes_the_run(softdock, example, tmp_path):
    def closed(stiffness):
        return IdealImpact(750.0, 1e6, stiffness, 40.0, 0.03).peak_force

    def peak(*options):
        code, out, err = softdock(
            "run", example, "--case", "ideal", "--json", "--output", tmp_path / "out", *options
        )
        assert (code, err) == (0, "")
        return json.loads(out)["cases"]["ideal"]["measures"]["peak_force"]["value"]

    # 0.02 N: first touch is sampled within a step of 1 ms, and the damper's 1.2 N jumps there.
    assert peak() == pytest.approx(closed(3000.0), abs=0.02)
    assert peak("--set", "contact.k=12000") == pytest.approx(closed(12000.0), abs=0.02)


@pytest.mark.parametrize(
    ("case", "component", "source", "signal"),
    [
        ("ideal", "contact", "fmus/build/SpringDashpot.fmu", "peak_force"),
        ("capture_b60", "sheet", "block:spring_dashpot", "growth"),
    ],
)
def test_swap_between_fmu_and_block_changes_nothing(
    softdock, example, tmp_path, monkeypatch, case, component, source, signal
):
    monkeypatch.chdir(tmp_path)
    values = []
    for options in ((), ("--swap", f"{component}={source}")):
        code, out, err = softdock(
            "run", example, "--case", case, "--json", "--output", tmp_path / "out", *options
        )
        assert (code, err) == (0, "")
        values.append(json.loads(out)["cases"][case]["measures"][signal]["value"])
    # The same law in the same schedule: only the order of additions differs.
    assert values[0] == pytest.approx(values[1], abs=1e-9)


def test_a_step_that_does_not_divide_the_delay(softdock, example, tmp_path):
    seen = {}
    for mode in ("exact", "plain"):
        code, out, _ = softdock(
            "run",
            example,
            "--case",
            "capture_b60",
            "--step",
            "5 ms",
            "--delay",
            mode,
            "--stop",
            "20 s",
            "--json",
            "--output",
            tmp_path / "out",
        )
        assert code == 0
        seen[mode] = json.loads(out)["cases"]["capture_b60"]["loops"][0]["numerical_delay_ms"]
    assert seen["exact"] == pytest.approx(0.0, abs=1e-9)
    assert seen["plain"] == pytest.approx(4.0 + 2.5)  # 16 ms held as 20 ms, and H/2


def test_check_lists_every_case(softdock, example):
    code, out, err = softdock("check", example)
    assert (code, err) == (0, "")
    cases = tomllib.loads((example / "experiment.toml").read_text())["case"]
    assert out.count(": ok (") == len(cases)
    assert all(f"\n{name}: ok (" in out for name in cases)


def test_graph_draws(softdock, example, tmp_path):
    code, out, _ = softdock(
        "graph", example / "ideal.ssd", "--output", tmp_path / "pictures", "--json"
    )
    assert code == 0
    files = json.loads(out)["files"]["ideal"]
    assert {Path(name).suffix for name in files} == {".png", ".svg"}
    assert all(Path(name).stat().st_size > 1000 for name in files)


def test_analyze_gives_the_figures_of_the_paper(softdock):
    code, out, _ = softdock("analyze", "--damping", 20, "--damping", 60, "--json")
    assert code == 0
    first, second = json.loads(out)["loops"]
    assert first["stiffness_limit_closed_form_n_m"] == pytest.approx(1249.867, abs=1e-3)
    assert second["stiffness_limit_exact_n_m"] == pytest.approx(3748.399, abs=1e-3)
    assert second["delay_margin_ms"] == pytest.approx(23.889, abs=1e-3)
    assert softdock("analyze")[0] == 0


def test_analyze_delays_prints_what_is_predicted_and_measured(softdock, example):
    code, out, _ = softdock("analyze", "delays", example / "capture.ssd", "--measure", "--json")
    assert code == 0
    (case,) = json.loads(out).values()
    assert case["loops"]
    for loop in case["loops"]:
        assert loop["physical_delay_ms"] == 16.0
        # Interpolation is of second order in w H, 0.03 here: less than a thousandth of a step.
        assert loop["measured_delay_ms"] == pytest.approx(loop["predicted_delay_ms"], abs=1e-3)
    arguments = ("--delay", "plain", "--algorithm", "jacobi", "--step", "3 ms")
    code, out, _ = softdock("analyze", "delays", example / "capture.ssd", *arguments)
    assert code == 0
    assert "predicted [ms]" in out
    assert "measured" not in out


def test_build_says_what_is_unchanged(softdock, plants):
    code, out, _ = softdock("build", ROOT / "fmus", "--json")
    assert code == 0
    assert all(entry["cached"] for entry in json.loads(out))


def escaping(folder):
    import zipfile

    with zipfile.ZipFile(folder / "bad.ssp", "w") as archive:
        archive.writestr("SystemStructure.ssd", "<x/>")
        archive.writestr("../../escaped.txt", "out")


def cut_library(folder):
    import zipfile

    path = folder.parents[1] / "fmus/build/Chaser.fmu"
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content[:4000] if name.endswith(".so") else content)


BAD = {
    "library that was cut short": (
        cut_library,
        ["run", ".", "--case", "ideal"],
        ["chaser", "Chaser.so", "damaged"],
    ),
    "case name that leaves the folder": (
        lambda f: damaged(f, "experiment.toml", "[case.ideal]", '[case."../../evil"]'),
        ["run", "."],
        ["experiment.toml", "../../evil"],
    ),
    "stop before the first step": (
        None,
        ["run", ".", "--case", "ideal", "--stop", "0"],
        ["ideal", "at least one step after the start", "stop 0 s"],
    ),
    "step that is no time": (
        lambda f: damaged(f, "experiment.toml", 'step = "1 ms"', "step = true"),
        ["run", "."],
        ["experiment.toml", "step"],
    ),
    "parameter that is not finite": (
        None,
        ["run", ".", "--case", "ideal", "--set", "contact.k=nan"],
        ["case 'ideal'", "contact.k: expected Real in N/m, found 'nan'"],
    ),
    "more than fits into memory": (
        None,
        ["run", ".", "--case", "ideal", "--step", "1 ns", "--stop", "1000 s"],
        ["ideal", "values in memory"],
    ),
    "missing FMU": (
        lambda f: (f.parents[1] / "fmus/build/Chaser.fmu").unlink(),
        ["run", "."],
        ["Chaser.fmu", "chaser", "softdock build"],
    ),
    "damaged FMU": (
        lambda f: (f.parents[1] / "fmus/build/Chaser.fmu").write_bytes(b"PK\3\4 broken"),
        ["run", "."],
        ["Chaser.fmu", "zip"],
    ),
    "unknown component in a file": (
        lambda f: damaged(f, "experiment.toml", '"damper.b" = 20', '"dampr.b" = 20'),
        ["run", "."],
        ["capture_b20", "dampr", "damper"],
    ),
    "unknown connector in a system": (
        lambda f: damaged(f, "ideal.ssd", 'endConnector="velocity_b"', 'endConnector="speed_b"'),
        ["run", "ideal.ssd"],
        ["speed_b", "velocity_b"],
    ),
    "unknown component on the command line": (
        None,
        ["run", ".", "--set", "chasr.m=3"],
        ["chasr", "chaser"],
    ),
    "unknown parameter on the command line": (
        None,
        ["run", ".", "--case", "ideal", "--set", "chaser.mass=3"],
        ["mass", "chaser", "v0"],
    ),
    "value of a wrong type": (
        None,
        ["run", ".", "--case", "ideal", "--set", "chaser.m=heavy"],
        ["chaser.m", "Real in kg", "heavy"],
    ),
    "swap for other ports": (
        None,
        ["run", ".", "--case", "ideal", "--swap", "contact=block:virtual_damper"],
        ["contact", "virtual_damper", "force_a"],
    ),
    "swap for an unknown block": (
        None,
        ["run", ".", "--case", "ideal", "--swap", "contact=block:nothing"],
        ["nothing", "spring_dashpot"],
    ),
    "unit that does not convert": (
        lambda f: damaged(
            f,
            "capture.ssd",
            'startConnector="velocity" endElement="damper"',
            'startConnector="position" endElement="damper"',
        ),
        ["run", "capture.ssd"],
        ["chaser.position", "damper.velocity", "'m'", "'m/s'"],
    ),
    "negative delay in a system": (
        lambda f: damaged(f, "capture.ssd", 'nominal="0.016"', 'nominal="-0.016"'),
        ["run", "capture.ssd"],
        ["capture.ssd", "-0.016"],
    ),
    "negative delay in an experiment": (
        lambda f: damaged(
            f,
            "experiment.toml",
            '-> hybrid.measured_force" = "32 ms"',
            '-> hybrid.measured_force" = "-32 ms"',
        ),
        ["run", "."],
        ["hybrid_sensor_delay", "negative"],
    ),
    "malformed XML": (
        lambda f: (f / "ideal.ssd").write_text("<ssd:SystemStructureDescription"),
        ["run", "ideal.ssd"],
        ["ideal.ssd", "malformed XML"],
    ),
    "entities": (
        lambda f: (f / "ideal.ssd").write_text(
            '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>'
        ),
        ["run", "ideal.ssd"],
        ["ideal.ssd", "document type"],
    ),
    "archive with an escaping path": (escaping, ["run", "bad.ssp"], ["bad.ssp", "escaped.txt"]),
    "unknown key in an experiment": (
        lambda f: damaged(f, "experiment.toml", "[case.ideal]", "[case.ideal]\nstpe = 1"),
        ["run", "."],
        ["experiment.toml", "case.ideal.stpe"],
    ),
    "step of zero": (None, ["run", ".", "--case", "ideal", "--step", "0"], ["step", "> 0"]),
    "time that is none": (None, ["run", ".", "--case", "ideal", "--step", "soon"], ["'soon'"]),
    "unknown algorithm": (
        None,
        ["run", ".", "--case", "ideal", "--algorithm", "magic"],
        ["magic", "gauss-seidel", "jacobi"],
    ),
    "no such file": (None, ["run", "nowhere.ssd"], ["nowhere.ssd"]),
    "pattern that matches nothing": (
        None,
        ["run", "ideal.ssd", "--record", "chasr.*"],
        [
            "case 'ideal': cannot record 'chasr.*': no variable that is a number matches it",
            "chaser.position",
        ],
    ),
    "unknown format": (
        None,
        ["run", "ideal.ssd", "--format", "xls"],
        ["case 'ideal': no format 'xls'; registered: csv, mat, parquet"],
    ),
    "flush of zero": (None, ["run", "ideal.ssd", "--flush", "0 s"], ["flush: expected > 0 s"]),
    "every of zero": (None, ["run", "ideal.ssd", "--every", "0"], ["--every"]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gives_one_clear_error(softdock, example, monkeypatch, tmp_path, name):
    damage, arguments, expected = BAD[name]
    monkeypatch.chdir(example)
    output = tmp_path / "out"
    output.mkdir()
    (output / "ideal.parquet").write_text("earlier result")
    if damage is not None:
        damage(example)
    code, out, err = softdock(*arguments, "--output", output)
    assert code == 2, err
    assert "Traceback" not in err
    assert out == ""
    for text in expected:
        assert text in err
    assert (output / "ideal.parquet").read_text() == "earlier result"
    assert not (tmp_path / "escaped.txt").exists()
    assert not (tmp_path.parent / "escaped.txt").exists()


def test_a_measure_that_cannot_be_read_off_costs_nothing_else(softdock, example, tmp_path):
    arguments = ["run", example, "--case", "capture_b60", "--output", tmp_path / "out"]
    code, out, err = softdock(*arguments, "--set", "damper.b=4000", "--json")
    assert code == 2
    assert "case 'capture_b60', measure 'growth'" in err
    case = json.loads(out)["cases"]["capture_b60"]
    assert case["measures"] == {}
    assert any("measure 'growth'" in remark for remark in case["remarks"])
    assert (tmp_path / "out" / "report.html").is_file()


def test_paths_and_sources_as_text(plants):
    system = read_system(str(EXAMPLE / "ideal.ssd"))
    swapped = swap_component(resolve(system), "contact", str(plants / "SpringDashpot.fmu"))
    result = simulate(swapped, stop="10 ms", record="chaser.position")
    assert result.names == ("chaser.position",)


def test_a_block_class_can_be_used_without_registering_it():
    class Doubler(Block):
        u: float = Input()
        y: float = Output()

        def step(self, t, h):
            self.y = 2.0 * self.u

    result = simulate(System("s").add("d", block(Doubler), u=3.0), step="1 ms", stop="2 ms")
    assert result["d.y"].tolist() == [6.0, 6.0, 6.0]
