"""What others wrote is shown by a terminal and never obeyed, whatever characters it has."""

import io
import json
import logging
import os
import subprocess
import sys

import pytest

from orchestrator.cli.console import PlainConsole, progress_bar
from orchestrator.cli.line import drawn_line, line_of
from orchestrator.core.diagnostics import PluginError
from orchestrator.core.display import PrintableFormatter, printable
from orchestrator.core.realtime import SharedRows
from orchestrator.core.simulation import Where
from orchestrator.core.simunits import block
from orchestrator.core.ssp import write_ssd
from orchestrator.core.system import System
from orchestrator.rig.supervisor.wire import StateLine

ODD = "\x1b]0;owned\x07 \x1b[31m[/x] \x9b2J µ \u202e\ud800 end"
SHOWN = "␛]0;owned␇ ␛[31m[/x] \ufffd2J µ \ufffd\ufffd end"
EXPERIMENT = (
    f"""
title = "{ODD[:-7]}"
[defaults]
step = "10 ms"
stop = "20 ms"
formats = ["csv"]
[case.a]
system = "a.ssd"
[case.a.measure]
"µ[/y]\\u001b[1m" = {{ kind = "final", signal = "spring.force_a" }}
""".replace("\x1b", "\\u001b")
    .replace("\x07", "\\u0007")
    .replace("\x9b", "\\u009b")
)


def test_each_control_character_is_shown():
    assert printable(ODD) == SHOWN
    assert printable("a\tb\nc ↯ é") == "a\tb\nc ↯ é"
    shown = printable("".join(map(chr, range(0x20))))
    assert shown == "".join(c if c in "\t\n" else chr(0x2400 + ord(c)) for c in map(chr, range(32)))


def test_a_console_colours_and_does_not_obey(capsys):
    console = PlainConsole(force_terminal=True, color_system="standard", highlight=False)
    console.print("a\x1b[2Jb", style="red", markup=False)
    assert capsys.readouterr().out == "\x1b[31ma␛[2Jb\x1b[0m\n"


def test_what_is_logged_is_shown():
    record = logging.LogRecord("orchestrator.fmu.a", 30, "", 0, "%s", ("\x1b[2J",), None)
    assert PrintableFormatter("%(name)s: %(message)s").format(record) == "orchestrator.fmu.a: ␛[2J"


@pytest.fixture
def folder(tmp_path):
    held = {"velocity_a": 0.0, "velocity_b": 0.0, "position_b": 0.0, "position_a": 1.0}
    spring = System("s").add("spring", block("spring_dashpot"), **held)
    write_ssd(spring, tmp_path / "a.ssd")
    (tmp_path / "experiment.toml").write_text(EXPERIMENT, encoding="utf-8")
    return tmp_path


def test_titles_of_files_are_shown(softdock, folder):
    code, out, err = softdock("run", folder, "--output", folder / "out")
    assert (code, err) == (0, "")
    assert "␛]0;owned ␛[31m[/x] \ufffd2J µ" in out  # rich itself leaves the bell out
    assert "a: µ[/y]␛[1m" in out, out
    assert not set(out) & {"\x1b", "\x07", "\x9b"}


def test_names_in_errors_are_shown(softdock, folder):
    code, _, err = softdock("run", folder, "--case", "x\x1b[31m")
    assert code == 2
    assert r"no case 'x\x1b[31m'" in err


@pytest.mark.slow
def test_a_terminal_without_utf8_gets_numbers(folder):
    plain = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    plain |= {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    warn = ["-X", "warn_default_encoding"]
    command = [sys.executable, *warn, "-m", "orchestrator", "run", str(folder)]
    command += ["--output", str(folder / "out")]
    done = subprocess.run(command, capture_output=True, env=plain, check=False)  # noqa: S603
    said = done.stderr.decode(errors="replace")
    assert done.returncode == 0, said
    warned = [line for line in said.splitlines() if "EncodingWarning" in line]
    assert [line for line in warned if "/orchestrator/" in line] == []  # matplotlib has some
    assert b"\\u241b]0;owned \\u241b[31m[/x] \\ufffd2J" in done.stdout
    assert rb"a: \xb5[/y]" in done.stdout


NOISY = """
import os

from orchestrator import Block, Output


class Noisy(Block):
    y: float = Output(depends_on=())

    def initialise(self, t):
        os.write(1, b"a banner of a library\\n")

    def step(self, t, h):
        self.y = t
"""


@pytest.mark.slow
def test_what_a_library_prints_is_not_among_the_json(tmp_path):
    (tmp_path / "noisy.py").write_text(NOISY, encoding="utf-8")
    system = System("s").add("noisy", block(f"{tmp_path / 'noisy.py'}:Noisy"))
    write_ssd(system, tmp_path / "s.ssd")
    command = [sys.executable, "-m", "orchestrator", "run", str(tmp_path / "s.ssd"), "--json"]
    command += ["--step", "1 ms", "--stop", "3 ms", "--output", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    assert "a banner of a library" in done.stderr


@pytest.fixture
def terminal(monkeypatch):
    console = PlainConsole(file=io.StringIO(), force_terminal=True, width=120)
    monkeypatch.setattr("orchestrator.cli.console.messages", console)
    return console.file


def test_a_line_says_how_far_a_run_is(terminal):
    with progress_bar() as bar:
        assert bar is not None
        with bar.look("hybrid", None, Where(0, 2_000_000_000, lambda: 500_000_000)):
            bar._progress.refresh()
    for part in ("hybrid", "25 %", "0.500 of 2 s"):
        assert part in terminal.getvalue()


def test_in_real_time_another_process_draws_the_line(terminal, capfd):
    rows = SharedRows(100, 1)
    rows.times_ns[:3] = 1_000_000, 2_000_000, 3_000_000
    rows.told[0] = 7
    with progress_bar() as bar:
        with bar.look("rig", StateLine("nowhere"), Where(0, 100_000_000, int, rows)):
            seen = ""
            while "late" not in seen:
                seen += capfd.readouterr().err
        assert bar._progress.finished
    assert "rig: 0.003 of 0.1 s, 7 late steps\x1b" in seen + "\x1b"


def test_a_status_that_cannot_be_pickled_is_named(wording):
    rows, where = SharedRows(10, 1), Where(0, 100_000_000, int)
    with (
        wording.raises(PluginError),
        drawn_line("rig", lambda: "", where, rows),
    ):
        pass


def test_the_line_of_a_run_obeys_nothing():
    rows = SharedRows(10, 1)
    line = line_of(rows, "a\x1b[31m", 2_000_000_000, lambda: "epos\x07 ACTIVE")
    assert line == "a␛[31m: before the first step of 2 s | epos␇ ACTIVE"
