"""Windows libraries of FMUs on Linux: a host program under Wine, and the bridge to it.

``softdock_bridge.so`` exports the functions of FMI and hands each call to ``fmu_host.exe``, which
loads the Windows library. Both are made from ``engine/src/windows_host``. The host's output is a
pipe, its errors an unnamed file; the kernel ends it with the thread that started it.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from orchestrator.core import operating_system
from orchestrator.core.diagnostics import CapabilityError, FmuError
from orchestrator.core.operating_system.platforms import WINDOWS, here
from orchestrator.core.own_process import MARK
from orchestrator.core.simunits.fmi.library_file import needed_libraries, wrong_windows_library
from orchestrator.engine import windows_bridge

#: Oldest release of Wine that the host was tried with.
OLDEST = 8
#: s, for Wine to make a prefix. A host that does not answer is ended with its worker.
_PREFIX_SECONDS = 180.0
_SOURCES = Path(__file__).parents[3] / "engine" / "src" / "windows_host"
_NAMES = ("wine64", "wine")
_FOLDERS = ("/usr/lib/wine", "/usr/lib64/wine")
_INSTALL = "install Wine (Debian: apt-get install wine64)"
_DLL_NOT_FOUND, _BAD_IMAGE = 126, 193
#: Fewest steps from which a time that 99.9 % do not exceed is remembered.
_STEPS = 1000


@cache
def _version_of(program: Path) -> str:
    answer = subprocess.run(  # noqa: S603 - the program that was found
        [program, "--version"], capture_output=True, text=True, timeout=30, check=False
    )
    return answer.stdout.strip()


def version() -> str:
    """Return the release of Wine, such as ``"wine-8.0 (Debian 8.0~repack-4)"``."""
    return _version_of(wine())


@cache
def wine() -> Path:
    """Return the program that runs 64-bit Windows programs.

    Raises
    ------
    CapabilityError
        If Wine is absent or too old.
    """
    if here() is WINDOWS:
        raise CapabilityError(
            "platform 'win64' runs Windows libraries under Wine, on Linux; leave it out on Windows"
        )
    candidates = [shutil.which(name) for name in _NAMES]
    candidates += [shutil.which("wine64", path=os.pathsep.join(_FOLDERS))]
    program = next(
        (
            Path(candidate)
            for candidate in (candidates[0], candidates[2], candidates[1])
            if candidate
        ),
        None,
    )
    if program is None:
        raise CapabilityError(f"platform 'win64' needs Wine, which was not found; {_INSTALL}")
    try:
        answer = _version_of(program)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CapabilityError(f"{program}: Wine cannot be started: {error}") from None
    digits = answer.removeprefix("wine-").split(".")[0]
    if not digits.isdigit() or int(digits) < OLDEST:
        raise CapabilityError(
            f"{program}: found version '{answer}'; platform 'win64' needs Wine {OLDEST} or newer"
        )
    return program


def cache_folder() -> Path:
    """Return the folder that keeps the Wine prefix and the host program between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "softdock"


def _environment(prefix: Path) -> dict[str, str]:
    """Environment of a Wine process: its own prefix, no window, no debugger, UTF-8 paths."""
    variables = {
        k: v for k, v in os.environ.items() if k not in {"DISPLAY", "WAYLAND_DISPLAY", MARK}
    }
    return variables | {
        "WINEPREFIX": str(prefix),
        "WINEARCH": "win64",
        "WINEDEBUG": "-all",
        # no offer to install .NET or a browser, no entries in the desktop's menus
        "WINEDLLOVERRIDES": "mscoree=;mshtml=;winemenubuilder.exe=;winedbg.exe=",
        "LC_ALL": "C.UTF-8",
    }


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one process at a time fill a folder; the lock ends with its holder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise CapabilityError(
            f"{folder}: the folder for the Wine prefix cannot be written: {error.strerror}; set"
            " XDG_CACHE_HOME to a folder that can"
        ) from None
    try:
        operating_system.lock(file, wait=True)
        yield
    finally:
        os.close(file)


