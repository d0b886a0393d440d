import gc
import importlib.util
import os
import signal
import sys
import zipfile
from contextlib import contextmanager
from pathlib import Path

import fmpy.simulation
import lark
import pytest
from compile_cache import CachedCompiler, compile_fixture, exclusive, remove_old
from hypothesis import settings
from kept_parser import kept_parser
from sharing import shared_out
from small_fmu import SMALL_FMU
from wording import Wording, WordingBook

from orchestrator.core.operating_system import platforms
from orchestrator.core.simunits import registry

# The same draws in every run: `make test` passes or fails for what the code does. To search for
# more, run pytest with --hypothesis-profile=default.
settings.register_profile("softdock", derandomize=True, deadline=None)
settings.load_profile("softdock")

gc.disable()  # while tests are collected

# What a shell starts in its background ignores Ctrl-C, and so would all that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

HERE = platforms.here()
TESTS = Path(__file__).parent
FIXTURES = TESTS / "fixtures"
BUILT = TESTS.parent / "fmus" / "build"

# Single tests elsewhere are marked where they stand.
MARKED_FOLDERS = {
    "slow": ("corpus/", "reproduction/"),
    "native": (
        "conformance/",
        "corpus/",
        "unit/core/events/",
        "unit/core/exchange/",
        "unit/engine/",
        "unit/export/",
    ),
    "reproduction": ("reproduction/",),
}


@pytest.fixture(scope="session")
def _wording_book(request, tmp_path_factory):
    rewrites = request.config.option.rewrite_wording
    if rewrites and hasattr(request.config, "workerinput"):
        pytest.fail("--rewrite-wording writes from one process: leave out -n")
    book = WordingBook(rewrites=rewrites, temporary=tmp_path_factory.getbasetemp())
    yield book
    if rewrites:
        book.write()


@pytest.fixture
def wording(request, _wording_book):
    """The sentences that this test expects; see tests/wording.py."""
    wording = Wording(_wording_book, request.node)
    yield wording
    wording.end()


@pytest.fixture(scope="session")
def worker_id():
    """Name of the worker of pytest-xdist, as its own fixture has it, also where there is none."""
    return os.environ.get("PYTEST_XDIST_WORKER", "master")


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


@pytest.fixture(scope="session", autouse=True)
def _names_are_parsed_once():
    """FMPy 0.3.32 makes its parser of variable names anew for each FMU that it validates."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lark, "Lark", kept_parser(lark.Lark))
        yield


@pytest.fixture(scope="session", autouse=True)
def _each_source_is_compiled_once():
    from orchestrator.export.codegen import compiler

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler, "_run", CachedCompiler())
        yield


@pytest.fixture(scope="session", autouse=True)
def _sockets_are_of_the_tests(tmp_path_factory):
    """Sockets of runs lie in a folder of the tests, not of the account."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_memory_is_locked():
    """All that a worker of these tests has mapped is gigabytes, which would stay with it."""
    from orchestrator.core.master.run import pacing

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pacing, "lock_memory", lambda: 0)
        yield


def pytest_addoption(parser):
    parser.addoption("--leave-out-slow", action="store_true", help="skip what is marked as slow")
    parser.addoption(
        "--rewrite-wording", action="store_true", help="write the sentences that tests expect"
    )


def pytest_sessionstart(session):
    if not hasattr(session.config, "workerinput"):
        remove_old()


