"""Commands that write files: schemas, names for editors, examples, results of other kinds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.console import print_json, print_lines, print_warning
from orchestrator.core.diagnostics import LoadError, UnknownNameError, choices_for
from orchestrator.core.optional_packages import optional_imports
from orchestrator.core.system import Causality, Connector, DataType, System

if TYPE_CHECKING:
    from pydantic import BaseModel


def convert(
    source: Annotated[
        Path, typer.Argument(help="Result: .parquet, .npz, .mcap, .csv, .mat, or NAME.partial")
    ],
    target: Annotated[Path, typer.Argument(help="File to write; its suffix selects the format")],
) -> None:
    """Convert a result to another file format."""
    from orchestrator.core.recording import read_result, writer
    from orchestrator.core.recording.files import expect_other

    write = writer(target.suffix.removeprefix("."))
    expect_other(source, target)
    result = read_result(source)
    for note in result.notes:
        print_warning(note)
    write(result, target)
    print_lines(target)


app = typer.Typer(
    help="List and copy examples, recipes and the Modelica library.", no_args_is_help=True
)


@app.command()
def where(json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False) -> None:
    """Print the folder with the installed examples."""
    from orchestrator.author.examples import FOLDERS, shared_folder

    folder = shared_folder()
    if json:
        print_json({name: str(folder / name) for name in FOLDERS})
        return
    print_lines(folder)


@app.command("list")
def list_examples(
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """List the examples with their titles."""
    from orchestrator.author.examples import example_names

    names = example_names()
    if json:
        print_json(names)
        return
    width = max(map(len, names))
    print_lines(*(f"{name:{width}}  {title}" for name, title in names.items()))


@app.command()
def copy(
    name: Annotated[str, typer.Argument(help="An example, as `list` prints it, or all")],
    folder: Annotated[
        Path | None, typer.Argument(help="The new folder; default: the name of the example")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Copy one example, or all of them.

    All of them come with the recipes of FMUs and the Modelica library.
    """
    from orchestrator.author.examples import FOLDERS, copy_example, copy_examples
    from orchestrator.core.optional_packages import install_line

    target = Path("softdock-examples" if name == "all" else name) if folder is None else folder
    if name == "all":
        copy_examples(target)
        if json:
            print_json({name: str(target / name) for name in FOLDERS})
            return
        print_lines(
            f"{target}: {', '.join(FOLDERS)}", f"next: cd {target}; softdock run examples/epos"
        )
        return
    recipes = copy_example(name, target)
    if json:
        print_json({"folder": str(target), "build": [str(path) for path in recipes]})
        return
    print_lines(f"{target}: the example, its FMUs and their sources")
    if recipes:
        folders = sorted({str(path.parent) for path in recipes})
        needs = f"{install_line('modelica')}, and a C compiler"
        print_lines(f"build its other FMUs first: softdock build {' '.join(folders)}")
        print_lines(f"building needs {needs}")
    if (target / "experiment.toml").is_file():
        print_lines(f"next: softdock run {target}")
    else:
        print_lines(f"next: {target / 'README.md'} names the experiments to run")


def _experiment() -> type[BaseModel]:
    from orchestrator.study import Experiment

    return Experiment


def _system() -> type[BaseModel]:
    from orchestrator.author.tables import SystemFile

    return SystemFile


def _recipe() -> type[BaseModel]:
    from orchestrator.export.recipe import RecipeFile

    return RecipeFile


def _scene() -> type[BaseModel]:
    from orchestrator.pictures.animation import Scene

    return Scene


def _twin() -> type[BaseModel]:
    from orchestrator.rig.hardware.twin_file import TwinFile

    return TwinFile


#: Imports the model of each kind of file.
MODELS: dict[str, Callable[[], type[BaseModel]]] = {
    "experiment": _experiment,
    "system": _system,
    "recipe": _recipe,
    "scene": _scene,
    "twin": _twin,
}
_DEVICE = "device-"


def kinds() -> list[str]:
    """Names of all schemas: those of files, and of the settings of each registered device."""
    from orchestrator.core.plugins import registered

    return [*MODELS, *sorted(_DEVICE + entry.name for entry in registered("softdock.devices"))]


def schema_of(kind: str) -> dict[str, Any]:
    """Return the schema of a kind of file."""
    if kind not in kinds():
        raise UnknownNameError(f"no schema '{kind}'{choices_for(kind, kinds(), 'schema')}")
    model: type[BaseModel]
    if kind.startswith(_DEVICE):
        from orchestrator.rig.devices import device_class

        model = device_class(kind.removeprefix(_DEVICE)).Settings
    else:
        with optional_imports():
            model = MODELS[kind]()
    model_schema = model.model_json_schema()
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return (
        head
        | {"title": f"Softdock: {kind}"}
        | {k: v for k, v in model_schema.items() if k != "title"}
    )


