"""The C compilers that turn generated sources into an FMU's shared library."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from orchestrator.core import operating_system
from orchestrator.core.diagnostics import FmuError
from orchestrator.core.operating_system.platforms import WINDOWS, Platform
from orchestrator.export.recipe import this_platform

# No contraction to fused multiply-add: the same FMU gives the same bits on every machine. Loops
# become vector instructions where nothing looks at errno or at flags of exceptions, as here.
FLAGS = (
    "-std=c11",
    "-O2",
    "-fvect-cost-model=dynamic",
    "-ftree-vectorize",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-ffp-contract=off",
)

# The same of Clang, which Zig brings with the C libraries of all platforms; no debug information.
ZIG_FLAGS = (
    "-std=c11",
    "-O2",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-sanitize=all",
    "-shared",
    "-s",
    "-fvisibility=hidden",
    "-ffp-contract=off",
)

# What cvode.c needs.
SUNDIALS = (
    "sundials_cvode",
    "sundials_nvecserial",
    "sundials_sunmatrixdense",
    "sundials_sunlinsoldense",
)

_RUNNING: set[subprocess.Popen[str]] = set()


def compiler_path() -> str:
    """Path of the C compiler: the environment's CC, or gcc."""
    name = os.environ.get("CC", "gcc")
    path = shutil.which(name)
    if path is None:
        raise FmuError(
            f"no C compiler: '{name}' is not on PATH; install it (apt install gcc) or set CC"
        )
    return path


@cache
def zig_path() -> str:
    """Path of the compiler for other platforms, which the package ``ziglang`` brings."""
    spec = find_spec("ziglang")
    program = "zig.exe" if WINDOWS.is_here else "zig"
    path = Path(spec.origin).with_name(program) if spec is not None and spec.origin else None
    if path is None or not path.is_file():
        raise FmuError(
            f"FMUs for {'Windows' if WINDOWS.is_here else 'other platforms'} need the compiler of"
            " the package ziglang, which is not installed; install it: pip install"
            " 'softdock[cross]'"
        )
    return str(path)


def compiler_of(platform: Platform, *, language: str = "cc") -> tuple[str, ...]:
    """The command that compiles for a platform: this machine's compiler, or Zig.

    Windows has no compiler of its own: there it is Zig, unless the environment has CC.
    """
    if platform.is_here and language == "cc" and ("CC" in os.environ or not WINDOWS.is_here):
        return (compiler_path(),)
    return (zig_path(), language, "-target", platform.target)


def compiler_facts(platform: Platform) -> str:
    """Version and options of a platform's compiler, which decide about what it makes."""
    path, *options = compiler_of(platform)
    if not options:
        return " ".join((compiler_version(path), *FLAGS))
    return " ".join((f"zig {compiler_version(path)}", *options, *ZIG_FLAGS))


@cache
def compiler_version(path: str) -> str:
    """First line of ``--version``; Zig has a command for it."""
    option = "version" if Path(path).stem == "zig" else "--version"
    return _run([path, option]).stdout.partition("\n")[0]


@cache
def sundials_libraries() -> tuple[str, ...]:
    """Options that link CVODE into an FMU, none of its symbols visible outside."""
    if WINDOWS.is_here:
        raise FmuError("solver.method = 'cvode' needs SUNDIALS of Linux; choose another method")
    compiler, missing = compiler_path(), []
    headers = "#include <cvode/cvode.h>\n#include <sundials/sundials_context.h>\n"
    if _run([compiler, "-E", "-x", "c", "-"], text=headers).returncode != 0:
        missing.append("headers cvode/cvode.h and sundials/sundials_context.h")
    paths = []
    for name in SUNDIALS:
        path = Path(_run([compiler, f"-print-file-name=lib{name}.a"]).stdout.strip())
        if path.is_absolute() and path.is_file():  # else the bare name
            paths.append(str(path))
        else:
            missing.append(f"lib{name}.a")
    if missing:
        raise FmuError(
            f"solver.method = 'cvode' needs SUNDIALS 6 with static libraries; missing:"
            f" {', '.join(missing)}; install it (apt install libsundials-dev)"
        )
    return (*paths, "-Wl,--exclude-libs,ALL")


def library_command(
    main: str,
    library: Path,
    warnings: Sequence[str] = (),
    libraries: Sequence[str] = (),
    platform: Platform | None = None,
) -> list[str]:
    """Return the command that compiles a file, in its folder, into a shared library."""
    # The compiler works in the folder of the sources: a relative target would be looked for there.
    target = str(library.resolve())
    compiler = compiler_of(platform or this_platform())
    flags = [*(FLAGS if len(compiler) == 1 else ZIG_FLAGS)]
    if library.suffix == ".dylib":  # else it holds the place where it was written
        flags.append(f"-Wl,-install_name,@rpath/{library.name}")
    return [*compiler, *flags, *warnings, "-o", target, main, *libraries, "-lm"]


def run_compilers(commands: Sequence[Sequence[str]], folder: Path) -> None:
    """Run several compilers at one time, in the same folder; one that fails ends the others."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        running = [pool.submit(run_compiler, command, folder) for command in commands]
        try:
            for future in running:
                future.result()
        except BaseException:  # Ctrl-C as well, which only this thread receives
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(_RUNNING):
                operating_system.kill_group(process)
            raise


def run_compiler(command: Sequence[str], folder: Path) -> None:
    """Run a compiler in a folder."""
    result = _run(command, folder=folder)
    if result.returncode != 0:
        messages = "\n  ".join(result.stderr.splitlines()[:20])
        raise FmuError(f"'{' '.join(command)}' failed ({result.returncode}):\n  {messages}")


def _run(
    command: Sequence[str], *, text: str = "", folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    with subprocess.Popen(  # noqa: S603 - the requested compiler, our own sources
        command,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        **operating_system.child_options((), outlives=False),
    ) as process:
        _RUNNING.add(process)
        try:
            output, errors = process.communicate(text)
        except BaseException:
            operating_system.kill_group(process)
            raise
        finally:
            _RUNNING.discard(process)
    return subprocess.CompletedProcess(command, process.returncode, output, errors)
