import json

import pytest

CASE = ("--case", "capture_b60_axis", "--tolerance", "0.05")


@pytest.fixture
def target(plants):
    return str(plants.parent.parent / "examples" / "epos")


def test_the_step_is_told_by_algorithm_with_its_cost(softdock, target, tmp_path):
    code, out, _ = softdock(
        *("analyze", "step", target, *CASE, "--algorithms", "jacobi,gauss_seidel,step-doubling"),
        *("--output", str(tmp_path), "--json"),
    )
    content = json.loads(out)
    assert code == 0
    assert [row["algorithm"] for row in content["algorithms"]] == ["jacobi", "gauss-seidel"]
    assert "chooses the lengths of its steps" in content["refused"]["step-doubling"]
    for row in content["algorithms"]:
        # The ripple of a hold: b (w H)^2 / 12 of the mode, so that the error rises with H^2.
        assert 4.0 <= row["step_ms"] <= 4.6
        growth = next(one for one in row["figures"] if one["name"].startswith("growth"))
        assert growth["exact"] == pytest.approx(0.0116797, abs=1e-6)
        assert 0.04 < growth["share"] <= 0.05
        assert row["unit_steps_per_s"] == pytest.approx(4e3 / row["step_ms"])
        small, large = [
            next(at["error"] for at in row["looked_at"] if at["step_ms"] == step)
            for step in (0.5, 1.0)
        ]
        assert large == pytest.approx(4.0 * small, rel=0.01)
    assert {path.name for path in tmp_path.iterdir()} == {"step.png", "step.svg"}


def test_peaks_are_those_of_runs(softdock, target):
    code, out, _ = softdock(
        *("analyze", "step", target, *CASE, "--algorithms", "gauss-seidel", "--peaks", "--json")
    )
    (row,) = json.loads(out)["algorithms"]
    assert code == 0
    assert row["step_by_peaks_ms"] <= row["step_ms"]
    *_, last = row["runs"]
    assert last["step_ms"] == row["step_by_peaks_ms"]
    assert last["error"] <= 0.05
    assert last["error"] == pytest.approx(
        2 * abs(last["peak"] - last["peak_with_half"]) / last["peak_with_half"]
    )
    assert all(run["error"] > 0.05 for run in row["runs"][:-1])


def test_the_table(softdock, target):
    code, out, _ = softdock("analyze", "step", target, *CASE, "--algorithms", "jacobi")
    assert code == 0
    assert "largest step with all errors within 0.05" in out
    assert "unit steps [1/s]" in out


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--tolerance", "-1"), "tolerance: expected a share above 0, found -1.0"),
        (("--tolerance", "0.1", "--algorithms", "jacoby"), "no algorithm 'jacoby'"),
        (("--tolerance", "0.1", "--break", "axis.speed"), "has no connection 'axis.speed'"),
        (("--tolerance", "0.1", "--case", "capture"), "no case 'capture'"),
    ],
)
def test_bad_input_is_one_clear_error(softdock, target, options, text):
    case = () if "--case" in options else ("--case", "capture_b60_axis")
    code, out, err = softdock("analyze", "step", target, *case, *options)
    assert code != 0
    assert text in " ".join((out + err).split())
