"""``softdock build`` and ``softdock fmu``: FMUs made of Modelica plants, inspected and checked."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from orchestrator.cli.console import (
    messages,
    print_error,
    print_json,
    print_lines,
    print_table,
    print_warning,
)
from orchestrator.cli.console import output as console
from orchestrator.cli.export import VERSIONS, PlatformOption, platforms_in, print_built
from orchestrator.cli.failure import fail
from orchestrator.cli.progress import count_bar
from orchestrator.core.diagnostics import (
    DescriptionError,
    FmuError,
    LoadError,
    Problem,
    SoftdockError,
)

if TYPE_CHECKING:
    from orchestrator.export import BuildJob, BuildResult, Recipe


def build(
    recipes: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Recipes (.toml), folders of recipes, or Modelica files; default: fmus/"
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Class in the Modelica file; optional if there is only one")
    ] = None,
    root: Annotated[
        list[Path] | None,
        typer.Option(
            help="Folder of packages, such as the Modelica Standard Library; repeatable; "
            "the package of a Modelica file itself is found without it"
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(help="Folder for the FMUs; default: build/ next to the recipe or file"),
    ] = None,
    fmi: Annotated[
        Literal["2", "3", "both"] | None,
        typer.Option(
            help="Version of FMI; default: that of the recipe; both writes NAME.fmu (FMI "
            "2) and NAME.fmi3.fmu (FMI 3)"
        ),
    ] = None,
    solver: Annotated[
        str | None,
        typer.Option(
            help="Integration method: dopri5, cvode, rk4 or verlet; default: that of the recipe, "
            "else dopri5"
        ),
    ] = None,
    max_step: Annotated[
        float | None, typer.Option(help="Longest internal step, s; default: that of the recipe")
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(help="Relative tolerance; default: that of the recipe or model, else 1e-8"),
    ] = None,
    flat: Annotated[
        bool,
        typer.Option(
            "--flat",
            help="Read the files as flat classes, as OpenModelica's instantiateModel and "
            "--baseModelica print them",
        ),
    ] = False,
    front_end: Annotated[
        Literal["rumoca", "omc"] | None,
        typer.Option(
            help="Compiler that flattens the classes; omc is that of OpenModelica, if installed"
        ),
    ] = None,
    platform: PlatformOption = None,
    without_sources: Annotated[
        bool, typer.Option("--without-sources", help="Omit the C sources from the FMUs")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Number of parallel builds; default: one per CPU"),
    ] = None,
    force: Annotated[bool, typer.Option(help="Build even if nothing has changed")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Build FMUs from recipes or Modelica files."""
    from orchestrator.export import BuildJob, build_all

    paths = _inputs(recipes or [Path("fmus")])
    if flat and (model or root or front_end or any(path.suffix != ".mo" for path in paths)):
        raise DescriptionError(
            "--flat takes flat classes in .mo files, without --model, --root and --front-end"
        )
    if model and [path.suffix for path in paths] != [".mo"]:
        raise DescriptionError("--model names a class of one Modelica file; give that file alone")
    values = {"method": solver, "max_step": max_step, "tolerance": tolerance}
    options = {key: value for key, value in values.items() if value is not None}
    platforms = platforms_in(platform)
    todo: list[BuildJob] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            recipe = _recipe(path, model, tuple(root or ()), flat=flat)
            recipe = replace(recipe, front_end=front_end or recipe.front_end)
            recipe = replace(recipe, solver=replace(recipe.solver, **options))  # type: ignore[arg-type]
            recipe = replace(recipe, fmi=VERSIONS[fmi] if fmi else recipe.fmi)
            recipe = replace(recipe, platforms=platforms, sources=not without_sources)
            todo.append(BuildJob(recipe, output or path.parent / "build"))
        except SoftdockError as error:
            problems += error.diagnostics
    problems += _same_names(todo)
    with count_bar(messages) as bar:
        bar("Building FMUs", 0, len(todo), 0)
        outcomes = build_all(
            todo,
            workers=jobs,
            force=force,
            done=lambda count: bar("Building FMUs", count, len(todo), 0),
        )
    built = []
    for outcome in outcomes:
        if isinstance(outcome, SoftdockError):
            problems += outcome.diagnostics
        else:
            built.append(outcome)
    if not json:
        print_built(built)
    if problems:
        text = "\n".join(map(str, problems))
        fail("DescriptionError", text, data={"built": _rows(built)}, problems=problems)
    if json:
        print_json(_rows(built))


