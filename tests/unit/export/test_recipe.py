from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.core.diagnostics import DescriptionError, LoadError
from orchestrator.export import Recipe, Solver, find_recipes


def write(folder: Path, text: str) -> Path:
    path = folder / "Unit.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_defaults(tmp_path: Path) -> None:
    recipe = Recipe.read(write(tmp_path, '[fmu]\nmodel = "P.Q.A"\nroot = "lib"'))
    assert (recipe.name, recipe.roots, recipe.solver) == (
        "A",
        (tmp_path / "lib",),
        Solver("dopri5"),
    )


def test_all_problems_come_at_once(tmp_path: Path) -> None:
    text = '[fmu]\nmodle = "P.A"\nroot = 3\n[solver]\nmax_step = "1e-3"\n[sovler]\n'
    with pytest.raises(DescriptionError) as caught:
        Recipe.read(write(tmp_path, text))
    assert len(caught.value.problems) == 4
    for piece in (
        "fmu.modle",
        "'fmu.root': expected a text or a list, found 3",
        "'solver.max_step': expected a whole number or a number",
        "unknown key 'sovler'. Did you mean 'solver'",
        "Unit.toml",
    ):
        assert piece in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        '[fmu]\nmodel = "P.A"\n[solver]\nmethod = "euler"',
        '[fmu]\nmodel = "P.A"\n[solver]\nmax_step = 0',
        '[fmu]\nmodel = "P.A"\n[solver]\nmax_step = nan',
        '[fmu]\nmodel = "P.A"\n[solver]\ntolerance = 1',
        '[fmu]\nmodel = "P.A"\n[fmi]\nversions = ["1.0"]',
        '[fmu]\nmodel = "P.A"\n[fmi]\nversions = []',
        '[fmu]\nmodel = "P.A"\n[fmi]\nversions = "3.0"',
        '[fmu]\nmodel = "P..A"',
        '[fmu]\nmodel = "P.A"\nname = "../x"',
        "fmu = 3",
    ],
)
def test_wrong_values(text: str, tmp_path: Path, wording) -> None:
    with wording.raises(DescriptionError):
        Recipe.read(write(tmp_path, text))


def test_missing_and_broken_files(tmp_path: Path, wording) -> None:
    with wording.raises(LoadError):
        Recipe.read(tmp_path / "Unit.toml")
    with wording.raises(LoadError):
        Recipe.read(write(tmp_path, "[fmu"))


def test_recipes_of_a_folder_are_sorted(tmp_path: Path, wording) -> None:
    for name in ("b.toml", "a.toml", "README.md"):
        (tmp_path / name).touch()
    assert [path.name for path in find_recipes(tmp_path)] == ["a.toml", "b.toml"]
    with wording.raises(LoadError):
        find_recipes(tmp_path / "nowhere")
