"""The package without each of its parts in turn: what remains runs, and names what is missing."""

import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

import numpy as np
import pytest

import orchestrator
from orchestrator import System, block, fmu, simulate, write_ssd
from orchestrator.engine import _engine

PACKAGE = Path(orchestrator.__file__).parent
PARTS = ("dcp", "export", "loops", "pictures", "rig")
#: All that is above the core.
ABOVE = (*PARTS, "author", "checks", "cli", "study")
#: Runs a program with a copy of the package in place of the one that is installed.
BEGIN = """
import sys
sys.meta_path[:] = [f for f in sys.meta_path if not type(f).__name__.startswith("ScikitBuild")]
sys.path.insert(0, {folder!r})
import orchestrator
assert orchestrator.__path__ == [{folder!r} + "/orchestrator"], orchestrator.__path__
"""
READ = "import orchestrator; orchestrator.read_experiment('x.toml')"
#: What needs the part, as statements that raise.
USES = {
    "dcp": "from orchestrator.core.optional_packages import optional_imports\n"
    "with optional_imports():\n    import orchestrator.dcp.server",
    "export": "import orchestrator; orchestrator.build_model",
    "loops": READ,
    "pictures": "from orchestrator import read_system, simulate\n"
    "simulate(read_system('pair.ssd'), stop='2 ms', step='1 ms').plot()",
    "rig": READ,
}
EXPERIMENT = """
title = "x"
[case.one]
system = "pair.ssd"
step = "1 ms"
stop = "2 ms"
"""
TABLES = {
    "rig": '[supervisor]\nrig = "bench"\n',
    "loops": '[case.one.measure.g]\nkind = "growth"\nsignal = "a.position"\n'
    "predict = {mass = 1.0, stiffness = 1.0, damping = 1.0}\n",
}


def without(parts: Collection[str], folder: Path) -> Path:
    """Make a copy of the package that lacks some parts."""
    copy = folder / "orchestrator"
    copy.mkdir()
    for child in PACKAGE.iterdir():
        if child.name not in {*parts, "engine", "__pycache__"}:
            (copy / child.name).symlink_to(child)
    (copy / "engine").mkdir()
    compiled = Path(_engine.__file__).parent  # an editable installation has it elsewhere
    for child in {
        c.name: c for c in (*(PACKAGE / "engine").iterdir(), *compiled.iterdir())
    }.values():
        (copy / "engine" / child.name).symlink_to(child)
    return folder


