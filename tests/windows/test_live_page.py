"""The page of a run on Windows, asked from Linux over HTTP."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from live_pages import asked, state_of, wish

PREBUILT = Path(__file__).parents[2] / "fmus" / "prebuilt"
SYSTEM = """\
[system]
name = "s"
[component.chaser]
source = "Chaser.fmu"
"""
#: A hundred million steps, far more than the test waits for; the table has every thousandth.
RUN = ("run", "s.system.toml", "--step", "1 ms", "--stop", "100000 s", "--every", "1000")


@pytest.fixture
def viewed(windows, tmp_path):
    """Run a system on Windows with a page; give the process and the page's address."""
    shutil.copy(PREBUILT / "Chaser.fmu", tmp_path)
    (tmp_path / "s.system.toml").write_text(SYSTEM, encoding="utf-8")
    words = [windows.python, "-u", "-m", "orchestrator", *RUN, "--live", "0", "--output", "out"]
    with subprocess.Popen(  # noqa: S603 - a Python of ours
        words, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
    ) as process:  # fmt: skip
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("live: "):
                break
        else:
            pytest.fail("".join(lines))
        yield process, line.removeprefix("live: ").strip()
        process.kill()


def wait_for_case(process, url, condition):
    """Ask for the state of the run until its case fulfils a condition."""
    while not any(map(condition, state_of(url)["cases"])):
        assert process.poll() is None
        time.sleep(0.02)


def test_a_viewer_on_linux_stops_a_run_on_windows(viewed, tmp_path):
    """Only who knows the token does; rows until then are kept, and the exit code says it."""
    process, url = viewed
    own = {"Origin": f"http://{urlsplit(url).netloc}"}
    status, _, content = asked(url, "wish", own, "POST", wish="stop", token="x" * 24)
    assert (status, b"expected the token" in content) == (403, True)
    wait_for_case(process, url, lambda case: case["steered"] and case.get("rows", 0) > 1)
    wish(url, "pause")
    wait_for_case(process, url, lambda case: case["state"] == "standing")
    wish(url, "stop")
    printed, _ = process.communicate(timeout=120)
    assert process.returncode == 6, printed
    assert "stopped" in printed
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert "from the page of --live" in json.dumps(summary)
    assert "Traceback" not in printed
