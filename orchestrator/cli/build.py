"""``softdock build``: Modelica plants become FMUs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from orchestrator.cli.console import output as console
from orchestrator.cli.console import print_json, progress_bar
from orchestrator.errors import LoadError

_VERSIONS: dict[str | None, tuple[str, ...]] = {
    None: (),
    "2": ("2.0",),
    "3": ("3.0",),
    "both": ("2.0", "3.0"),
}


def build(
    recipes: Annotated[
        list[Path] | None,
        typer.Argument(help="Recipes (.toml) or folders of them; default: fmus/"),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder for the FMUs; default: build/ beside the recipe")
    ] = None,
    fmi: Annotated[
        Literal["2", "3", "both"] | None,
        typer.Option(
            help="Version of FMI; default: the recipe's. FMI 2 gives NAME.fmu, FMI 3 NAME.fmi3.fmu:"
            " the standard has one version in an archive"
        ),
    ] = None,
    force: Annotated[bool, typer.Option(help="Build even if nothing has changed")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Build FMUs from recipes."""
    from orchestrator.export import BuildResult, build_recipe, find_recipes

    found: list[Path] = []
    for path in recipes or [Path("fmus")]:
        if path.is_dir():
            inside = find_recipes(path)
            if not inside:
                raise LoadError(f"{path}: the folder holds no recipe (*.toml)")
            found += inside
        elif path.is_file():
            found.append(path)
        else:
            raise LoadError(f"{path}: no such recipe or folder of recipes")
    built: list[BuildResult] = []
    with progress_bar() as bar:
        for i, recipe in enumerate(found):
            bar("Building FMUs", i / len(found))
            target = output or recipe.parent / "build"
            result = build_recipe(recipe, target, fmi=_VERSIONS[fmi], force=force)
            built.append(result)
            if not json:
                state = "unchanged" if result.cached else f"built in {result.seconds:.1f} s"
                for path in result.files.values():
                    console.print(f"{path}  ({result.model}, {state})", markup=False)
        bar("Building FMUs", 1.0)
    if json:
        print_json(
            [
                {
                    "file": str(r.path),
                    "files": {version: str(path) for version, path in r.files.items()},
                    "name": r.name,
                    "model": r.model,
                    "cached": r.cached,
                    "seconds": r.seconds,
                }
                for r in built
            ]
        )
