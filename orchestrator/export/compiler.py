"""The C compiler that turns generated sources into an FMU's shared library."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from orchestrator.errors import FmuError

# No contraction to fused multiply-add: the same FMU gives the same bits on every machine.
FLAGS = (
    "-std=c11",
    "-O2",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-ffp-contract=off",
)


def compiler_path() -> str:
    """Path of the C compiler: the environment's CC, or gcc.

    Raises
    ------
    FmuError
        If it is not installed.
    """
    name = os.environ.get("CC", "gcc")
    path = shutil.which(name)
    if path is None:
        raise FmuError(
            f"no C compiler: '{name}' is not on PATH; install it (apt install gcc) or set CC"
        )
    return path


@cache
def compiler_version(path: str) -> str:
    """First line of ``--version``."""
    result = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    return result.stdout.partition("\n")[0]


def compile_library(sources: Path, main: str, library: Path, warnings: Sequence[str] = ()) -> None:
    """Compile ``sources / main`` into a shared library.

    Parameters
    ----------
    sources, main
        Folder, and the file in it that includes the rest.
    library
        What is written.
    warnings
        Further options; the project's own tests ask for all warnings as errors.

    Raises
    ------
    FmuError
        If the compiler fails; the message holds its first lines.
    """
    # The compiler works in the folder of the sources: a relative target would be looked for there.
    target = str(library.resolve())
    command = [compiler_path(), *FLAGS, *warnings, "-o", target, main, "-lm"]
    result = subprocess.run(  # noqa: S603 - our own sources, no shell
        command, cwd=sources, capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        shown = "\n  ".join(result.stderr.splitlines()[:20])
        raise FmuError(f"'{' '.join(command)}' failed ({result.returncode}):\n  {shown}")