def run(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", BEGIN.format(folder=str(folder)) + code],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def pair(plants: Path) -> System:
    """A system of an FMU and a block."""
    system = System("pair").add("a", fmu(plants / "PositionAxis.fmu"), position_command=1.0)
    at_rest = {"velocity_a": 0.0, "position_b": 0.0, "velocity_b": 0.0, "latched": True}
    system = system.add("sheet", block("spring_dashpot"), **at_rest)
    return system.connect("a.position", "sheet.position_a")


@pytest.mark.parametrize("part", PARTS)
def test_fmus_and_blocks_run_without_a_part(plants, tmp_path, part):
    write_ssd(pair(plants), tmp_path / "pair.ssd")
    code = f"""
import numpy
from orchestrator import read_system, simulate
result = simulate(read_system("pair.ssd"), step="1 ms", stop="20 ms")
numpy.save("values.npy", result.values)
print(*result.remarks, sep="\\n")
assert not any(name.split(".")[:2] == ["orchestrator", {part!r}] for name in sys.modules)
"""
    done = run(without([part], tmp_path), code)
    assert done.returncode == 0, done.stderr
    result = simulate(pair(plants), step="1 ms", stop="20 ms")
    assert np.load(tmp_path / "values.npy").tobytes() == result.values.tobytes()
    sentence = "the effect of the step on the loops is unknown: this needs the part 'loops'"
    assert (sentence in done.stdout) == (part == "loops")


@pytest.mark.parametrize("parts", [*([part] for part in ABOVE), ABOVE], ids="-".join)
def test_the_core_runs_without_the_parts_above_it(plants, tmp_path, parts):
    write_ssd(pair(plants), tmp_path / "pair.ssd")
    code = """
import numpy
from orchestrator import Execution
from orchestrator.core.ssp import read_ssd
with Execution(read_ssd("pair.ssd"), step="1 ms") as execution:
    execution.advance("20 ms")
    numpy.save("values.npy", execution.recording().values)
"""
    done = run(without(parts, tmp_path), code)
    assert done.returncode == 0, done.stderr
    whole = simulate(pair(plants), step="1 ms", stop="20 ms")
    assert np.load(tmp_path / "values.npy").tobytes() == whole.values.tobytes()


@pytest.mark.parametrize("part", PARTS)
def test_what_needs_a_missing_part_says_so_in_one_sentence(plants, tmp_path, part):
    write_ssd(pair(plants), tmp_path / "pair.ssd")
    (tmp_path / "x.toml").write_text(EXPERIMENT + TABLES.get(part, ""))
    code = f"""
from orchestrator import CapabilityError
try:
    exec({USES[part]!r})
except CapabilityError as error:
    print(error)
"""
    done = run(without([part], tmp_path), code)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        f"this needs the part '{part}' of Softdock, which is not installed:"
        " pip install --force-reinstall softdock\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "extension"), [("loops", "account"), ("pictures", "report"), ("rig", "")]
)
def test_the_command_runs_and_says_what_it_leaves_out(plants, tmp_path, part, extension):
    write_ssd(pair(plants), tmp_path / "pair.ssd")
    (tmp_path / "x.toml").write_text(EXPERIMENT)
    code = """
from orchestrator.__main__ import main
sys.argv = ["softdock", "run", "x.toml", "--output", "out"]
main()
"""
    done = run(without([part], tmp_path), code)
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "out").glob("one.*"))
    printed = " ".join((done.stdout + done.stderr).split())
    sentence = f"cannot be imported: this needs the part '{part}' of Softdock"
    if extension:
        assert f"extension 'run.{extension}'" in printed
        assert sentence in printed
    else:
        assert "this needs" not in printed
    assert (tmp_path / "out" / "report.html").exists() == (part != "pictures")


#: Commands, and which of the parts each needs.
COMMANDS = {
    "run pair.ssd --step 1ms --stop 2ms": {"author", "loops", "pictures", "study"},
    "check pair.ssd": {"author", "checks", "rig", "study"},
    "graph pair.ssd --output pair.svg": {"author", "pictures", "study"},
    "system show pair.ssd": {"author", "study"},
    "certify pair.ssd --step 1ms": {"author", "loops", "pictures", "study"},
    "devices list": {"dcp", "rig"},
}


@pytest.mark.slow
@pytest.mark.parametrize("part", [part for part in ABOVE if part != "cli"])
def test_a_command_runs_or_names_the_part_that_it_needs(plants, tmp_path, part):
    write_ssd(pair(plants), tmp_path / "pair.ssd")
    folder = without([part], tmp_path)
    for words, needs in COMMANDS.items():
        code = f"""
from orchestrator.__main__ import main
sys.argv = ["softdock", *{words!r}.split()]
main()
"""
        done = run(folder, code)
        printed = " ".join((done.stdout + done.stderr).split())
        assert "Traceback" not in printed, words
        named = f"this needs the part '{part}' of Softdock, which is not installed" in printed
        assert named is (part in needs), (words, printed)


def test_a_part_that_is_installed_in_part_is_named(plants, tmp_path):
    write_ssd(pair(plants), tmp_path / "pair.ssd")
    (tmp_path / "x.toml").write_text(EXPERIMENT + TABLES["rig"])
    folder = without(["rig"], tmp_path)
    rig = folder / "orchestrator" / "rig"
    (rig / "supervisor").mkdir(parents=True)
    for name in ("__init__.py", "supervisor/__init__.py"):
        (rig / name).write_text("")
    code = """
from orchestrator import CapabilityError, read_experiment
try:
    read_experiment("x.toml")
except CapabilityError as error:
    print(error)
"""
    done = run(folder, code)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "the part 'rig' of Softdock is incomplete (No module named"
        " 'orchestrator.rig.supervisor.settings'): pip install --force-reinstall softdock\n"
    )
