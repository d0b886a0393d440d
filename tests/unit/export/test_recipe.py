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
    ("text", "pattern"),
    [
        (
            '[fmu]\nmodel = "P.A"\n[solver]\nmethod = "euler"',
            "expected one of dopri5, cvode, rk4, verlet, got 'euler'",
        ),
        ('[fmu]\nmodel = "P.A"\n[solver]\nmax_step = 0', "positive"),
        ('[fmu]\nmodel = "P.A"\n[solver]\nmax_step = nan', "positive"),
        ('[fmu]\nmodel = "P.A"\n[solver]\ntolerance = 1', "between 0 and 1"),
        ('[fmu]\nmodel = "P.A"\n[fmi]\nversions = ["1.0"]', "one or both of 2.0, 3.0"),
        ('[fmu]\nmodel = "P.A"\n[fmi]\nversions = []', "one or both of 2.0, 3.0"),
        ('[fmu]\nmodel = "P.A"\n[fmi]\nversions = "3.0"', "expected a list, found '3.0'"),
        ('[fmu]\nmodel = "P..A"', "qualified class name"),
        ('[fmu]\nmodel = "P.A"\nname = "../x"', "identifier"),
        ("fmu = 3", "expected a table"),
    ],
)
def test_wrong_values(text: str, pattern: str, tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match=pattern):
        Recipe.read(write(tmp_path, text))


def test_missing_and_broken_files(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=r"Unit\.toml' cannot be read"):
        Recipe.read(tmp_path / "Unit.toml")
    with pytest.raises(LoadError, match="not valid TOML"):
        Recipe.read(write(tmp_path, "[fmu"))


def test_recipes_of_a_folder_are_sorted(tmp_path: Path) -> None:
    for name in ("b.toml", "a.toml", "README.md"):
        (tmp_path / name).touch()
    assert [path.name for path in find_recipes(tmp_path)] == ["a.toml", "b.toml"]
    with pytest.raises(LoadError, match="does not exist"):
        find_recipes(tmp_path / "nowhere")