def file_text(kind: str) -> str:
    """Return the text of a schema's file."""
    from json import dumps

    return dumps(schema_of(kind), indent=1, ensure_ascii=False) + "\n"


def schema(
    kind: Annotated[
        str | None, typer.Argument(help="Kind of file; omit it to list all kinds")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", help="Write all schemas into this folder, as KIND.json"),
    ] = None,
) -> None:
    """Print the JSON schema of a kind of TOML file.

    Editors and validators use it.
    """
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        for file_kind in [kind] if kind else kinds():
            (output / f"{file_kind}.json").write_text(
                file_text(file_kind), encoding="utf-8", newline="\n"
            )
            print_lines(str(output / f"{file_kind}.json"))
    elif kind is None:
        print_lines("\n".join(kinds()))
    else:
        print_json(schema_of(kind))


_HEAD = '''"""Names and types of {file}, written by `softdock stubs`."""
# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orchestrator import Execution

'''
_TAIL = '''

def typed(execution: Execution) -> Run:
    """Return the execution, whose names a checker of types then knows."""
    return execution  # type: ignore[return-value]
'''
#: Of values that are read: numbers are floats, whatever type the connector has.
_READ = {DataType.STRING: "str", DataType.BINARY: "bytes"}
_WRITTEN = {
    DataType.REAL: "float",
    DataType.INTEGER: "int",
    DataType.BOOLEAN: "bool",
    DataType.CLOCK: "bool",
    **_READ,
}


def stub_text(system: System, file: str) -> str:
    """Return the module of a system without nested systems."""
    connectors = dict(system.connectors)
    for name, component in system.components.items():
        connectors |= {f"{name}.{c.name}": c for c in component.connectors.values()}
    fed = {str(line.target) for line in system.connections}
    free = {n: c for n, c in connectors.items() if c.causality is Causality.INPUT and n not in fed}
    aliases = {
        "Component": list(system.components),
        "Output": [n for n, c in connectors.items() if c.causality is Causality.OUTPUT],
        "FreeInput": list(free),
        "Parameter": [n for n, c in connectors.items() if c.causality is Causality.PARAMETER],
    }
    lines = [_HEAD.format(file=file)]
    lines += [f"{name} = {_literal(names)}\n" for name, names in aliases.items() if names]
    lines += ["\nif TYPE_CHECKING:\n", "    class Run(Execution):\n"]
    lines += _overloads("get", "", {n: _type(c, written=False) for n, c in connectors.items()})
    lines += _overloads("set", ", value: {}", {n: _type(c, written=True) for n, c in free.items()})
    lines += ["else:\n", "    Run = Execution\n", _TAIL]
    return "".join(lines)


def _literal(names: Iterable[str]) -> str:
    return f"Literal[{', '.join(map(repr, names))}]"


def _type(connector: Connector, *, written: bool) -> str:
    if connector.shape:
        return "ArrayLike" if written else "NDArray[np.float64]"
    return _WRITTEN[connector.type] if written else _READ.get(connector.type, "float")


def _overloads(method: str, value: str, types: dict[str, str]) -> Iterator[str]:
    """Give a method for each type, with the names that have it."""
    kinds = sorted(set(types.values()))
    for kind in kinds:
        names = _literal(name for name, item_type in types.items() if item_type == kind)
        if len(kinds) > 1:
            yield "        @overload\n"
        result = "None" if value else kind
        parameters = f"self, name: {names}{value.format(kind)}"
        yield f"        def {method}({parameters}) -> {result}: ...  # type: ignore[override]\n"


def stubs(
    target: Annotated[
        Path, typer.Argument(help="System (.toml, .ssd, .ssp), or a folder with one")
    ],
    output: Annotated[
        Path | None,
        typer.Option(help="Module to write; default: NAME_types.py in the current folder"),
    ] = None,
) -> None:
    """Write the names and types of a system as a Python module.

    Editors and type checkers use it.
    """
    from orchestrator.author import read_system
    from orchestrator.core.recording import whole_file
    from orchestrator.core.simunits import resolve
    from orchestrator.core.ssp.archive.sources import main_file

    file = main_file(target)
    system = resolve(read_system(file)).flat()
    name = re.sub(r"\W", "_", (target if target.is_dir() else file).resolve().stem)
    path = Path(f"{name}_types.py") if output is None else output
    if path.suffix not in {".py", ".pyi"}:
        raise LoadError.in_file(path, "expected a module to write, which ends in .py")
    with whole_file(path) as draft:
        draft.write_text(stub_text(system, file.name), encoding="utf-8", newline="\n")
    print_lines(path)
