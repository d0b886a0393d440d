import os
import platform
import shutil
import subprocess
import time
import zipfile
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "fixtures" / "c_fmus"
DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="{name}" guid="{{{name}}}">
  <CoSimulation modelIdentifier="{name}" canHandleVariableCommunicationStepSize="true"
    canGetAndSetFMUstate="true" canSerializeFMUstate="{serializes}"
    canBeInstantiatedOnlyOncePerProcess="{once}"/>
  <ModelVariables>
    <ScalarVariable name="u" valueReference="0" causality="input"><Real start="0"/></ScalarVariable>
    <ScalarVariable name="y" valueReference="1" causality="output" initial="exact">
      <Real start="0"/></ScalarVariable>
    <ScalarVariable name="at" valueReference="2" causality="parameter" variability="fixed">
      <Real start="1e9"/></ScalarVariable>
    <ScalarVariable name="phase" valueReference="0" causality="parameter" variability="fixed">
      <Integer start="0"/></ScalarVariable>
    <ScalarVariable name="how" valueReference="1" causality="parameter" variability="fixed">
      <Integer start="0"/></ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="2" dependencies=""/></Outputs></ModelStructure>
</fmiModelDescription>
"""


@pytest.fixture(scope="session")
def small_fmu(tmp_path_factory):
    """Compile one of tests/fixtures/c_fmus into an FMU."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None or platform.system() != "Linux":
        pytest.skip("the FMUs are compiled for Linux by gcc, which is not here")

    def make(name, *options, serializes=True, once=False):
        where = tmp_path_factory.mktemp("small")
        library = where / f"{name}.so"
        flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", *options]
        command = [compiler, *flags, "-o", str(library), str(SOURCES / f"{name}.c")]
        subprocess.run(command, check=True)  # noqa: S603 - the machine's compiler, our source
        path = where / f"{name}.fmu"
        said = {"serializes": str(serializes).lower(), "once": str(once).lower()}
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("modelDescription.xml", DESCRIPTION.format(name=name, **said))
            archive.write(library, f"binaries/linux64/{name}.so")
        return path

    return make


@pytest.fixture(scope="session")
def crash(small_fmu):
    return small_fmu("crash_on_demand")


@pytest.fixture(scope="session")
def hang(small_fmu):
    return small_fmu("hang_on_demand")


def _children():
    """Processes that this one has started and not reaped, zombies included."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(fields[1]) == os.getpid():
            found.add(int(folder.name))
    return found


def _handles():
    """Sockets, shared memory and handles of processes that this one has open."""
    kinds = ("socket:", "anon_inode:[pidfd]", "/memfd:softdock-")
    found = 0
    for file in Path("/proc/self/fd").iterdir():
        try:
            found += str(file.readlink()).startswith(kinds)
        except OSError:  # the folder itself
            continue
    return found


def _mapped():
    """Shared memory of workers in this process."""
    return Path("/proc/self/maps").read_text().count("/memfd:softdock-")


@pytest.fixture(autouse=True)
def _nothing_is_left_behind(tmp_path, monkeypatch):
    """No process, no zombie, no shared memory, no file descriptor, no temporary folder."""
    import gc
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gc.collect()
    before = _children(), _mapped(), _handles()
    yield
    for _ in range(20):  # what a failed test's traceback held is freed a moment later
        gc.collect()
        after = _children(), _mapped(), _handles()
        if after == before:
            break
        time.sleep(0.05)
    assert after == before
    assert not list(tmp_path.glob("softdock-worker-*"))
