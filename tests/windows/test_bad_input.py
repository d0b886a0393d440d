"""What Windows makes harder: long paths, open folders, consoles, names of users, libraries."""

import subprocess
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHASER = ROOT / "fmus" / "prebuilt" / "Chaser.fmu"
SYSTEM = """\
[system]
name = "s"
[component.chaser]
source = "Chaser.fmu"
"""


@pytest.fixture
def folder(windows, tmp_path):
    """A folder with a system of one FMU; its name has what names of users have."""
    inner = tmp_path / "Jürgen Größe"
    inner.mkdir()
    _fill(inner)
    return inner


def _fill(folder, change=lambda name, data: (name, data)):
    (folder / "s.system.toml").write_text(SYSTEM, encoding="utf-8")
    with zipfile.ZipFile(CHASER) as source, zipfile.ZipFile(folder / "Chaser.fmu", "w") as target:
        for name in source.namelist():
            entry = change(name, source.read(name))
            if entry is not None:
                target.writestr(*entry)


def _run(windows, folder, *words, expected=0, **environment):
    command = ["run", "s.system.toml", "--step", "1 ms", "--stop", "10 ms", "--output", "out"]
    return windows.softdock(*command, *words, cwd=folder, expected=expected, **environment)


def _refused(text):
    """Return a refusal, which is one sentence and no traceback."""
    lines = [line for line in text.strip().splitlines() if not line.startswith("next: ")]
    assert "Traceback" not in text
    assert len(lines) == 1, text
    assert lines[0].startswith("error: ")
    return lines[0]


def test_a_user_whose_name_has_an_umlaut(windows, folder):
    """Temporary files, where FMUs are unpacked and their libraries loaded, are in that folder."""
    own = windows.path(folder)
    _run(windows, folder, TEMP=own, TMP=own, USERPROFILE=own, LOCALAPPDATA=own, HOME=own)
    assert (folder / "out" / "summary.json").is_file()
    assert [path.name for path in folder.glob("softdock-fmu-*")] == [], "libraries were unloaded"


def test_a_path_of_300_characters(windows, folder):
    """Windows has paths of 259 characters unless its registry allows more."""
    deep = Path(*["a-folder-with-a-long-name"] * 12)
    assert len(str(deep)) > 300
    words = ("run", deep / "s.system.toml", "--step", "1 ms", "--stop", "10 ms")
    told = _refused(windows.softdock(*words, cwd=folder, expected=2))
    assert "s.system.toml': the path has " in told
    assert told.endswith("or set LongPathsEnabled in the registry")
    _run(windows, folder)
    output = f"--output={'a' * 300}"
    told = _refused(windows.softdock("run", "s.system.toml", output, cwd=folder, expected=2))
    assert "Windows is set to at most 259: use a shorter one" in told


def test_a_folder_that_another_program_holds_open(windows, folder):
    """The files of the new run are there, or one sentence says what is in the way."""
    _run(windows, folder)
    results = folder / "out"
    held = windows.path(results / "summary.json")
    code = (
        f"import sys, time;file = open({held!r}, 'rb');print('held', flush=True); sys.stdin.read()"
    )
    words = [windows.python, "-c", code]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(words, cwd=folder, **pipes) as holder:  # noqa: S603 - a Python of ours
        assert holder.stdout.readline().strip() == b"held"
        before = sorted(path.name for path in results.iterdir())
        code, _, errors = windows.run(
            "-m", "orchestrator", "run", "s.system.toml", "--step", "1 ms", "--stop", "20 ms",
            "--output", "out", cwd=folder,
        )  # fmt: skip
        assert "Traceback" not in errors
        if code:
            assert "out: " in _refused(errors)
        assert sorted(path.name for path in results.iterdir() if path.name[0] != ".") == before
        holder.communicate()
    _run(windows, folder)


def test_a_console_of_cp1252(windows, folder):
    """It has no Greek and no arrow: they are printed by their numbers."""
    text = SYSTEM.replace("component.chaser", 'component."λ"')
    (folder / "s.system.toml").write_text(text, encoding="utf-8")
    code, output, errors = windows.run(
        "-m", "orchestrator", "system", "show", "s.system.toml",
        cwd=folder, PYTHONIOENCODING="cp1252",
    )  # fmt: skip
    assert code == 0, errors
    assert "\\u03bb" in output


def test_an_fmu_for_linux_alone(windows, folder):
    _fill(folder, lambda name, data: None if "win64" in name else (name, data))
    told = _refused(_run(windows, folder, expected=2))
    assert "no binary for this machine" in told
    assert "binaries/win64/Chaser.dll" in told
    assert "linux64" in told


def test_a_library_that_needs_the_run_time_of_visual_cpp(windows, folder):
    """The name of a library of Windows is replaced by one of the same length."""

    def change(name, data):
        if name.endswith(".dll"):
            assert data.lower().count(b"kernel32.dll") == 1
            data = data.replace(b"KERNEL32.dll", b"MSVCP199.dll")
        return name, data

    _fill(folder, change)
    told = _refused(_run(windows, folder, expected=2))
    assert "needs MSVCP199.dll, found neither in the FMU nor on this computer" in told
    assert "install the Microsoft Visual C++ Redistributable for x64" in told


def test_a_library_that_is_cut_short(windows, folder):
    half = lambda name, data: (name, data[: len(data) // 2] if name.endswith(".dll") else data)  # noqa: E731
    _fill(folder, half)
    told = _refused(_run(windows, folder, expected=2))
    assert "is damaged: expected a whole library of 64-bit Windows" in told


@pytest.mark.parametrize(
    "words",
    [
        ("devices", "list"),
        ("supervisor", "status"),
        ("identify", "s.system.toml"),
        ("arm", "s.system.toml"),
        ("run", "s.system.toml", "--step", "1 ms", "--stop", "10 ms", "--realtime"),
    ],
)
def test_what_needs_linux_is_refused_in_one_sentence(windows, folder, words):
    told = _refused(windows.softdock(*words, cwd=folder, expected=2))
    assert "needs Linux" in told


def test_the_engine_needs_no_run_time_of_visual_cpp():
    """All that its libraries import belongs to Windows or to Python."""
    from orchestrator.core.simunits.fmi.library_file import needed_libraries

    built = ROOT / "build" / "windows" / "objects"
    files = [*built.glob("_engine*.pyd"), *built.glob("softdock_system.dll")]
    if not files:
        pytest.skip("the engine for Windows is not built: make wheel-windows")
    for file in files:
        needed = {name.lower() for name in needed_libraries(file.read_bytes())}
        others = {name for name in needed if not name.startswith("api-ms-win-")}
        assert others <= {"kernel32.dll", "ntdll.dll", "python311.dll", "python3.dll", "ws2_32.dll"}
