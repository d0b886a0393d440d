import json
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
from orchestrator.core.simunits import resolve
from orchestrator.loops.contact import IdealImpact

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "epos"


@pytest.mark.slow
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


@pytest.mark.usefixtures("no_pictures")
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
    assert any("--every 10" in text for text in json.loads(printed)["cases"]["ideal"]["remarks"])


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.slow
def test_set_changes_the_run(softdock, example, tmp_path):
    def closed(stiffness):
        return IdealImpact(750.0, 1e6, stiffness, 40.0, 0.03).peak_force

    def peak(*options):
        code, out, err = softdock(
            "run", example, "--case", "ideal", "--json", "--output", tmp_path / "out", *options
        )
        assert code == (5 if options else 0), err  # the paper's figure is that of its stiffness
        assert ("expectation 'ideal_peak'" in err) == bool(options)
        return json.loads(out)["cases"]["ideal"]["measures"]["peak_force"]["value"]

    # 0.02 N: first touch is sampled within a step of 1 ms, and the damper's 1.2 N jumps there.
    assert peak() == pytest.approx(closed(3000.0), abs=0.02)
    assert peak("--set", "contact.k=12000") == pytest.approx(closed(12000.0), abs=0.02)


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.slow
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


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.slow
def test_a_step_that_does_not_divide_the_delay(softdock, example, tmp_path):
    seen = {}
    for mode in ("mean", "plain"):
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
        assert code == (5 if mode == "plain" else 0)  # whose growth is not what is expected
        seen[mode] = json.loads(out)["cases"]["capture_b60"]["loops"][0]["numerical_delay_ms"]
    assert seen["mean"] == pytest.approx(0.0, abs=1e-9)
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
