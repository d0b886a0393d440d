"""Both sides of the engine's platform layer do the same: on Linux, and for Windows under Wine."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import orchestrator
from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.simunits.fmi import wine

SOURCES = Path(orchestrator.__file__).parent / "engine" / "src"
PROGRAM = Path(__file__).parents[2] / "fixtures" / "host" / "outcomes.cpp"
OPTIONS = ("-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-I", str(SOURCES))
OPTIONS += ("-fno-sanitize=all",)  # which Zig has as a default
SECONDS = 300.0  # that it never takes, on a busy machine either

#: How a process ends, in the words of each system.
ENDINGS = {
    "posix": {
        "crash": "its process was ended by the signal SIGSEGV (Segmentation fault)",
        "killed": "its process was ended by the signal SIGKILL (Killed)",
    },
    "windows": {
        "crash": "its process ended with exit code 3221225477 (access violation)",
        "killed": "its process ended with exit code 1",
    },
}


def _gcc():
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    return ["g++"], ["-pthread"], [], {}


def _zig():
    if find_spec("ziglang") is None:
        pytest.skip("ziglang, the extra 'cross', is not installed")
    try:
        starter, prefix = wine.wine(), wine.prefix()
    except CapabilityError as error:
        pytest.skip(str(error))
    zig = [sys.executable, "-m", "ziglang", "c++", "-target", "x86_64-windows-gnu"]
    # Wine says nothing of what it lacks, and its debugger nothing of the crash.
    variables = {"WINEPREFIX": prefix, "WINEDEBUG": "-all", "WINEDLLOVERRIDES": "winedbg.exe="}
    # Linked by the options of exported systems: Zig builds one library of C++ for both.
    return zig, ["-s"], [starter], variables


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Linux compiles and starts both programs")
@pytest.mark.parametrize(("side", "tools"), [("posix", _gcc), ("windows", _zig)])
def test_a_side_of_the_platform_layer(tmp_path, side, tools):
    compiler, link, starter, variables = tools()
    inner = tmp_path / "work"
    inner.mkdir()
    files = [*sorted((SOURCES / side).glob("*.cpp")), PROGRAM]
    objects = [tmp_path / f"{file.stem}.o" for file in files]
    for file, compiled in zip(files, objects, strict=True):
        subprocess.run([*compiler, *OPTIONS, "-c", "-o", compiled, file], check=True)  # noqa: S603
    program = tmp_path / "outcomes.exe"
    subprocess.run([*compiler, *link, "-o", program, *objects], check=True)  # noqa: S603
    done = subprocess.run(  # noqa: S603 - it was just made
        [*starter, program],
        cwd=inner,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    folder = next(line for line in lines if "the working directory" in line)
    lines.remove(folder)
    assert folder.startswith("put back: the working directory, to '")
    assert folder.replace("\\", "/").endswith(f"{tmp_path}'")
    assert lines == [
        "all round trips: 1",
        "ended: its process ended with exit code 3",
        "runs after its end: 0",
        f"crash: {ENDINGS[side]['crash']}",
        f"killed: {ENDINGS[side]['killed']}",
        "middle: its process ended with exit code 0",
        "leaf started: 1, runs without its master: 0",
        "waits without a change: 1",
        "sleeps until a moment: 1",
        "too small: the shared memory is smaller than its unit's signals",
        "caught before: 0, after: 1, handled: 1",
        "put back: the floating-point mode (rounding, or tiny numbers taken as 0)",
        "put back: the environment variable 'SOFTDOCK_OUTCOME'",
        "changed: 1, rounds to nearest: 1, still changed: 0",
    ]
