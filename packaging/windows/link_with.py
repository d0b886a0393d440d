"""What extensions of CPython 3.11 for 64-bit Windows link with, made from a package of PyPI.

python.org has no files on PyPI, but the wheel of panda3d carries its ``python311.dll``, to
bundle it with games. The headers are those of this Python, with a ``pyconfig.h`` for Windows.
"""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "windows"
_SOURCE = "panda3d==1.10.16"
#: Files of CPython in that package, and the C run-time library that they need.
_OF_PYTHON = re.compile(
    r"(?:.*/)?(?:python311\.dll|(?i:vcruntime140(?:_1)?\.dll))"
    r"|(?:.*/)?deploy_libs/(?:[^/]+\.pyd|lib[^/]+\.dll|sqlite3\.dll)"
)


def zig(*words: str | Path) -> None:
    """Run Zig; raises CalledProcessError."""
    subprocess.run([sys.executable, "-m", "ziglang", *words], check=True)


def interpreter() -> Path:
    """Return the folder of ``python311.dll`` and its extension modules; fetch them once."""
    folder = BUILD / "cpython"
    if not folder.is_dir():
        draft = BUILD / "cpython-draft"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        options = ["--quiet", "--only-binary", ":all:", "--platform", "win_amd64"]
        options += ["--python-version", "3.11", "--no-deps", "--dest", str(draft)]
        subprocess.run([sys.executable, "-m", "pip", "download", *options, _SOURCE], check=True)
        (wheel,) = draft.glob("panda3d-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for entry in filter(_OF_PYTHON.fullmatch, archive.namelist()):
                (draft / Path(entry).name).write_bytes(archive.read(entry))
        wheel.unlink()
        draft.rename(folder)
    return folder


def import_library() -> Path:
    """Return the import library of ``python311.dll``, made from the functions that it exports."""
    library = BUILD / "python311.lib"
    if not library.is_file():
        content = (interpreter() / "python311.dll").read_bytes()
        lines = [f"  {name}{'' if is_code else ' DATA'}" for name, is_code in exports(content)]
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
