"""``softdock examples``: the examples with all that they need, copied to a folder to work in."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.terminal.console import output as console
from orchestrator.cli.terminal.console import print_json
from orchestrator.core.diagnostics import LoadError

#: The folders that belong together: systems name FMUs of the recipes, and these classes of the
#: Modelica library, by where they lie among themselves.
FOLDERS = ("examples", "fmus", "modelica")

app = typer.Typer(help="Examples, recipes and the Modelica library.", no_args_is_help=True)


def shared() -> Path:
    """Return where the folders are: ``orchestrator/shared`` of a wheel, or a checkout."""
    package = Path(__file__).parents[1]
    for place in (package / "shared", package.parent):
        if all((place / name).is_dir() for name in FOLDERS):
            return place
    raise LoadError(
        f"{package / 'shared'}: no examples are installed; take those of a checkout of Softdock"
    )


@app.command()
def where(json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False) -> None:
    """Print the folder that has them, as they were installed."""
    place = shared()
    if json:
        print_json({name: str(place / name) for name in FOLDERS})
        return
    console.print(str(place), markup=False)


@app.command()
def copy(
    folder: Annotated[Path, typer.Argument(help="Made if it is not there")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Copy examples, recipes of FMUs and the Modelica library; what was built is left out."""
    place = shared()
    taken = [folder / name for name in FOLDERS if (folder / name).exists()]
    if taken:
        raise LoadError(f"{taken[0]}: is there already; give another folder")
    unwanted = shutil.ignore_patterns("build", "results", "__pycache__", "*.py[cod]")
    for name in FOLDERS:
        shutil.copytree(place / name, folder / name, ignore=unwanted)
    if json:
        print_json({name: str(folder / name) for name in FOLDERS})
        return
    console.print(f"{folder}: {', '.join(FOLDERS)}", markup=False)
    console.print("go there, and: softdock build fmus; softdock run examples/epos", markup=False)
