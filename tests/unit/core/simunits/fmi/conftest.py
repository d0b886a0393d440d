import sys
import zipfile
from importlib.util import find_spec

import pytest
from compile_cache import FIXTURES, compiled
from small_fmu import SMALL_FMU

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.simunits.fmi import wine

TARGET = ("-target", "x86_64-windows-gnu", "-shared", "-O1")


@pytest.fixture(scope="session")
def windows():
    """Wine with Softdock's prefix and the host program; skips where they cannot be had."""
    if find_spec("ziglang") is None:
        pytest.skip("ziglang, the extra 'cross', is not installed")
    try:
        wine.prefix()
        return wine.host_program()
    except CapabilityError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def windows_library(windows, tmp_path_factory):
    """Compile one of tests/fixtures/c_fmus for 64-bit Windows."""
    del windows

    def make(source, *options):
        target = tmp_path_factory.mktemp("windows") / f"{source}.dll"
        command = [sys.executable, "-m", "ziglang", "cc", *TARGET, *options, "-o", str(target)]
        done = compiled([*command, f"c_fmus/{source}.c"], FIXTURES)
        assert done.returncode == 0, done.stderr
        return target

    return make


@pytest.fixture(scope="session")
def windows_fmu(windows_library, tmp_path_factory):
    """Compile one of tests/fixtures/c_fmus into an FMU that has a library for Windows only."""

    def make(name, *options):
        path = tmp_path_factory.mktemp("small") / f"{name}.fmu"
        with zipfile.ZipFile(path, "w") as archive:
            text = SMALL_FMU.format(name=name, serializes="true", once="false")
            archive.writestr("modelDescription.xml", text)
            archive.write(windows_library(name, *options), f"binaries/win64/{name}.dll")
        return path

    return make


@pytest.fixture(scope="session")
def both_platforms(windows_library, c_fmu, tmp_path_factory):
    """An FMU of tests/fixtures/c_fmus that has its own description, for Linux and for Windows."""

    def make(name, folder):
        path = tmp_path_factory.mktemp("both") / f"{name}.fmu"
        with zipfile.ZipFile(c_fmu(name)) as there, zipfile.ZipFile(path, "w") as archive:
            for entry in there.namelist():
                archive.writestr(entry, there.read(entry))
            archive.write(windows_library(name), f"binaries/{folder}/{name}.dll")
        return path

    return make
