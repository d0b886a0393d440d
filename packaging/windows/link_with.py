"""Import libraries and headers for extensions of CPython on 64-bit Windows, from PyPI.

python.org has no files on PyPI, but the wheels of panda3d carry its ``python311.dll`` and
``python312.dll``, to bundle them with games. The headers are those of a CPython of this machine,
with a ``pyconfig.h`` for Windows. Versions are written as in the names of those files: ``311``.
"""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "windows"
_SOURCE = "panda3d==1.10.16"
#: Files of CPython in that package, and the C run-time library that they need.
_OF_PYTHON = re.compile(
    r"(?:.*/)?(?:python3\d\d\.dll|(?i:vcruntime140(?:_1)?\.dll))"
    r"|(?:.*/)?deploy_libs/(?:[^/]+\.pyd|lib[^/]+\.dll|sqlite3\.dll)"
)


def zig(*words: str | Path) -> None:
    """Run Zig; raises CalledProcessError."""
    subprocess.run([sys.executable, "-m", "ziglang", *words], check=True)


def asked(python: str, code: str) -> str:
    """Return what a Python of this machine prints."""
    return subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout


def version_of(python: str) -> str:
    """Return the version of a Python of this machine, such as ``311``."""
    return asked(python, "import sys; print('%d%d' % sys.version_info[:2], end='')")


def interpreter(version: str) -> Path:
    """Return the folder of ``python3XY.dll`` and its extension modules; fetch them once."""
    folder = BUILD / f"cpython-{version}"
    if not folder.is_dir():
        draft = BUILD / f"cpython-{version}-draft"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        options = ["--quiet", "--only-binary", ":all:", "--platform", "win_amd64"]
        options += ["--python-version", version, "--no-deps", "--dest", str(draft)]
        subprocess.run([sys.executable, "-m", "pip", "download", *options, _SOURCE], check=True)
        (wheel,) = draft.glob("panda3d-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for entry in filter(_OF_PYTHON.fullmatch, archive.namelist()):
                (draft / Path(entry).name).write_bytes(archive.read(entry))
        wheel.unlink()
        draft.rename(folder)
    return folder


def import_library(version: str, *, stable: bool = False) -> Path:
    """Return the import library of ``python3XY.dll``, made from the functions that it exports.

    With ``stable`` that of ``python3.dll``, which hands on to the library of each later version
    what belongs to the stable ABI: the headers declare nothing else to such an extension.
    """
    imported = "python3" if stable else f"python{version}"
    library = BUILD / f"{imported}.lib"
    if not library.is_file():
        content = (interpreter(version) / f"python{version}.dll").read_bytes()
        lines = [f"  {name}{'' if is_code else ' DATA'}" for name, is_code in exports(content)]
        definition = library.with_suffix(".def")
        definition.write_text("\n".join([f"LIBRARY {imported}.dll", "EXPORTS", *lines, ""]))
        zig("dlltool", "-d", definition, "-l", library, "-m", "i386:x86-64")
    return library


def headers(python: str) -> Path:
    """Return the folder of headers for Windows: those of a Python of this machine, one replaced."""
    folder = BUILD / f"include-{version_of(python)}"
    if not folder.is_dir():
        draft = folder.with_name(f"{folder.name}-draft")
        shutil.rmtree(draft, ignore_errors=True)
        here = "import sysconfig; print(sysconfig.get_paths()['include'], end='')"
        shutil.copytree(asked(python, here), draft)
        shutil.copy(HERE / "pyconfig.h", draft)
        draft.rename(folder)
    return folder


def exports(data: bytes) -> Iterator[tuple[str, bool]]:
    """Yield the names that a library of Windows exports, and whether they are functions."""
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