def prefix() -> Path:
    """Return Softdock's own Wine prefix, which is made when it is first asked for.

    Raises
    ------
    CapabilityError
        If Wine is absent or too old, or the prefix cannot be made.
    """
    program = wine()
    folder = cache_folder() / "wine"
    wine_prefix = folder / "prefix"
    complete = folder / "complete"
    with _locked(folder):
        if complete.is_file():
            return wine_prefix
        shutil.rmtree(wine_prefix, ignore_errors=True)
        try:
            done = subprocess.run(  # noqa: S603 - the program that was found
                [program, "wineboot", "--init"],
                env=_environment(wine_prefix),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_PREFIX_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CapabilityError(f"{wine_prefix}: Wine cannot make its prefix: {error}") from None
        if done.returncode != 0:
            reason = done.stderr.decode(errors="replace").strip() or f"exit code {done.returncode}"
            raise CapabilityError(f"{wine_prefix}: Wine cannot make its prefix: {reason}")
        complete.touch()
    return wine_prefix


def host_program() -> Path:
    """Return the host program: that of the wheel, or one that Zig compiles once from its source.

    Raises
    ------
    CapabilityError
        If there is none and Zig is not installed.
    """
    shipped = windows_bridge().with_name("fmu_host.exe")
    if shipped.is_file():
        return shipped
    folder = cache_folder() / "wine"
    with _locked(folder):
        stamps = max(file.stat().st_mtime_ns for file in _SOURCES.iterdir())
        program = folder / f"fmu_host-{stamps}.exe"
        if not program.is_file():
            draft = program.with_suffix(".draft.exe")
            compile_host(draft)
            draft.replace(program)
    return program


def compile_host(target: Path) -> None:
    """Compile the host program for 64-bit Windows by Zig.

    Raises
    ------
    CapabilityError
        If Zig is not installed, or refuses the source.
    """
    if find_spec("ziglang") is None:
        raise CapabilityError(
            "platform 'win64' needs the host program, which this installation does not have:"
            " pip install 'softdock[cross]' (100 MB) brings the compiler that makes it"
        )
    script = _SOURCES.parents[1] / "build_fmu_host.sh"
    done = subprocess.run(  # noqa: S603 - our own script
        ["/bin/sh", str(script), sys.executable, str(target)],
        capture_output=True,
        text=True,
        check=False,
    )
    target.with_suffix(".pdb").unlink(missing_ok=True)
    if done.returncode != 0:
        raise CapabilityError(f"{script}: Zig cannot compile the host program: {done.stderr}")


def prepare(name: str) -> None:
    """Make what the Windows library of a component needs: Wine, its prefix and the host program.

    Raises
    ------
    CapabilityError
        If one of them is missing and cannot be made.
    """
    try:
        prefix()
        host_program()
    except CapabilityError as error:
        raise CapabilityError(f"component '{name}': {error}") from None


def _times_file() -> Path:
    return cache_folder() / "wine" / "step-times.json"


def _key(archive: Path) -> str:
    return hashlib.sha256(archive.read_bytes()).hexdigest()


def measured(archive: str) -> tuple[int, int] | None:
    """Return what steps of an FMU took under Wine here; ``None`` if nobody measured it.

    Returns
    -------
    tuple of int
        The time that 99.9 % of the steps did not exceed, ns, and the number of steps.
    """
    try:
        taken_ns, steps = json.loads(_times_file().read_text(encoding="ascii"))[_key(Path(archive))]
        return int(taken_ns), int(steps)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def remember(archive: str, taken_ns: int, steps: int) -> None:
    """Keep what steps of an FMU took under Wine in real time, if there were enough of them.

    taken_ns: The time that 99.9 % of them did not exceed.
    """
    if steps < _STEPS:
        return
    file = _times_file()
    with _locked(file.parent):
        try:
            times = dict(json.loads(file.read_text(encoding="ascii")))
        except (OSError, ValueError, TypeError):
            times = {}
        times[_key(Path(archive))] = [taken_ns, steps]
        draft = file.with_suffix(".draft")
        draft.write_text(json.dumps(times, indent=1), encoding="ascii", newline="\n")
        draft.replace(file)


def measured_text(archive: str) -> str:
    """Return what steps of an FMU took under Wine on this computer, in words."""
    times = measured(archive)
    if times is None:
        return "its steps were not measured on this computer yet"
    return (
        f"99.9 % of {times[1]} steps in its last run in real time took at most"
        f" {times[0] / 1e3:.1f} us"
    )


class WineHost:
    """Runs the Windows library of one FMU in a Wine process, behind the functions of the bridge.

    name: The component, for messages.
    archive: The FMU, for messages.
    library: The unpacked Windows library.
    Raises CapabilityError: if Wine, its prefix or the host program is missing.
    Raises FmuError: if the library cannot be loaded.
    """

    def __init__(self, name: str, archive: Path, library: Path) -> None:
        location = f"component '{name}' ({archive})"
        if problem := wrong_windows_library(library.read_bytes()):
            raise FmuError(f"{location}: '{library.name}' {problem}")
        program, folder, host = wine(), prefix(), host_program()
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - until the end of the host
        self._process = subprocess.Popen(  # noqa: S603 - the program that was found
            [program, str(host)],
            env=_environment(folder),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            cwd=library.parent,
            start_new_session=True,  # Ctrl-C is for the run
            preexec_fn=_end_with_parent,  # noqa: PLW1509 - a worker makes its unit in its main thread
        )
        assert self._process.stdin is not None  # noqa: S101 - asked for
        assert self._process.stdout is not None  # noqa: S101
        self._handle = operating_system.process_handle(self._process.pid)
        self._end = weakref.finalize(self, _end, self._process, self._handle, self._words)
        bridge = ctypes.CDLL(str(windows_bridge()))
        bridge.softdock_open.restype = ctypes.c_char_p
        error = ctypes.c_long()
        identifier = f"{library.stem}_".encode()
        failure = bridge.softdock_open(
            self._process.stdout.fileno(),
            self._process.stdin.fileno(),
            self._handle,
            self._words.fileno(),
            str(library).encode(),
            identifier,
            ctypes.byref(error),
        )
        if failure:
            reason = _reason(library, error.value, failure.decode(errors="replace"))
            self._end()
            raise FmuError(f"{location}: {library.name}: {reason}")


def _end_with_parent() -> None:
    """Let the kernel end the host with the thread that starts it."""
    operating_system.end_with_parent(operating_system.KILL)


def _end(process: subprocess.Popen[bytes], handle: int, words: IO[bytes]) -> None:
    """End the host: it ends by itself when its input is closed, and is killed if it does not."""
    for stream in (process.stdin, process.stdout, words):
        if stream is not None:
            with suppress(OSError):
                stream.close()
    try:
        process.wait(2.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    os.close(handle)


def _reason(library: Path, error: int, text: str) -> str:
    """Say why a library cannot be loaded, by the error number of Windows."""
    if error == _DLL_NOT_FOUND and (absent := _absent_for(library)):
        return (
            f"Wine cannot load it: it needs {', '.join(absent)}, found neither in the FMU nor in"
            " Wine; see `softdock fmu info`"
        )
    if error == _BAD_IMAGE:
        return "Wine cannot load it: it is for another processor (error 193 of Windows)"
    return f"Wine cannot load it: {text}" + (f" (error {error} of Windows)" if error else "")


def absent_libraries(needed: Iterable[str], neighbours: Iterable[str]) -> tuple[str, ...] | None:
    """Return which of the needed libraries are neither next to an FMU's library nor in Wine.

    ``None``: nobody knows, as Wine or its prefix is not there yet.
    """
    system = cache_folder() / "wine" / "prefix" / "drive_c" / "windows" / "system32"
    if not system.is_dir():
        return None
    there = {name.lower() for name in (*neighbours, *(path.name for path in system.iterdir()))}
    return tuple(
        name
        for name in needed
        if name.lower() not in there and not name.lower().startswith("api-ms-win-")
    )


def _absent_for(library: Path) -> tuple[str, ...]:
    neighbours = [path.name for path in library.parent.iterdir()]
    return absent_libraries(needed_libraries(library.read_bytes()), neighbours) or ()
