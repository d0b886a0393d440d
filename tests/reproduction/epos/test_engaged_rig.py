"""A supervised rig that somebody has to engage: its run waits, and begins then."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from browser import browser, needs_chromium

from orchestrator.core.diagnostics import DeviceError
from orchestrator.core.recording import read_parquet
from orchestrator.rig.supervisor.wire import Operator

EPOS = Path(__file__).parents[3] / "examples" / "epos"
PATIENCE = 90.0  # s; a busy machine


@pytest.fixture
def held(tmp_path, shipped_fmus, request):
    """Run the rig on a machine that others use until it is held; return run and operator.

    A parameter has further changes of its file, and options of the run.
    """
    changes, options = getattr(request, "param", ({}, ()))
    name = f"engaged-{os.getpid()}"
    text = (EPOS / "rig_supervised.toml").read_text(encoding="utf-8")
    for old, new in {
        'arm = "automatic"': 'heartbeat = "5 s"\ncommand_stale = "5 s"',
        'rig = "epos"': f'rig = "{name}"',
        'stop = "4 s"': 'stop = "1 s"',
        "hold_cycles = 0 ": "hold_cycles = 1000 ",
        'stale = "60 ms"': 'stale = "5 s"',
        'frozen = "200 ms"': 'frozen = "5 s"',
        'frozen = "50 ms"': 'frozen = "5 s"',
        "acceleration = 20.0": "acceleration = 2000.0",
        "status_steps = 150": "status_steps = 5000",
        "lost = 40": "lost = 5000",
        "lost = 100": "lost = 5000",
        '"rig_capture.ssd"': f'"{EPOS}/rig_capture.ssd"',
        **changes,
    }.items():
        assert old in text, old
        text = text.replace(old, new)
    path = tmp_path / "rig.toml"
    path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "orchestrator", "run", str(path), "--output", "out", *options]
    with (tmp_path / "said.txt").open("w", encoding="utf-8") as file:
        run = subprocess.Popen(command, stdout=file, stderr=file, cwd=tmp_path)  # noqa: S603
    try:
        with operator_of(run, name) as operator:
            until(run, lambda: operator.wish("status")["state"] == "SHADOW")
            until(run, lambda: "the run waits" in said(tmp_path))
            yield run, operator
    finally:
        if run.poll() is None:
            run.send_signal(signal.SIGINT)
            run.wait(PATIENCE)


def operator_of(run, name):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and run.poll() is None:
        try:
            return Operator(name)
        except DeviceError:
            time.sleep(0.05)
    raise AssertionError("the rig has no supervisor")


def until(run, reached):
    end = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < end, "it does not come"
        assert run.poll() is None, "the run has ended"
        time.sleep(0.02)


def said(folder):
    return (folder / "said.txt").read_text(encoding="utf-8").replace("\n", " ")


@pytest.mark.alone
def test_a_run_begins_when_its_rig_is_engaged_and_says_through_which_states_it_went(held, tmp_path):
    run, operator = held
    assert "refused" in operator.wish("engage")
    for wish in ("arm", "engage"):
        assert "refused" not in operator.wish(wish)
    assert run.wait(PATIENCE) == 0, said(tmp_path)
    told = json.loads((tmp_path / "out" / "summary.json").read_text())["cases"]["capture"]
    states = told["supervisor"]["states"]
    assert told["supervisor"]["engaged"]
    assert [state["after"] for state in states[:4]] == ["SHADOW", "SHADOW", "BLEND", "ACTIVE"]
    assert not any(state["reason"] for state in states)
    rows = read_parquet(tmp_path / "out" / "capture.parquet")
    assert rows.index[-1] == pytest.approx(1.0)
    before = rows["robot.samples"].iloc[1]  # of the first step: they came while the run waited
    assert before > 250 * -states[0]["time_s"] * 0.5


@pytest.mark.slow
def test_a_rig_that_an_operator_stops_instead_was_never_engaged(held, tmp_path):
    run, operator = held
    operator.wish("stop")
    assert run.wait(PATIENCE) == 4, said(tmp_path)
    assert "was never engaged: operator" in said(tmp_path)


@pytest.mark.slow
def test_ctrl_c_ends_a_run_that_waits(held, tmp_path):
    run, _ = held
    run.send_signal(signal.SIGINT)
    assert run.wait(PATIENCE) == 130, said(tmp_path)
    assert "was never engaged" in said(tmp_path)


LONG = {
    'stop = "1 s"': 'stop = "120 s"',
    'heartbeat = "5 s"': 'heartbeat = "5 s"\nafter_fault = "continue"',
    "connect_timeout = 30 }": 'connect_timeout = 30, on_stale = "hold" }',
}
# With 10 N the command would leave its range within 4 s: the page takes longer.
SLOW = ("--live", "0", "--set", "chaser.thrust=0.5")


@needs_chromium
@pytest.mark.alone
@pytest.mark.parametrize("held", [(LONG, SLOW)], indirect=True)
def test_a_rig_is_stopped_and_reset_from_its_page_and_engaged_once_more(held, tmp_path):
    run, operator = held
    url = re.search(r"live: (http://\S+)", said(tmp_path))[1]
    state = "at('state').textContent"
    with browser(tmp_path / "browser") as tab:
        tab.show(url, 1400)

        def press(wish, *reached):
            buttons = "#halt button, #operate button"
            found = f"[...document.querySelectorAll('{buttons}')]"
            button = f"{found}.find((one) => one.dataset.wish === '{wish}')"
            tab.until(f"{button}.getAttribute('aria-disabled') === 'false'")
            tab.run(f"{button}.click()")
            tab.until(f"at('operated').textContent === 'you: {wish}'")
            until(run, lambda: operator.wish("status")["state"] in reached)

        press("arm", "SHADOW")
        press("engage", "ACTIVE")
        tab.until("state.cases.at(-1).rows > 100")
        press("stop", "SAFE")
        tab.until(f"{state}.endsWith('SAFE')")
        assert "an operator stopped the rig" in tab.run("document.querySelector('#bar').innerText")
        press("reset", "SHADOW")
        assert operator.wish("status")["latched"] == []
        rows = tab.run("state.cases.at(-1).rows")
        press("arm", "SHADOW")
        press("engage", "ACTIVE")
        tab.until(f"{state}.endsWith('ACTIVE') && state.cases.at(-1).rows > {rows} + 100")
        assert tab.errors == []
