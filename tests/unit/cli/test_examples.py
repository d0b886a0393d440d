"""Examples, recipes and the Modelica library: in the wheel, and copied to a folder to work in."""

import json
import re
import tomllib
import zipfile
from pathlib import Path

import pytest

from orchestrator import System, example_fmu, fmu, read_system, simulate
from orchestrator.author.examples import FOLDERS, example_names
from orchestrator.core.diagnostics import UnknownNameError
from orchestrator.export import Recipe, find_recipes
from orchestrator.study import read_experiment

ROOT = Path(__file__).parents[3]
PREBUILT = sorted((ROOT / "fmus" / "prebuilt").glob("*.fmu"))


def test_the_wheel_has_them_beside_each_other():
    """Installed by CMake: as packages of the wheel they would change where `orchestrator` is."""
    rules = (ROOT / "orchestrator" / "engine" / "CMakeLists.txt").read_text()
    match = re.search(
        r'SKBUILD_STATE STREQUAL "wheel"\)\s+foreach\(folder ([\w ]+)\)\s+install\(DIRECTORY (\S+)'
        r" DESTINATION (\S+)",
        rules,
    )
    folders, source, place = match.groups()
    assert tuple(folders.split()) == FOLDERS
    assert source == "${CMAKE_CURRENT_SOURCE_DIR}/../../${folder}"
    assert place == "orchestrator/shared"
    assert all((ROOT / folder).is_dir() for folder in FOLDERS)
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["scikit-build"]["wheel"]
    assert packages["packages"] == ["orchestrator", "python_blocks", "hw_adapters"]


def test_the_package_is_where_its_files_are():
    import orchestrator

    places = [Path(place).resolve() for place in orchestrator.__path__]
    assert ROOT / "orchestrator" in places
    assert {place.name for place in places} == {"orchestrator"}, "one of them is another folder"


@pytest.fixture
def copied(softdock, tmp_path):
    """A copy of them, in a folder of its own."""
    target = tmp_path / "work"
    code, out, err = softdock("examples", "copy", "all", target)
    assert (code, err) == (0, "")
    assert out.startswith(f"{target}: examples, fmus, modelica\n")
    return target


def test_what_is_copied_finds_itself(copied):
    """Recipes their classes, experiments their systems: by paths that stay inside of the copy."""
    recipes = find_recipes(copied / "fmus")
    assert len(recipes) == len(list((ROOT / "fmus").glob("*.toml")))
    for path in recipes:
        recipe = Recipe.read(path)
        (root,) = recipe.roots
        assert Path(root).resolve().is_relative_to(copied)
        assert (Path(root) / Path(*recipe.model.split("."))).with_suffix(".mo").is_file()
    experiments = [
        *copied.glob("examples/*/experiment.toml"),
        *copied.glob("examples/*/[!e]*.toml"),
    ]
    for path in experiments:
        if not path.name.endswith((".scene.toml", ".system.toml")):
            for case in read_experiment(path).case.values():
                assert (path.parent / case.system).is_file()
    assert len(experiments) > 4
    built = {path.relative_to(copied).as_posix() for path in copied.rglob("*.fmu")}
    assert built == {f"fmus/build/{path.name}" for path in PREBUILT}, "what was built is left out"


def test_what_is_there_stays(softdock, copied):
    (copied / "examples" / "epos" / "README.md").write_text("mine")
    code, _, err = softdock("examples", "copy", "all", copied)
    assert (code, "exists already; name another folder" in err) == (2, True)
    assert (copied / "examples" / "epos" / "README.md").read_text() == "mine"


def test_where_they_are_is_told(softdock):
    content = json.loads(softdock("examples", "where", "--json")[1])
    assert Path(content["fmus"], "Chaser.toml").is_file()
    assert softdock("examples", "where")[1].strip() == str(Path(content["fmus"]).parent)


def systems_of(folder):
    """The systems of an example in SSP."""
    return sorted(folder.rglob("*.ssd"))


