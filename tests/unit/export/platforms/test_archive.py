"""Archives for several platforms: their folders, libraries and sources; what cannot be built."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy import extract, read_model_description, simulate_fmu, supported_platforms
from fmpy.validation import validate_fmu

from orchestrator.core.diagnostics import CapabilityError, FmuError, UnknownNameError
from orchestrator.core.simunits import fmu
from orchestrator.core.system import System
from orchestrator.export import Solver, build_block, build_model
from orchestrator.export.codegen import compiler
from orchestrator.export.codegen.compiler import zig_path
from orchestrator.export.recipe import platforms_of
from orchestrator.export.system import export_system

Command = Callable[..., tuple[int, str, str]]
FOLDERS = {
    "2.0": ("linux64", "win64", "darwin64", "aarch64-linux", "aarch64-darwin"),
    "3.0": (
        *("x86_64-linux", "x86_64-windows", "x86_64-darwin"),
        *("aarch64-linux", "aarch64-darwin"),
    ),
}
SUFFIXES = (".so", ".dll", ".dylib", ".so", ".dylib")
ELF, MACH, PE = b"\x7fELF", b"\xcf\xfa\xed\xfe", b"MZ"
MAGICS = (ELF, PE, MACH, ELF, MACH)
#: Processor by the headers of ELF, PE and Mach-O.
PROCESSORS = (0x3E, 0x8664, 0x01000007, 0xB7, 0x0100000C)


def processor(library: bytes) -> int:
    if library.startswith(ELF):
        return int(struct.unpack_from("<H", library, 18)[0])
    if library.startswith(MACH):
        return int(struct.unpack_from("<I", library, 4)[0])
    (header,) = struct.unpack_from("<I", library, 0x3C)
    assert library[header : header + 4] == b"PE\0\0"
    return int(struct.unpack_from("<H", library, header + 4)[0])


def exports(library: bytes) -> Iterator[str]:
    """Names of the functions that a DLL exports."""
    (header,) = struct.unpack_from("<I", library, 0x3C)
    count, optional = struct.unpack_from("<H12xH", library, header + 6)
    sections = [
        struct.unpack_from("<IIII", library, header + 24 + optional + 40 * n + 8)
        for n in range(count)
    ]

    def place(address: int) -> int:
        for size, start, raw_size, raw in sections:
            if start <= address < start + max(size, raw_size):
                return int(address - start + raw)
        raise AssertionError(address)

    (table,) = struct.unpack_from("<I", library, header + 24 + 112)
    names, listed = struct.unpack_from("<I4xI", library, place(table) + 24)[0], place(table) + 32
    (listed,) = struct.unpack_from("<I", library, listed)
    for n in range(names):
        (name,) = struct.unpack_from("<I", library, place(listed) + 4 * n)
        yield library[place(name) :].partition(b"\0")[0].decode()


@pytest.mark.slow
@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_one_archive_for_all_platforms(plant: Mapping[str, Path], fmi: str) -> None:
    assert validate_fmu(str(plant[fmi])) == []
    assert {"linux64", "win64", "darwin64"} <= set(supported_platforms(str(plant[fmi])))
    with zipfile.ZipFile(plant[fmi]) as archive:
        found = {name for name in archive.namelist() if name.startswith("binaries/")}
        wanted = [
            f"binaries/{folder}/Plant{suffix}"
            for folder, suffix in zip(FOLDERS[fmi], SUFFIXES, strict=True)
        ]
        assert found == set(wanted)
        libraries = [archive.read(name) for name in wanted]
    for library, magic, kind in zip(libraries, MAGICS, PROCESSORS, strict=True):
        assert library.startswith(magic)
        assert processor(library) == kind
    prefix = f"fmi{fmi[0]}"
    seen = list(exports(libraries[1]))
    assert {f"{prefix}DoStep", f"{prefix}GetVersion"} <= set(seen)
    assert all(name.startswith(prefix) for name in seen)


@pytest.mark.slow
@pytest.mark.usefixtures("uncached_compiler")
def test_equal_sources_make_equal_archives(source: Path, tmp_path: Path) -> None:
    """Also for macOS, whose linker writes the name of its output into it."""
    pytest.importorskip("ziglang", reason="ziglang, the extra 'cross', is not installed")
    one, other = (
        build_model(
            None, source, tmp_path / name, platforms=("win64", "darwin64")
        ).path.read_bytes()
        for name in ("one", "other")
    )
    assert one == other


@pytest.mark.usefixtures("checked_sources")
def test_without_sources(source: Path, softdock: Command, tmp_path: Path) -> None:
    for option, count in (((), 0), (("--without-sources",), 0), (("--without-sources",), 1)):
        code, out, _ = softdock("build", source, "--output", tmp_path, *option, "--json")
        assert (code, json.loads(out)[0]["cached"]) == (0, bool(count))
    with zipfile.ZipFile(tmp_path / "Plant.fmu") as archive:
        assert not [name for name in archive.namelist() if name.startswith("sources/")]
        assert b"SourceFiles" not in archive.read("modelDescription.xml")
        assert "binaries/linux64/Plant.so" in archive.namelist()


def test_platforms_by_both_names_each_once() -> None:
    names = ("x86_64-windows", "linux64", "win64", "aarch64-linux")
    assert [each.name for each in platforms_of(names)] == ["win64", "linux64", "aarch64-linux"]


@pytest.mark.parametrize(
    "command", [("build", "Plant.mo"), ("export", "block", "spring_dashpot"), ("export", "fmu")]
)
def test_an_unknown_platform(
    command: tuple[str, ...], source: Path, softdock: Command, tmp_path: Path, wording
) -> None:
    words: list[Any] = [source if word == "Plant.mo" else word for word in command]
    if command[-1] == "fmu":
        words += [Path(__file__).parents[4] / "examples" / "epos", "--case", "ideal"]
    output = tmp_path / "x.fmu"
    code, out, err = softdock(*words, "--platform", "win64,win65", "--output", output)
    assert (code, out) == (2, "")
    assert "platform 'win65': expected one of linux64, x86_64-linux, win64" in " ".join(err.split())
    with wording.raises(UnknownNameError):
        platforms_of(["vms"])


def test_without_zig(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "find_spec", lambda name: None)
    zig_path.cache_clear()
    told = r"need the compiler of the package ziglang, .* pip install 'softdock\[cross\]'"
    with pytest.raises(FmuError, match=told):
        build_model(None, source, tmp_path, platforms=["win64"])
    zig_path.cache_clear()
    assert list(tmp_path.iterdir()) == []


def test_what_has_no_library_for_a_platform(
    source: Path, plants: Path, tmp_path: Path, sample_blocks: object
) -> None:
    del sample_blocks
    pytest.importorskip("ziglang", reason="ziglang, the extra 'cross', is not installed")
    solver = Solver("cvode")
    with pytest.raises(FmuError, match="'cvode' links SUNDIALS of this machine, and not for win64"):
        build_model(None, source, tmp_path, platforms=["win64"], solver=solver)
    with pytest.raises(FmuError, match="a library of pythonfmu for darwin64"):
        build_block("lag", tmp_path, python=True, platforms=["darwin64"])
    system = System("it").add("chaser", fmu(plants / "Chaser.fmu"))
    told = r"'chaser' .*Chaser\.fmu\) has no binary for win64: .* --platform linux64,win64$"
    with pytest.raises(CapabilityError, match=told):
        export_system(system, tmp_path / "it.fmu", platforms=["win64"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cmake") is None, reason="CMake is not installed")
@pytest.mark.parametrize(("fmi", "kind"), [("2.0", "gcc"), ("3.0", "gcc"), ("3.0", "clang")])
def test_its_own_cmake_file_builds_it(source: Path, tmp_path: Path, fmi: str, kind: str) -> None:
    built = build_model(None, source, tmp_path, fmi=(fmi,))
    unpacked, work = Path(extract(str(built.path), str(tmp_path / "it"))), tmp_path / "work"
    shutil.rmtree(unpacked / "binaries")
    options = f"-DCMAKE_C_COMPILER={_c(kind, tmp_path)}", "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror"
    configure = ["cmake", "-S", unpacked / "sources", "-B", work, *options]
    for command in (configure, ["cmake", "--build", work], ["cmake", "--install", work]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        assert done.returncode == 0, done.stdout + done.stderr
        assert "warning" not in (done.stdout + done.stderr).lower()
    assert (unpacked / "binaries" / FOLDERS[fmi][0] / "Plant.so").is_file()
    description = read_model_description(str(unpacked))
    again, expected = (
        simulate_fmu(str(it), stop_time=2.0, model_description=description, output_interval=0.1)
        for it in (unpacked, built.path)
    )
    np.testing.assert_array_equal(again, expected)
    assert np.ptp(again["y"]) > 1.0


def _c(kind: str, folder: Path) -> str:
    """Path of a compiler; that of Zig is Clang."""
    if found := shutil.which(kind):
        return found
    pytest.importorskip("ziglang", reason=f"{kind} is not installed")
    script = folder / kind
    script.write_text(f'#!/bin/sh\nexec "{zig_path()}" cc "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    return str(script)
