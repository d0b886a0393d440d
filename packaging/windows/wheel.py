"""The engine for 64-bit Windows, compiled by Zig, and its wheels: win_amd64.

One for CPython 3.11, and one (abi3) for 3.12 and all later ones. The CMake file makes a wheel of
everything but the engine, as for Linux; the engine is added.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import nanobind
from link_with import BUILD, ROOT, headers, import_library, version_of, zig

ENGINE = ROOT / "orchestrator" / "engine"
SOURCES = ENGINE / "src"
_NANOBIND = Path(nanobind.__file__).parent
_TARGET = ("-target", "x86_64-windows-gnu")
#: No fused multiply-add, as in the CMake file.
_OPTIONS = ("c++", *_TARGET, "-std=c++17", "-O2", "-ffp-contract=off", "-c")
_STRICT = ("-Wall", "-Wextra", "-Werror")
_SYSTEM = "softdock_system.dll"


class Interface(NamedTuple):
    """An interface between extension and CPython.

    tag: Of the wheel.
    module: Name of the extension module's file.
    options: Of the compiler, for what includes Python's headers.
    library: Import library.
    """

    tag: str
    module: str
    options: tuple[str | Path, ...]
    library: Path


def interface(python: str) -> Interface:
    """Return the interface of a CPython of this machine: the stable ABI from 3.12 on."""
    version = version_of(python)
    includes = ("-I", headers(python))
    if int(version) < 312:
        name = f"cp{version}"
        return Interface(
            f"{name}-{name}-win_amd64",
            f"_engine.{name}-win_amd64.pyd",
            includes,
            import_library(version),
        )
    return Interface(
        "cp312-abi3-win_amd64",
        "_engine.pyd",
        # Python.h of the stable ABI leaves out a header that nanobind needs.
        (*includes, "-include", "cstdio", "-DPy_LIMITED_API=0x030C0000"),
        import_library(version, stable=True),
    )


def sources() -> dict[str, list[str]]:
    """Return the files of the CMake file by target, without those of its POSIX side."""
    text = (ENGINE / "CMakeLists.txt").read_text(encoding="utf-8")
    core, bindings = (
        re.findall(r"src/\S+\.cpp", re.search(rf"set\({name}\n(.*?)\n\)", text, re.DOTALL)[1])
        for name in ("CORE", "BINDINGS")
    )
    module, system = (
        re.findall(r"src/\S+\.cpp", re.search(rf"{begin}(.*?)\n\)", text, re.DOTALL)[1])
        for begin in (r"nanobind_add_module\(_engine ", r"add_library\(softdock_system MODULE\n")
    )
    module = [file.replace("src/posix/", "src/windows/") for file in module]
    return {"core": core, "bindings": bindings, "module": module, "system": system}


def compiled(interfaces: Sequence[Interface]) -> tuple[list[Path], Path]:
    """Compile and link a module for each interface and the library of exported systems.

    Raises
    ------
    subprocess.CalledProcessError
        If Zig refuses a file; every warning is an error.
    """
    made = BUILD / "objects"
    made.mkdir(parents=True, exist_ok=True)
    files = sources()
    jobs: list[tuple[Path, Sequence[str | Path], Path]] = []
    groups = {"core": [], "module": [], "system": []}
    for kind, objects in groups.items():
        for room in sorted({file.split("/")[1] for file in files[kind]}):
            unity = made / f"{kind}_{room}.cpp"
            lines = [f'#include "{f[4:]}"\n' for f in files[kind] if f.split("/")[1] == room]
            if not unity.is_file() or unity.read_text() != "".join(lines):
                unity.write_text("".join(lines))
            objects.append(unity.with_suffix(".o"))
            jobs.append((unity, _STRICT, objects[-1]))
    extra = ["-w", "-fno-strict-aliasing", "-I", _NANOBIND / "ext" / "robin_map" / "include"]
    bound: list[list[Path]] = []
    for each in interfaces:
        folder = made / each.tag
        folder.mkdir(exist_ok=True)
        python = (*each.options, "-I", _NANOBIND / "include", "-DNB_STATIC")
        jobs.extend(
            (ENGINE / file, (*_STRICT, *python), folder / f"{Path(file).stem}.o")
            for file in files["bindings"]
        )
        combined = _NANOBIND / "src" / "nb_combined.cpp"
        jobs.append((combined, (*extra, *python), folder / "nanobind.o"))
        bound.append([target for *_, target in jobs if target.parent == folder])

    def build(job: tuple[Path, Sequence[str | Path], Path]) -> None:
        source, options, target = job
        zig(*_OPTIONS, "-I", SOURCES, "-I", ROOT / "orchestrator" / "export", *options, source,
            "-o", target)  # fmt: skip

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(build, jobs))
    link = ("c++", *_TARGET, "-shared", "-s", "-o")
    modules = [made / each.module for each in interfaces]
    for module, each, objects in zip(modules, interfaces, bound, strict=True):
        zig(*link, module, *groups["core"], *groups["module"], *objects, each.library)
    system = made / _SYSTEM
    zig(*link, system, *groups["core"], *groups["system"])
    return modules, system


def without_engine(folder: Path) -> Path:
    """Make the wheel of everything but the engine; returns it."""
    shutil.rmtree(folder, ignore_errors=True)
    settings = [
        f"build-dir={folder / 'cmake'}",
        "wheel.py-api=",
        "cmake.define.SOFTDOCK_ENGINE=OFF",
    ]
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", ROOT, "--no-deps", "--quiet", "--wheel-dir", folder]
        + [f"--config-settings={setting}" for setting in settings],
        check=True,
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def wheel_of(base: Path, output: Path, tag: str, libraries: Sequence[Path]) -> Path:
    """Write the wheel for Windows: one without an engine, the libraries, and the tag."""
    output.mkdir(parents=True, exist_ok=True)
    name, version = base.name.split("-")[:2]
    path = output / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(base) as archive:
        entries = {
            entry: archive.read(entry)
            for entry in archive.namelist()
            if not entry.endswith(("/RECORD", "/"))
        }
    info = f"{name}-{version}.dist-info"
    lines = [f for f in entries[f"{info}/WHEEL"].decode().splitlines() if not f.startswith("Tag:")]
    entries[f"{info}/WHEEL"] = "\n".join([*filter(None, lines), f"Tag: {tag}", ""]).encode()
    for library in libraries:
        entries[f"orchestrator/engine/{library.name}"] = library.read_bytes()
    record = f"{info}/RECORD"
    rows = [f"{entry},sha256={_hash(data)},{len(data)}" for entry, data in sorted(entries.items())]
    entries[record] = "\n".join([*rows, f"{record},,", ""]).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in entries.items():
            archive.writestr(zipfile.ZipInfo(entry), data, zipfile.ZIP_DEFLATED)
    return path


def _hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def main() -> None:
    """Compile, make the wheels, and print what they have."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    parser.add_argument(
        "--python",
        action="append",
        help="A CPython 3.11 or 3.12 of this machine, whose headers are used; several times;"
        " default: this one",
    )
    options = parser.parse_args()
    pythons = options.python or [sys.executable]
    if missing := [python for python in pythons if shutil.which(python) is None]:
        parser.error(f"{', '.join(missing)}: not found; name others with --python")
    interfaces = [interface(python) for python in pythons]
    modules, system = compiled(interfaces)
    base = without_engine(BUILD / "wheel")
    for each, module in zip(interfaces, modules, strict=True):
        path = wheel_of(base, options.output, each.tag, [module, system])
        with zipfile.ZipFile(path) as archive:
            files = archive.infolist()
        size = sum(file.file_size for file in files)
        print(
            f"{path}: {path.stat().st_size / 1e6:.2f} MB, {len(files)} files of {size / 1e6:.1f}"
            f" MB; engine {module.stat().st_size / 1e6:.2f} MB"
        )


if __name__ == "__main__":
    main()