def pytest_collection_modifyitems(items):
    """Mark the folders that are slow, native or reproductions; long tests begin first."""
    for item in items:
        folder = item.path.relative_to(TESTS).parent.as_posix() + "/"
        for mark, folders in MARKED_FOLDERS.items():
            if folder.startswith(folders):
                item.add_marker(mark)
    items[:] = shared_out(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def pytest_collection_finish():
    """Let the garbage collector run seldom, and pass over some thousand tests when it does."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(10_000, 20, 20)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if item.config.option.leave_out_slow and item.get_closest_marker("slow"):
        pytest.skip("slow; `make test` runs it")


class _Registered:
    """Stands in for an entry point: a name and what it loads, or the error that it raises."""

    value = "tests"
    dist = None

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
    known = dict(registry.BLOCKS.entry_points)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry.BLOCKS, "entry_points", known)
        registry.BLOCKS.class_of.cache_clear()

        def add(**blocks):
            known.update({name: _Registered(name, what) for name, what in blocks.items()})

        yield add
    registry.BLOCKS.class_of.cache_clear()


@pytest.fixture(scope="module")
def sample_blocks(register):
    """Register the blocks of tests/fixtures/sample_blocks.py; returns that module."""
    spec = importlib.util.spec_from_file_location("sample_blocks", FIXTURES / "sample_blocks.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["sample_blocks"] = module  # where pickle and get_type_hints look for it
    spec.loader.exec_module(module)
    register(**module.BLOCKS)
    return module


def _compile(folder, source, *options):
    target = folder / f"{Path(source).stem}{HERE.suffix}"
    compile_fixture(source, target, *options)
    return target


@pytest.fixture(scope="session")
def probe_library(tmp_path_factory):
    return _compile(tmp_path_factory.mktemp("probe"), "probe/probe.c")


@pytest.fixture(scope="session")
def make_fmu(probe_library, tmp_path_factory):
    """Make a probe FMU whose model description or library is changed by a function of its text."""
    description = (FIXTURES / "probe" / "modelDescription.xml").read_text(encoding="utf-8")

    def make(change=lambda text: text, *, name="Probe", options=(), folder=HERE.name):
        where = tmp_path_factory.mktemp("fmu")
        library = _compile(where, "probe/probe.c", *options) if options else probe_library
        path = where / f"{name}.fmu"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("modelDescription.xml", change(description))
            archive.write(library, f"binaries/{folder}/probe{HERE.suffix}")
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
            folder = tmp_path_factory.mktemp(name)
            libraries[name, options] = _compile(folder, f"c_fmus/{name}.c", *options)
        path = tmp_path_factory.mktemp("fmu") / f"{name}.fmu"
        binaries = HERE.folder("3.0" if name.endswith("3") else "2.0")
        with zipfile.ZipFile(path, "w") as archive:
            description = (FIXTURES / "c_fmus" / f"{name}.xml").read_text(encoding="utf-8")
            archive.writestr("modelDescription.xml", change(description))
            archive.write(libraries[name, options], f"{binaries}/{name}{HERE.suffix}")
        return path

    return make


@pytest.fixture(scope="session")
def small_fmu(tmp_path_factory):
    """Compile one of tests/fixtures/c_fmus into an FMU."""

    def make(name, *options, serializes=True, once=False):
        where = tmp_path_factory.mktemp("small")
        library = _compile(where, f"c_fmus/{name}.c", *options)
        path = where / f"{name}.fmu"
        said = {"serializes": str(serializes).lower(), "once": str(once).lower()}
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("modelDescription.xml", SMALL_FMU.format(name=name, **said))
            archive.write(library, f"{HERE.folder('2.0')}/{name}{HERE.suffix}")
        return path

    return make


@pytest.fixture(scope="session")
def shipped_fmus(worker_id):
    """The FMUs of all recipes of the project by name, built where the examples expect them."""
    from orchestrator.export import build_recipe, find_recipes

    built = {}
    for recipe in find_recipes(BUILT.parent)[:: -1 if worker_id == "gw1" else 1]:
        with exclusive(str(recipe)):  # two workers begin at both ends
            result = build_recipe(recipe, BUILT)
        built[result.name] = result.path
    return built


@pytest.fixture(scope="session")
def plants(shipped_fmus):
    """Folder of the project's FMUs."""
    return BUILT


@contextmanager
def _undrawn():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("orchestrator.pictures.plot_drawing.picture", lambda _figure, _kind: b"")
        yield


@pytest.fixture
def no_pictures():
    """Let plots be made, but not drawn: for tests that look at none. They are empty files."""
    with _undrawn():
        yield


@pytest.fixture(scope="module")
def no_pictures_in_module():
    """The same for the fixtures of a module."""
    with _undrawn():
        yield


@pytest.fixture
def softdock(monkeypatch, capsys):
    """Run a command line in this process; returns (exit code, standard output, standard error)."""
    from orchestrator.cli import main

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["softdock", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, printed.err

    return call
