"""FMU libraries in a host written in C: threads, memory under valgrind, other compiler options."""

from __future__ import annotations

import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from compile_cache import compiled
from fmpy import read_model_description

from orchestrator.export import build_model
from orchestrator.export.codegen.compiler import FLAGS, compiler_path

HOST = Path(__file__).with_name("host.c")
PLANT = """model Plant "states, arrays, an implicit equation, calculated parameters"
  parameter Real k[2] = {1, 2}; parameter Real k2 = 2*k[1];
  input Real u;
  output Real y;
  Real x[2](start={1, 2}, each fixed=true);
  Real z(start=0.5);
equation
  der(x) = {x[2], -k2*x[1] - 0.3*x[2] + u};
  z^3 + z = x[1] + u;
  y = z + k[2]*x[2];
end Plant;
"""
SWITCHED = """model Plant "every kind of event, and an implicit equation that switches"
  parameter Real period = 0.07;
  input Real u;
  output Real y;
  discrete Real held(start=0.1);
  Integer n(start=0);
  Boolean high(start=false, fixed=true);
  Real x(start=1, fixed=true), v(start=2, fixed=true), z(start=0.5);
equation
  der(x) = v;
  der(v) = -30*x + held + (if high then 1 else u);
  z^3 + z = x + (if z > 0.3 then 0.2 else 0.1);
  high = x > 0.4 or pre(high) and x > -0.4;
  when sample(0, period) then held = pre(held)/2 + x; end when;
  when {x < -0.9, u > 0.9} then n = pre(n) + 1; reinit(v, -pre(v)); end when;
  assert(x < 0.8, "far, " + String(x), AssertionLevel.warning);
  y = z + v + n;
end Plant;
"""


_KINDS = [(m, text) for text in (PLANT, SWITCHED) for m in ("rk4", "dopri5")]


@pytest.fixture(scope="module", params=_KINDS, ids=["rk4", "dopri5", "events-rk4", "events-dopri5"])
def plants(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    from orchestrator.export.recipe import Solver

    root = tmp_path_factory.mktemp("root")
    method, text = request.param
    (root / "Plant.mo").write_text(text, encoding="utf-8")
    output = tmp_path_factory.mktemp("built")
    built = build_model("Plant", root, output, fmi=("2.0", "3.0"), solver=Solver(method))
    return dict(built.files)


def compile_host(fmu: Path, folder: Path) -> list[str]:
    """Unpack and compile; the command that runs the host, threads still to be added."""
    with zipfile.ZipFile(fmu) as archive:
        archive.extractall(folder)
    description = read_model_description(str(fmu))
    at = {v.name: str(v.valueReference) for v in description.modelVariables}
    host, sources = folder / "host", folder / "host-sources"
    sources.mkdir()
    for file in (HOST, *(folder / "sources").glob("fmi*.h")):  # equal ones for all FMUs
        shutil.copy(file, sources)
    options = ["-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror"]
    version = f"-DFMI={description.fmiVersion[0]}"
    command = [compiler_path(), *options, version, "-o", str(host), HOST.name]
    compiled([*command, "-ldl", "-lm", "-lpthread"], sources).check_returncode()
    (library,) = folder.glob("binaries/*/*.so")
    return [str(host), str(library), description.guid, at["u"], at["y"]]


def output_of(command: list[str], threads: int = 0) -> str:
    done = subprocess.run(  # noqa: S603 - our own program
        [*command, str(threads)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_eight_threads_give_the_bits_of_one(
    plants: dict[str, Path], version: str, tmp_path: Path
) -> None:
    command = compile_host(plants[version], tmp_path)
    assert output_of(command, threads=8) == output_of(command)


def test_both_versions_give_the_same_bits(plants: dict[str, Path], tmp_path: Path) -> None:
    commands = [compile_host(fmu, tmp_path / version) for version, fmu in plants.items()]
    one, other = map(output_of, commands)
    assert one == other
    assert re.fullmatch(r"-?0x1\.\w+p\S+ -?0x1\.\w+p\S+\n", one)


@pytest.mark.slow
@pytest.mark.parametrize(("version", "level"), [("2.0", "-O2"), ("3.0", "-O3")])
def test_other_optimisation_gives_the_same_bits(
    plants: dict[str, Path], version: str, level: str, tmp_path: Path
) -> None:
    command = compile_host(plants[version], tmp_path)
    expected = output_of(command)
    flags = [level if flag.startswith("-O") else flag for flag in FLAGS]
    compiler = [compiler_path(), *flags, "-o", command[1], "fmu.c", "-lm"]
    compiled(compiler, tmp_path / "sources").check_returncode()
    assert output_of(command) == expected


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_no_leak_and_no_invalid_access(
    plants: dict[str, Path], version: str, tmp_path: Path
) -> None:
    command = compile_host(plants[version], tmp_path)
    checks = ["--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=all", "-q"]
    output_of(["valgrind", *checks, "--show-leak-kinds=all", *command], threads=2)
