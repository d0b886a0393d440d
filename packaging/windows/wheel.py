"""The engine for 64-bit Windows, compiled by Zig, and its wheel: win_amd64, CPython 3.11.

The wheel is that of Linux for the same Python with other libraries: nothing else in it differs.
``python packaging/windows/wheel.py`` compiles; ``--wheel LINUX.whl --output DIST`` makes the wheel.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
import sys
import zipfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nanobind
from link_with import BUILD, headers, import_library, zig

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "orchestrator" / "engine"
SOURCES = ENGINE / "src"
TAG = "cp311-cp311-win_amd64"
_NANOBIND = Path(nanobind.__file__).parent
_TARGET = ("-target", "x86_64-windows-gnu")
#: No fused multiply-add, as in the CMake file.
_OPTIONS = ("c++", *_TARGET, "-std=c++17", "-O2", "-ffp-contract=off", "-c")
_STRICT = ("-Wall", "-Wextra", "-Werror")
_MODULE = "_engine.cp311-win_amd64.pyd"
_SYSTEM = "softdock_system.dll"
#: What of Linux a wheel for Windows does not have.
_LINUX_ONLY = re.compile(r"orchestrator/engine/(.*\.so|fmu_host\.exe)|softdock\.libs/.*")


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


def compiled() -> tuple[Path, Path]:
    """Compile and link the module and the library of exported systems; returns both.

    Raises
    ------
    subprocess.CalledProcessError
        If Zig refuses a file; every warning is an error.
    """
    made = BUILD / "objects"
    made.mkdir(parents=True, exist_ok=True)
    files = sources()
    python = ["-I", headers(), "-I", _NANOBIND / "include", "-DNB_STATIC"]
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
    for file in files["bindings"]:
        target = made / f"{Path(file).stem}.o"
        groups["module"].append(target)
        jobs.append((ENGINE / file, (*_STRICT, *python), target))
    extra = ["-w", "-fno-strict-aliasing", "-I", _NANOBIND / "ext" / "robin_map" / "include"]
    combined = made / "nanobind.o"
    groups["module"].append(combined)
    jobs.append((_NANOBIND / "src" / "nb_combined.cpp", (*extra, *python), combined))

    def build(job: tuple[Path, Sequence[str | Path], Path]) -> None:
        source, options, target = job
        zig(*_OPTIONS, "-I", SOURCES, "-I", ROOT / "orchestrator" / "export", *options, source,
            "-o", target)  # fmt: skip

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(build, jobs))
    link = ("c++", *_TARGET, "-shared", "-s", "-o")
    module, system = made / _MODULE, made / _SYSTEM
    zig(*link, module, *groups["core"], *groups["module"], import_library())
    zig(*link, system, *groups["core"], *groups["system"])
    return module, system


def wheel_of(linux: Path, output: Path, libraries: Mapping[str, Path]) -> Path:
    """Write the wheel for Windows: all of a wheel for Linux, but for its libraries and tags."""
    output.mkdir(parents=True, exist_ok=True)
    name, version = linux.name.split("-")[:2]
    path = output / f"{name}-{version}-{TAG}.whl"
    entries: dict[str, bytes] = {}
    with zipfile.ZipFile(linux) as archive:
        for entry in archive.namelist():
            if not _LINUX_ONLY.fullmatch(entry) and not entry.endswith(("/RECORD", "/")):
                entries[entry] = archive.read(entry)
    info = f"{name}-{version}.dist-info"
    lines = [f for f in entries[f"{info}/WHEEL"].decode().splitlines() if not f.startswith("Tag:")]
    entries[f"{info}/WHEEL"] = "\n".join([*filter(None, lines), f"Tag: {TAG}", ""]).encode()
    for file, library in libraries.items():
        entries[f"orchestrator/engine/{file}"] = library.read_bytes()
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
    """Compile, and make the wheel if one for Linux is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=Path, help="Wheel for Linux and CPython 3.11")
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    options = parser.parse_args()
    module, system = compiled()
    print(f"{module}: {module.stat().st_size / 1e6:.2f} MB", file=sys.stderr)
    if options.wheel is not None:
        path = wheel_of(options.wheel, options.output, {_MODULE: module, _SYSTEM: system})
        print(f"{path}: {path.stat().st_size / 1e6:.2f} MB", file=sys.stderr)


if __name__ == "__main__":
    main()
