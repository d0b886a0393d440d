import importlib.util
import platform
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import fmpy.simulation
import pytest
from hypothesis import settings

from orchestrator.simunits import registry

# The same draws in every run: `make test` passes or fails for what the code does. To search for
# more, run pytest with --hypothesis-profile=default.
settings.register_profile("softdock", derandomize=True, deadline=None)
settings.load_profile("softdock")

FIXTURES = Path(__file__).parent / "fixtures"
SMALL_FMU = """<?xml version="1.0" encoding="UTF-8"?>
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


@pytest.fixture(scope="session", autouse=True)
def _loggers_outlive_their_fmu():
    """FMPy 0.3.32 sends FMI 2.0 messages to the last logger given to any simulation, freed or not.

    ``simulate_fmu(.., logger=f)`` stores the C function of ``f`` in a global place; a later
    simulation without a logger of its own still calls it.
    """
    kept = []
    make = fmpy.simulation.fmi2CallbackLoggerTYPE

    def keeping(function):
        kept.append(make(function))
        return kept[-1]

    fmpy.simulation.fmi2CallbackLoggerTYPE = keeping
    yield
    fmpy.simulation.fmi2CallbackLoggerTYPE = make


class _Registered:
    """Stands in for an entry point: a name and what it loads, or the error that it raises."""

    value = "tests"

    def __init__(self, name, what):
        self.name = name
        self.what = what

    def load(self):
        if isinstance(self.what, Exception):
            raise self.what
        return self.what


@pytest.fixture(scope="module")
def register():
    """Register blocks by name for this module: ``register(name=BlockClass)``."""
    known = dict(registry._entry_points())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_entry_points", lambda: known)
        registry._registered_class.cache_clear()

        def add(**blocks):
            known.update({name: _Registered(name, what) for name, what in blocks.items()})

        yield add
    registry._registered_class.cache_clear()


@pytest.fixture(scope="module")
def toys(register):
    """Register the blocks of tests/fixtures/toy_blocks.py; returns that module."""
    spec = importlib.util.spec_from_file_location("toy_blocks", FIXTURES / "toy_blocks.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["toy_blocks"] = module  # where pickle and get_type_hints look for it
    spec.loader.exec_module(module)
    register(**module.BLOCKS)
    return module


def _compile(folder, *options, source=FIXTURES / "probe" / "probe.c"):
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None or platform.system() != "Linux":
        pytest.skip("FMUs in C are compiled for Linux by gcc, which is not here")
    target = folder / f"{source.stem}.so"
    flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", *options]
    command = [compiler, *flags, "-o", str(target), str(source), "-lm"]
    subprocess.run(command, check=True)  # noqa: S603 - the machine's compiler, our source
    return target


@pytest.fixture(scope="session")
def probe_library(tmp_path_factory):
    return _compile(tmp_path_factory.mktemp("probe"))


@pytest.fixture(scope="session")
def make_fmu(probe_library, tmp_path_factory):
    """Make a probe FMU whose model description or library is changed by a function of its text."""
    description = (FIXTURES / "probe" / "modelDescription.xml").read_text()

    def make(change=lambda text: text, *, name="Probe", options=(), folder="linux64"):
        where = tmp_path_factory.mktemp("fmu")
        library = _compile(where, *options) if options else probe_library
        path = where / f"{name}.fmu"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("modelDescription.xml", change(description))
            archive.write(library, f"binaries/{folder}/probe.so")
        return path

    return make


@pytest.fixture(scope="session")
def probe(make_fmu):
    """The unchanged probe FMU; see tests/fixtures/probe/probe.c."""
    return make_fmu()


@pytest.fixture(scope="session")
def c_fmu(tmp_path_factory):
    """Make an FMU of tests/fixtures/c_fmus by name; its description may be changed as a text."""
    libraries = {}

    def make(name, change=lambda text: text, *, options=()):
        if (name, options) not in libraries:
            folder, source = tmp_path_factory.mktemp(name), FIXTURES / "c_fmus" / f"{name}.c"
            libraries[name, options] = _compile(folder, *options, source=source)
        path = tmp_path_factory.mktemp("fmu") / f"{name}.fmu"
        platform_name = "x86_64-linux" if name.endswith("3") else "linux64"
        with zipfile.ZipFile(path, "w") as archive:
            description = (FIXTURES / "c_fmus" / f"{name}.xml").read_text()
            archive.writestr("modelDescription.xml", change(description))
            archive.write(libraries[name, options], f"binaries/{platform_name}/{name}.so")
        return path

    return make


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
        command = [compiler, *flags, "-o", str(library), str(FIXTURES / "c_fmus" / f"{name}.c")]
        subprocess.run(command, check=True)  # noqa: S603 - the machine's compiler, our source
        path = where / f"{name}.fmu"
        said = {"serializes": str(serializes).lower(), "once": str(once).lower()}
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("modelDescription.xml", SMALL_FMU.format(name=name, **said))
            archive.write(library, f"binaries/linux64/{name}.so")
        return path

    return make


@pytest.fixture(scope="session")
def plants():
    """Folder of the project's FMUs, built where the examples expect them."""
    from orchestrator.export import build_recipe, find_recipes

    root = Path(__file__).parents[1]
    for recipe in find_recipes(root / "fmus"):
        build_recipe(recipe, root / "fmus" / "build")
    return root / "fmus" / "build"
