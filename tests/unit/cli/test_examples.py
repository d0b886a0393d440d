"""Examples, recipes and the Modelica library: in the wheel, and copied to a folder to work in."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from orchestrator.cli.files import FOLDERS
from orchestrator.export import Recipe, find_recipes
from orchestrator.study import read_experiment

ROOT = Path(__file__).parents[3]


def test_the_wheel_has_them_beside_each_other():
    """Installed by CMake: as packages of the wheel they would change where `orchestrator` is."""
    rules = (ROOT / "orchestrator" / "engine" / "CMakeLists.txt").read_text()
    found = re.search(
        r'SKBUILD_STATE STREQUAL "wheel"\)\s+foreach\(folder ([\w ]+)\)\s+install\(DIRECTORY (\S+)'
        r" DESTINATION (\S+)",
        rules,
    )
    folders, source, place = found.groups()
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
    code, out, err = softdock("examples", "copy", target)
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
    assert not list(copied.rglob("*.fmu")), "what was built is left out"


def test_what_is_there_stays(softdock, copied):
    (copied / "examples" / "epos" / "README.md").write_text("mine")
    code, _, err = softdock("examples", "copy", copied)
    assert (code, "is there already; give another folder" in err) == (2, True)
    assert (copied / "examples" / "epos" / "README.md").read_text() == "mine"


def test_where_they_are_is_told(softdock):
    places = json.loads(softdock("examples", "where", "--json")[1])
    assert Path(places["fmus"], "Chaser.toml").is_file()
    assert softdock("examples", "where")[1].strip() == str(Path(places["fmus"]).parent)
