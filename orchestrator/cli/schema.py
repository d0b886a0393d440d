"""``softdock schema``: JSON schemas of all TOML files, from the models that read them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.terminal.console import output as console
from orchestrator.cli.terminal.console import print_json
from orchestrator.core.diagnostics import UnknownNameError, nearest

if TYPE_CHECKING:
    from pydantic import BaseModel

#: Where the model of each kind of file is.
MODELS = {
    "experiment": "orchestrator.study.file.experiment:Experiment",
    "system": "orchestrator.author.tables:SystemFile",
    "recipe": "orchestrator.export.recipe:RecipeFile",
    "scene": "orchestrator.pictures.animation:Scene",
    "twin": "orchestrator.rig.identification.twin_file:TwinFile",
}
_DEVICE = "device-"


def kinds() -> list[str]:
    """Names of all schemas: those of files, and of the settings of each registered device."""
    from orchestrator.core.plugin_group import registered

    return [*MODELS, *sorted(_DEVICE + entry.name for entry in registered("softdock.devices"))]


def schema_of(kind: str) -> dict[str, Any]:
    """Return the schema of a kind of file."""
    if kind not in kinds():
        known = ", ".join(kinds())
        raise UnknownNameError(f"no schema '{kind}'{nearest(kind, kinds())}; there are: {known}")
    found = _model(kind).model_json_schema()
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return head | {"title": f"Softdock: {kind}"} | {k: v for k, v in found.items() if k != "title"}


def _model(kind: str) -> type[BaseModel]:
    if kind.startswith(_DEVICE):
        from orchestrator.rig.devices import device_class

        return device_class(kind.removeprefix(_DEVICE)).Settings
    module, _, name = MODELS[kind].partition(":")
    model: type[BaseModel] = getattr(import_module(module), name)
    return model


def file_text(kind: str) -> str:
    """Return the text of a schema's file."""
    from json import dumps

    return dumps(schema_of(kind), indent=1, ensure_ascii=False) + "\n"


def schema(
    kind: Annotated[
        str | None, typer.Argument(help="What to print the schema of; none: list them")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", help="Write all into this folder, as KIND.json")
    ] = None,
) -> None:
    """Print the JSON schema of a kind of TOML file, for editors and validators."""
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        for each in [kind] if kind else kinds():
            (output / f"{each}.json").write_text(file_text(each), encoding="utf-8")
            console.print(str(output / f"{each}.json"), markup=False)
    elif kind is None:
        console.print("\n".join(kinds()), markup=False)
    else:
        print_json(schema_of(kind))
