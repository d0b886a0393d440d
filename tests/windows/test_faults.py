"""Faults of isolated FMUs end in the same way on both sides: the table of docs/howto/isolate.md."""

import json
import subprocess
import sys
import time
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from compile_cache import FIXTURES, compiled
from small_fmu import SMALL_FMU

from orchestrator.core.operating_system import close, process_handle, ready

SCRIPT = Path(__file__).with_name("faults.py")
# small_fmu.h
SET_UP, STEP, TERMINATE = 2, 4, 5
SEGMENTATION_FAULT, ABORT, EXIT_0, EXIT_3 = range(4)
CRASH, HANG = "crash_on_demand", "hang_on_demand"
#: FMU, phase, way, what is done: the error, rows that are kept, words of each side.
FAULTS = {
    "segmentation fault": ((CRASH, STEP, SEGMENTATION_FAULT, "run"), "StepError", 5,
                           ("the signal SIGSEGV", "(access violation)")),
    "abort": ((CRASH, STEP, ABORT, "run"), "StepError", 5, ("the signal SIGABRT", "exit code 3")),
    "exit(0)": ((CRASH, STEP, EXIT_0, "run"), "StepError", 5, ("exit code 0", "exit code 0")),
    "exit(3)": ((CRASH, STEP, EXIT_3, "run"), "StepError", 5, ("exit code 3", "exit code 3")),
    "fault while it is set up": ((CRASH, SET_UP, SEGMENTATION_FAULT, "run"), "StepError", 0,
                                 ("the signal SIGSEGV", "(access violation)")),
    "fault when it ends": ((CRASH, TERMINATE, SEGMENTATION_FAULT, "run"), "", 9, ("", "")),
    "killed from outside": ((CRASH, 0, 0, "kill"), "StepError", 5,
                            ("the signal SIGKILL", "its process ended")),
    "hangs": ((HANG, STEP, 0, "run"), "StepError", 5, ("within 2 s", "within 2 s")),
    "fault, outputs held": ((CRASH, STEP, SEGMENTATION_FAULT, "hold"), "", 9, ("", "")),
    "fault, restarted": ((CRASH, STEP, SEGMENTATION_FAULT, "restart"), "StepError", 5,
                         ("the signal SIGSEGV", "(access violation)")),
}  # fmt: skip


@pytest.fixture(scope="module")
def fmus(windows, tmp_path_factory):
    """Both FMUs with libraries for both sides."""
    del windows
    if find_spec("ziglang") is None:
        pytest.skip("ziglang, the extra 'cross', is not installed")
    folder = tmp_path_factory.mktemp("fmus")
    for name in (CRASH, HANG):
        path = folder / f"{name}.fmu"
        with zipfile.ZipFile(path, "w") as archive:
            text = SMALL_FMU.format(name=name, serializes="true", once="false")
            archive.writestr("modelDescription.xml", text)
            for place, target in (
                (f"linux64/{name}.so", "x86_64-linux-gnu"),
                (f"win64/{name}.dll", "x86_64-windows-gnu"),
            ):
                library = folder / Path(place).name
                command = [sys.executable, "-m", "ziglang", "cc", "-target", target, "-shared"]
                command += ["-fPIC", "-O1", "-fno-sanitize=all", "-o", str(library)]
                done = compiled([*command, f"c_fmus/{name}.c"], FIXTURES)
                assert done.returncode == 0, done.stderr
                archive.write(library, f"binaries/{place}")
    return folder


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_ends_in_the_same_way(sides, fmus, fault):
    (name, phase, how, mode), error, rows, words = FAULTS[fault]
    found = []
    for side in sides:
        script, path = side.path(SCRIPT), side.path(fmus / f"{name}.fmu")
        code, output, errors = side.run("-P", script, path, phase, how, mode, cwd=fmus)
        assert code == 0, output + errors
        found.append(json.loads(output))
    assert [(each["error"], each["rows"]) for each in found] == [(error, rows)] * 2, found
    for each, word in zip(found, words, strict=True):
        assert word in each.get("said", ""), each
    assert found[0].get("last") == found[1].get("last")


def test_a_unit_ends_with_its_program_on_windows(windows, fmus):
    """Its job ends it; nothing of it runs a few seconds later."""
    script, path = windows.path(SCRIPT), windows.path(fmus / f"{CRASH}.fmu")
    code, output, errors = windows.run("-P", script, path, 0, 0, "orphan", cwd=fmus)
    assert code == 9, errors
    there = (
        "import ctypes, sys;"
        "h = ctypes.windll.kernel32.OpenProcess(0x100000, 0, int(sys.argv[1]));"
        "sys.exit(0 if not h else ctypes.windll.kernel32.WaitForSingleObject(h, 20000))"
    )
    assert windows.run("-c", there, output.strip())[0] == 0


def test_a_unit_ends_with_its_program_here(linux, fmus):
    process = subprocess.run(  # noqa: S603 - a Python of ours
        [linux.python, "-P", SCRIPT, fmus / f"{CRASH}.fmu", "0", "0", "orphan"],
        capture_output=True, check=False,
    )  # fmt: skip
    assert process.returncode == 9
    try:
        handle = process_handle(int(process.stdout))
    except ProcessLookupError:
        return
    ended, begun = ready(20.0, process=handle), time.monotonic()
    close(handle)
    assert ended == {"process"}, begun
