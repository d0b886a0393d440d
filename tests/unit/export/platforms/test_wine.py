"""What is built for Windows, under Wine: the same trajectories as on Linux."""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from compile_cache import FOLDER
from fmpy import read_model_description
from systems import GROUND, body_at_contact

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.operating_system.platforms import PLATFORMS, Platform
from orchestrator.core.simunits import fmu
from orchestrator.core.simunits.fmi import wine
from orchestrator.export import build_block, build_recipe
from orchestrator.export.archive.fmu_archive import RUNTIME
from orchestrator.export.codegen.compiler import compiler_of, run_compiler
from orchestrator.export.recipe import Recipe, this_platform
from orchestrator.export.system import export_system, package

ROOT = Path(__file__).parents[4]
IMPORTER = Path(__file__).with_name("importer.c")
WINDOWS = next(each for each in PLATFORMS if each.name == "win64")
BOTH = ("linux64", "win64")
STEPS = 64

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("ziglang") is None, reason="ziglang, the extra 'cross', is not installed"
    ),
]
Run = Callable[[Path, Platform], "np.ndarray"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Outputs and locals of an FMU after each step in the importer; a row for each."""
    root = tmp_path_factory.mktemp("importers")
    try:
        environment = wine._environment(wine.prefix())  # kept: Wine takes long to make another
    except CapabilityError as error:
        pytest.skip(str(error))

    def importer(version: str, platform: Platform) -> Path:
        target = root / f"{platform.name}-{version}.exe"
        if not target.exists():
            libraries = ["-ldl"] if platform.is_here else []
            command = [*compiler_of(platform), "-std=gnu11", f"-DFMI={version}", f"-I{RUNTIME}"]
            run_compiler([*command, "-o", str(target), IMPORTER.name, *libraries], IMPORTER.parent)
        return target

    def call(path: Path, platform: Platform) -> np.ndarray:
        about = read_model_description(str(path))
        version = about.fmiVersion[0]
        unpacked = root / f"{path.stem}-{platform.name}-{version}"
        with zipfile.ZipFile(path) as archive:
            archive.extractall(unpacked)
        reals = [v for v in about.modelVariables if v.type in ("Real", "Float64")]
        inputs = [v.valueReference for v in reals if v.causality == "input"]
        seen = [v.valueReference for v in reals if v.causality in ("output", "local")]
        name = f"{about.coSimulation.modelIdentifier}{platform.suffix}"
        library = unpacked / platform.folder(f"{version}.0") / name
        program, drive = ([], "") if platform.is_here else ([str(wine.wine())], "Z:")
        resources = f"{drive}{unpacked / 'resources'}/"
        if version == "2":
            resources = f"file://{'/' if drive else ''}{resources}"
        command = [*program, str(importer(version, platform)), f"{drive}{library}", about.guid]
        numbers = [str(STEPS), str(len(inputs)), *map(str, (*inputs, *seen))]
        done = subprocess.run(  # noqa: S603 - our own program
            [*command, resources, *numbers],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return np.array(done.stdout.split(), dtype=float).reshape(STEPS, len(seen))

    return call


def expect_equal(path: Path, run: Run) -> None:
    here, there = run(path, this_platform()), run(path, WINDOWS)
    assert np.ptp(here, axis=0).max() > 1e-3
    np.testing.assert_allclose(there, here, rtol=1e-12, atol=1e-12)


def test_an_implicit_plant_with_events(plant: Mapping[str, Path], run: Run) -> None:
    for path in plant.values():
        expect_equal(path, run)


@pytest.mark.parametrize("name", ["BouncingBall", "TwoLinkArm"])
def test_plants(name: str, tmp_path: Path, run: Run) -> None:
    expect_equal(_plant(name, tmp_path), run)


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_a_block(fmi: str, tmp_path: Path, run: Run) -> None:
    values = {"k": 2500.0}
    built = build_block("spring_dashpot", tmp_path, fmi=(fmi,), values=values, platforms=BOTH)
    expect_equal(built.path, run)


@pytest.mark.parametrize("fmi", [2, 3])
def test_a_system(fmi: int, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine's core is compiled for Windows the first time: minutes."""
    monkeypatch.setattr(package, "_cache", lambda: FOLDER / "engines")
    moving = {"m": 750.0, "virtual_force": 0.0, "v0": 0.05}
    latched = {"k": 2510.0, "d": 20.0, "latched": True} | GROUND
    system = body_at_contact(
        fmu(_plant("Chaser", tmp_path)).with_values(moving),
        fmu(_plant("Compliance", tmp_path)).with_values(latched),
        motion={"delay": "3.5 ms"},
        velocity={},
    )
    step = f"{10**9 // 512} ns"
    path = export_system(system, tmp_path / "it.fmu", fmi=fmi, step=step, platforms=BOTH)
    expect_equal(path, run)


def _plant(name: str, folder: Path) -> Path:
    recipe = Recipe.read(ROOT / "fmus" / f"{name}.toml")
    return build_recipe(replace(recipe, platforms=BOTH), folder, fmi=("2.0",)).path