@pytest.mark.parametrize("name", example_names())
def test_a_copied_example_is_complete(softdock, tmp_path, name):
    """Its systems name files in the copy: FMUs that are there, or that a recipe there builds."""
    target = tmp_path / "mine"
    code, out, err = softdock("examples", "copy", name, target, "--json")
    assert (code, err) == (0, "")
    recipes = {Path(path) for path in json.loads(out)["build"]}
    for recipe in map(Recipe.read, recipes):
        (root,) = recipe.roots
        assert Path(root).resolve().is_relative_to(target)
        assert (Path(root) / Path(*recipe.model.split("."))).with_suffix(".mo").is_file()
    to_build = {path.stem for path in recipes}
    for file in systems_of(target):
        for component in read_system(file).flat().components.values():
            source = component.source
            if source.file is None:
                continue
            assert source.file.resolve().is_relative_to(target)
            assert source.file.is_file() or source.file.name.partition(".")[0] in to_build
    for path in target.glob("*.toml"):
        if "[case." in path.read_text():
            assert all((target / c.system).is_file() for c in read_experiment(path).case.values())


def test_a_copied_example_runs_without_a_build(softdock, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = softdock("examples", "copy", "epos")
    assert (code, out.splitlines()[-1]) == (0, "next: softdock run epos")
    assert softdock("run", "epos", "--case", "ideal")[0] == 0
    assert (tmp_path / "results" / "epos-variant" / "report.html").is_file()


def test_an_example_that_must_be_built_names_command_and_size(softdock, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = softdock("examples", "copy", "met")[1].splitlines()
    assert lines[1] == "build its other FMUs first: softdock build met/fmus"
    assert lines[2].startswith("building needs pip install 'softdock[modelica]' (360 MB)")
    err = " ".join(softdock("run", "met")[2].split())
    assert "2 components need FMUs that do not exist" in err
    assert "build them (`softdock build" in err
    assert "met/fmus/RigidGearboxServo.toml`)" in err


def test_an_unknown_example_is_refused_with_the_names_of_all(softdock, tmp_path):
    code, _, err = softdock("examples", "copy", "epso", tmp_path / "x")
    assert code == 2
    assert "no example 'epso'. Did you mean 'epos'" in " ".join(err.split())
    assert [line.split()[0] for line in softdock("examples", "list")[1].splitlines()] == list(
        example_names()
    )


def test_prebuilt_fmus_are_those_of_the_recipes(plants):
    """Same variables and, to the bit, same motion as what is built from Modelica now."""
    assert [path.stem for path in PREBUILT] == [
        "Chaser",
        "Compliance",
        "PositionAxis",
        "SpringDashpot",
        "Target",
    ]
    for path in PREBUILT:
        assert example_fmu(path.stem) == path
        runs = [_moved(file) for file in (path, plants / path.name)]
        assert runs[0].names == runs[1].names
        for signal in runs[0].names:
            assert runs[0][signal].tolist() == runs[1][signal].tolist(), f"{path.stem}.{signal}"


def _moved(file):
    """A run of an FMU whose inputs all are constants."""
    source = fmu(file)
    from orchestrator import resolve

    component = resolve(System("one").add("x", source)).components["x"]
    inputs = [c.name for c in component.connectors.values() if c.causality.value == "input"]
    values = {name: 0.25 * (n + 1) for n, name in enumerate(sorted(inputs))}
    return simulate(System("one").add("x", source, **values), step="10 ms", stop="1 s")


def test_prebuilt_fmus_have_three_platforms_and_sources():
    for path in PREBUILT:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        folders = {name.split("/")[1] for name in names if name.startswith("binaries/")}
        assert folders == {"linux64", "aarch64-linux", "win64"}
        assert "sources/functions.c" in names


def test_an_fmu_that_does_not_come_with_softdock_is_refused(wording):
    with wording.raises(UnknownNameError):
        example_fmu("StewartLeg")
