"""FMPy, libcosim and ecos themselves do what their rules in certificates say."""

import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "certify.py"


def measured(tmp_path, *options):
    try:
        for package in ("ecospy", "libcosimpy", "tbb"):
            files(package)
    except PackageNotFoundError as missing:
        pytest.skip(f"{missing.name} is not installed (Linux on x86_64 only)")
    file = tmp_path / "figures.json"
    command = [sys.executable, SCRIPT, *options, "--json", file]
    done = subprocess.run(  # noqa: S603
        command, capture_output=True, text=True, check=False, cwd=SCRIPT.parent
    )
    assert done.returncode == 0, done.stderr
    return json.loads(file.read_text(encoding="utf-8"))


def test_loops_grow_in_the_tools_as_predicted(plants, tmp_path):
    names = ("contact", "joined bodies", "ring")
    chosen = [option for name in names for option in ("--system", name)]
    rows = measured(tmp_path, *chosen, "--step", "8", "--no-sine")["decays"]
    assert [row["tool"] for row in rows] == ["fmpy", "libcosim", "ecos"] * 3
    for row in rows:
        assert row["measured_1_s"] == pytest.approx(row["predicted_1_s"], rel=1e-3)
        assert row["measured_delay_ms"] == pytest.approx(row["predicted_delay_ms"], rel=1e-3)
        assert abs(row["predicted_1_s"] - row["exact_1_s"]) > 0.5  # or nothing would be shown


@pytest.mark.slow
def test_chains_are_late_behind_a_sine_as_predicted(plants, tmp_path):
    rows = measured(tmp_path, "--system", "contact", "--system", "ring", "--step", "4")["sines"]
    assert len(rows) == 6
    for row in rows:
        assert row["measured_delay_ms"] == pytest.approx(row["predicted_delay_ms"], rel=1e-3)
    assert rows[0]["predicted_delay_ms"] == pytest.approx(6.0, rel=1e-9)  # three halves of a step
