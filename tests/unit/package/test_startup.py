"""What start-up loads: little, and each room's names whatever was imported before."""

import json
import subprocess
import sys

import pytest

from orchestrator.cli.main import HOMES

#: What takes longer than all of start-up should, and a run of FMUs does not need either.
HEAVY = {
    "casadi",
    "email",
    "fmpy",
    "http",
    "importlib.metadata",
    "jinja2",
    "matplotlib",
    "multiprocessing",
    "networkx",
    "numba",
    "numpy",
    "pandas",
    "pint",
    "pyarrow",
    "pydantic",
    "rich",
    "rumoca",
    "scipy",
    "tomlkit",
    "tomllib",
}
#: What a run needs beyond.
FOR_RUNS = {"lxml"}
ROOMS = [
    "author",
    "core.coupling",
    "core.master",
    "core.recording",
    "core.simunits",
    "core.ssp",
    "core.system",
    "export",
    "loops.contact",
    "pictures",
    "pictures.animation",
    "pictures.drawing",
    "study",
    "study.energy",
    "study.measure",
]


def _loaded(code: str) -> set[str]:
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "code",
    [
        "import orchestrator",
        "from orchestrator import System, simulate",
        (
            "import sys\n"
            "from orchestrator.__main__ import main\n"
            "sys.argv = ['softdock', '--help']\n"
            "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code"
        ),
    ],
    ids=["import", "names", "help"],
)
def test_start_up_loads_nothing_heavy(code):
    assert _loaded(code) & (HEAVY | FOR_RUNS) == set()


def test_a_run_of_fmus_loads_nothing_that_it_does_not_use(plants):
    code = f"""
from orchestrator import Execution, System, fmu
part = fmu({str(plants / "PositionAxis.fmu")!r})
system = System("pair").add("a", part, position_command=1.0).add("b", part)
system = system.connect("a.position", "b.position_command")
with Execution(system, step="1 ms", algorithm="jacobi", record=["b.position"]) as run:
    run.advance("1 ms")
"""
    loaded = _loaded(code)
    assert loaded & HEAVY == set()
    of_blocks = {name for name in loaded if name.startswith("orchestrator.core.simunits.blocks.")}
    others = {f"orchestrator.core.simunits.fmi.fmi{version}_unit" for version in (1, 3)}
    others |= {"orchestrator.core.realtime", "orchestrator.core.master.run.pacing"}
    assert of_blocks | (others & loaded) == set()


def test_a_stability_plane_needs_no_scipy():
    room = "orchestrator.loops.contact"
    loaded = _loaded(f"from {room} import stability_plane\nstability_plane(30.0, [80.0], [0.016])")
    assert not {"scipy", "scipy.optimize"} & loaded


def test_a_command_loads_no_other():
    loaded = _loaded("from orchestrator.cli.main import HOMES\nHOMES['graph'].load('graph')")
    assert "orchestrator.cli.graph" in loaded
    assert not {f"orchestrator.cli.{name}" for name in ("run", "sweep", "fmu")} & loaded


@pytest.mark.parametrize("name", HOMES)
def test_the_list_of_commands_says_what_the_command_says(name):
    command = HOMES[name].load(name)
    assert command.name == name
    assert command.get_short_help_str(1000) == HOMES[name].help


@pytest.mark.slow
@pytest.mark.parametrize("room", ROOMS)
def test_names_of_a_room_are_there_whatever_was_imported_before(room):
    code = f"""
import importlib, pkgutil
from types import ModuleType
import orchestrator.{room} as room
for found in pkgutil.iter_modules(room.__path__, room.__name__ + "."):
    importlib.import_module(found.name)
wrong = [name for name in room.__all__ if isinstance(getattr(room, name), ModuleType)]
assert not wrong, wrong
assert set(room.__all__) <= set(dir(room))
"""
    _loaded(code)


@pytest.mark.slow
def test_a_run_with_its_report_loads_no_pictures_frames_or_devices(plants, tmp_path):
    target = plants.parent.parent / "examples" / "epos" / "ideal.ssd"
    code = f"""
import sys
from orchestrator.cli import main
sys.argv = ["softdock", "run", {str(target)!r}, "--output", {str(tmp_path / "out")!r}]
try:
    main()
except SystemExit as end:
    assert not end.code
"""
    loaded = _loaded(code)
    assert (tmp_path / "out" / "report.html").is_file()
    heavy = {
        "PIL",
        "casadi",
        "matplotlib",
        "networkx",
        "numba",
        "pandas",
        "pint",
        "rumoca",
        "scipy",
    }
    assert loaded & heavy == set()
    rooms = ("rig", "pictures.animation", "study.sweep")
    idle = tuple(f"orchestrator.{room}." for room in rooms)
    assert [name for name in loaded if name.startswith(idle)] == []
