"""What runs without the packages of extras, and what says which extra it needs."""

import subprocess
import sys
from importlib.machinery import ModuleSpec

import pytest

from orchestrator.core import optional_packages
from orchestrator.core.optional_packages import missing_module
from orchestrator.core.recording import read_result

#: No program of the core needs one of these before it asks for what they do.
LACKING = (
    *("PIL", "canopen", "can", "casadi", "distributed", "mcap", "numba", "pyarrow"),
    *("matplotlib", "pythonfmu", "pythonfmu3", "rumoca"),
)
#: What is required, but for less than a run of FMUs and blocks.
ON_USE = ("pandas", "pint", "scipy")
#: As in an environment without them: nothing finds them.
WITHOUT = """
import importlib.util, sys
from importlib.abc import MetaPathFinder
class Lacking(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {lacking!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Lacking())
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name in {lacking!r} else found(name, *rest)
"""


def run(code, lacking=LACKING):
    return subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", WITHOUT.format(lacking=set(lacking)) + code],
        capture_output=True,
        text=True,
        check=False,
    )


def command(*words, lacking=LACKING):
    code = f"sys.argv = {['softdock', *map(str, words)]!r}\n"
    return run(f"{code}from orchestrator.__main__ import main\nmain()\n", lacking)


def test_fmus_blocks_ssp_and_a_result_need_none(plants, tmp_path):
    code = f"""
from pathlib import Path
from orchestrator import System, block, fmu, read_system, simulate, write_ssd, write_ssp
system = System("pair").add("axis", fmu({str(plants / "PositionAxis.fmu")!r}))
at_rest = dict(velocity_a=0.0, position_b=0.0, velocity_b=0.0, latched=True)
system = system.add("sheet", block("spring_dashpot"), **at_rest)
system = system.connect("axis.position", "sheet.position_a", delay="16 ms")
folder = Path({str(tmp_path)!r})
write_ssp(system, folder / "pair.ssp")
again = read_system(folder / "pair.ssp")
result = simulate(again, step="1 ms", stop="20 ms", delay="mean")
assert result["axis.position"].shape == (21,), result["axis.position"].shape
"""
    done = run(code, {*LACKING, *ON_USE})
    assert done.returncode == 0, done.stderr


def test_a_run_with_its_report_says_what_it_leaves_out(plants, tmp_path):
    ideal = plants.parent.parent / "examples" / "epos" / "ideal.ssd"
    done = command("run", ideal, "--output", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "<html" in (tmp_path / "out" / "report.html").read_text()
    (kept,) = (tmp_path / "out").glob("*.npz")
    whole = command("run", ideal, "--output", tmp_path / "arrow", lacking=[])
    assert whole.returncode == 0, whole.stderr
    result, two = read_result(kept), read_result(tmp_path / "arrow" / f"{kept.stem}.parquet")
    assert result.values.tobytes() == two.values.tobytes()
    assert result.time_ns.tobytes() == two.time_ns.tobytes()
    assert (result.names, result.units) == (two.names, two.units)
    said = " ".join(done.stderr.split())
    assert "no block diagrams" in said
    assert "pip install 'softdock[pictures]'" in said
    code = f"""
from orchestrator import CapabilityError, read_system, simulate
result = simulate(read_system({str(ideal)!r}), step="1 ms", stop="10 ms")
try:
    result.plot()
except CapabilityError as error:
    print(error)
"""
    assert "softdock[pictures]" in run(code).stdout


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("--format", "parquet"), "parquet"),
        (("--format", "mcap"), "mcap"),
        (("--swap", "target=log:old.parquet"), "parquet"),
    ],
)
def test_a_run_that_asks_for_more_is_refused_with_the_extra(plants, tmp_path, words, extra):
    ideal = plants.parent.parent / "examples" / "epos" / "ideal.ssd"
    (tmp_path / "old.parquet").touch()
    words = [word.replace("old", str(tmp_path / "old")) for word in words]
    done = command("run", ideal, "--stop", "1 ms", "--output", tmp_path / "out", *words)
    assert done.returncode == 2, done.stdout
    assert f"pip install 'softdock[{extra}]'" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_functions_say_which_extra_they_need(tmp_path):
    code = """
import orchestrator
from orchestrator import CapabilityError, read_parquet, read_result
for ask in (
    lambda: read_parquet("x.parquet"),
    lambda: read_result("x.parquet"),
    lambda: orchestrator.build_model,
):
    try:
        ask()
    except CapabilityError as error:
        print(error)
"""
    (tmp_path / "x.parquet").touch()
    done = run(f"import os\nos.chdir({str(tmp_path)!r})\n{code}")
    assert done.returncode == 0, done.stderr
    assert [line.rpartition("softdock")[2] for line in done.stdout.splitlines()] == [
        "[parquet]' (180 MB)",
        "[parquet]' (180 MB)",
        "[modelica]' (360 MB)",
    ]


def test_a_package_that_is_half_installed_is_missing(monkeypatch):
    assert missing_module("pyarrow") is None
    monkeypatch.setattr(optional_packages, "find_spec", lambda name: ModuleSpec(name, None))
    assert missing_module("pyarrow").endswith("pip install 'softdock[parquet]' (180 MB)")


def test_a_package_that_lacks_what_it_imports_is_to_be_installed_again(plants, tmp_path):
    ideal = plants.parent.parent / "examples" / "epos" / "ideal.ssd"
    drawn = command("graph", ideal, "--output", tmp_path, lacking=["kiwisolver"])
    assert drawn.returncode == 2, drawn.stderr
    said = " ".join(drawn.stderr.split())
    assert "'softdock[pictures]' is installed in part (No module named 'kiwisolver')" in said
    assert "pip install --force-reinstall matplotlib" in said


def test_what_needs_more_says_which_extra_has_it(plants, tmp_path):
    ideal = plants.parent.parent / "examples" / "epos" / "ideal.ssd"
    drawn = command("run", ideal, "--figures", "--output", tmp_path / "out", lacking=["matplotlib"])
    assert drawn.returncode == 2, drawn.stderr
    assert "pip install 'softdock[pictures]'" in " ".join(drawn.stderr.split())
    model = tmp_path / "R.mo"
    model.write_text("model R\n  output Real x(start = 1);\nequation\n  der(x) = -x;\nend R;\n")
    recipe = tmp_path / "r.toml"
    recipe.write_text('model = "R"\nmodelica = "R.mo"\n')
    built = command("build", recipe, lacking=["rumoca", "casadi"])
    assert built.returncode == 2, built.stdout
    assert "pip install 'softdock[modelica]'" in " ".join(built.stderr.split())
    assert "Traceback" not in drawn.stderr + built.stderr


@pytest.mark.parametrize(
    "module", ["orchestrator", "orchestrator.loops", "orchestrator.rig.devices"]
)
def test_a_face_is_imported_without_any(module):
    done = run(f"import {module}")
    assert done.returncode == 0, done.stderr


def test_compiled_functions_run_as_they_are_without_numba():
    code = """
from orchestrator import compiled
@compiled
def twice(x: float) -> float:
    return 2.0 * x
print(twice(4.0))
"""
    done = run(code, ["numba"])
    assert done.stdout == "8.0\n", done.stderr
    assert "pip install 'softdock[compiled]'" in done.stderr