def _rows(built: list[BuildResult]) -> list[dict[str, Any]]:
    return [
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


def _inputs(paths: list[Path]) -> list[Path]:
    from orchestrator.export import find_recipes

    inputs: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = find_recipes(path)
            if not inside:
                raise LoadError.in_file(path, "the folder holds no recipe (*.toml)")
            inputs += inside
        elif path.is_file():
            inputs.append(path)
        else:
            raise LoadError.in_file(path, "no such recipe, folder of recipes or Modelica file")
    return inputs


def _recipe(path: Path, model: str | None, roots: tuple[Path, ...], *, flat: bool) -> Recipe:
    from orchestrator.export import Recipe

    if flat:
        return Recipe.of_flat(path)
    if path.suffix == ".mo":
        return Recipe.of_file(path, model, roots)
    recipe = Recipe.read(path)
    return replace(recipe, roots=(*recipe.roots, *roots))


def _same_names(todo: list[BuildJob]) -> list[str]:
    """Two FMUs of one name in one folder would overwrite each other."""
    models: dict[tuple[Path, str], str] = {}
    problems = []
    for job in list(todo):
        key = (job.output.resolve(), job.recipe.name)
        if key in models:
            problems.append(
                f"{job.output / job.recipe.name}.fmu would be built from {models[key]} and from"
                f" {job.recipe.model}; give one another name in its recipe"
            )
            todo.remove(job)
        models.setdefault(key, job.recipe.model)
    return problems


app = typer.Typer(help="Inspect and check FMUs of any tool.", no_args_is_help=True)
_STRICT = "Refuse what breaks rules of FMI, also if it does no harm"
_MARKS = {"passed": "pass", "flawed": "warn", "failed": "FAIL", "skipped": "skip"}


@app.command()
def info(
    file: Annotated[Path, typer.Argument(help="An .fmu file")],
    strict: Annotated[bool, typer.Option("--strict", help=_STRICT)] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """List ports, units, capabilities and sizes of an FMU."""
    from orchestrator.checks.inspection import fmu_info

    facts = fmu_info(file)
    if strict and (violations := [*facts["faults"], *facts["flaws"]]):
        raise FmuError.in_file(
            file, f"modelDescription.xml breaks rules of FMI: {'; '.join(violations)}"
        )
    if json:
        print_json(facts)
        return
    sizes = facts["sizes"]
    print_lines(f"{facts['model']}: FMI {facts['fmi_version']}")
    for label, text in (
        ("description", facts["description"]),
        ("tool", facts["tool"]),
        ("platforms", ", ".join(facts["platforms"]) or "none"),
        ("sources", "yes" if facts["has_sources"] else "no"),
        ("sizes", ", ".join(f"{v} {k.replace('_', ' ')}" for k, v in sizes.items())),
        ("experiment", _pairs({k: v for k, v in facts["experiment"].items() if v is not None})),
    ):
        print_lines(f"  {label}: {text}")
    for name, library in facts["windows_libraries"].items():
        needs = library["needs"]
        print_lines(f"  {name} needs: {'it is damaged' if needs is None else ', '.join(needs)}")
        if library["absent"]:
            print_warning(f"{file}: {name}: Wine has no {', '.join(library['absent'])}")
    for text in facts["faults"]:
        print_error(f"{file}: {text}")
    for text in facts["flaws"]:
        print_warning(f"{file}: {text}")
    for name, capabilities in facts["interfaces"].items():
        flags = ", ".join(key for key, value in capabilities.items() if value is True)
        valued = {k: v for k, v in capabilities.items() if not isinstance(v, bool)}
        print_lines(f"  {name}: {_pairs(valued)}{', ' if flags else ''}{flags}")
    columns = ["name", "causality", "type", "unit", "start", "min", "max"]
    rows = [[_cell(port, column) for column in columns] for port in facts["ports"]]
    print_table("ports", columns, rows)


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="An .fmu file")],
    timeout: Annotated[
        float, typer.Option(help="Time limit for the checks of one interface, s")
    ] = 60.0,
    strict: Annotated[bool, typer.Option("--strict", help=_STRICT)] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Check the description of an FMU, then call it."""
    from orchestrator.checks.inspection import check_fmu

    results = check_fmu(file, timeout=timeout, strict=strict)
    failed = sum(result.outcome == "failed" for result in results)
    if json:
        print_json({"file": str(file), "failed": failed, "checks": [asdict(r) for r in results]})
    else:
        for result in results:
            print_lines(
                f"{_MARKS[result.outcome]}  {result.interface}: {result.name}: {result.remark}",
            )
        console.print(f"{len(results) - failed} of {len(results)} without failure")
    if failed:
        raise typer.Exit(1)


def _pairs(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _cell(port: dict[str, Any], column: str) -> str:
    value = port[column]
    if column == "type" and port["literals"]:
        value = f"{value}({', '.join(port['literals'])})"
    if column == "type" and port["shape"]:
        value = f"{value}{port['shape']}"
    return "" if value is None else str(value)
