"""``softdock system``: systems shown, edited in place, and written as another kind of file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator.cli.edit import edit, edit_lines, edit_parameters, edit_systems
from orchestrator.cli.edit.edit import Inside, Target, Variant
from orchestrator.cli.terminal.console import messages, print_json
from orchestrator.cli.terminal.console import output as console
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import Connector, System


def show(
    target: Target,
    variant: Variant = None,
    inside: Inside = "",
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Show what is in a system: components, values, connectors of its own, connections."""
    from orchestrator.author import read_system
    from orchestrator.cli.target import unopened_lines
    from orchestrator.core.ssp.archive.unpacking import unpacked
    from orchestrator.core.system.packed_code import packed_code_unopened

    with packed_code_unopened():
        system = read_system(target, variant).nested(inside)
        notes = unopened_lines(system)
    folder = unpacked(target) if target.suffix.lower() == ".ssp" else None
    if json:
        print_json(_as_json(system, folder or Path.cwd()))
    else:
        for line in _lines(system, "", folder):
            console.print(line, markup=False)
    for note in notes:
        messages.print(note, markup=False)


def _lines(system: System, margin: str, folder: Path | None) -> list[str]:
    """Write a system, sources in an archive as they are called in it."""
    lines = [f"{margin}{system.name or 'system'}" + _after(system.description)]
    margin += "  "
    for name, connector in system.connectors.items():
        value = f" = {system.values[name]!r}" if name in system.values else ""
        lines.append(f"{margin}{_port(connector)} {name}{value}")
    for name, component in system.components.items():
        source = str(component.source)
        shown = source.replace(f"{folder}/", "", 1) if folder else source
        lines.append(f"{margin}{name} ({shown})")
        lines += [f"{margin}  {key} = {value!r}" for key, value in component.values.items()]
        options = component.options.said()
        lines += [f"{margin}  option {key} = {text}" for key, text in options.items()]
        lines += [f"{margin}  power port {port}" for port in component.power_ports]
    for inner in system.systems.values():
        lines += _lines(inner, margin, folder)
    for line in system.connections:
        late = f" ({line.delay.nominal_ns / 1e6:g} ms)" if line.delay else ""
        lines.append(f"{margin}{line}{late}")
    return lines


def _after(text: str) -> str:
    return f": {text}" if text else ""


def _port(connector: Connector) -> str:
    return f"{connector.causality} {connector.type}" + (
        f" in {connector.unit}" if connector.unit else ""
    )


def _as_json(system: System, folder: Path) -> dict[str, Any]:
    from orchestrator.author.toml_data import data_of

    return data_of(system, folder)


def convert(
    source: Target,
    target: Annotated[Path, typer.Argument(help="The new .toml, .ssd or .ssp file")],
    variant: Variant = None,
    brief: Annotated[
        bool, typer.Option("--brief", help="In a .toml or .ssd: leave connectors to the sources")
    ] = False,
    parameters: Annotated[
        str | None,
        typer.Option(help="In an .ssd or .ssp: put all values into this linked file, as a.ssv"),
    ] = None,
) -> None:
    """Write a system as another kind of file.

    FMUs of an archive are unpacked into a folder beside a .toml or .ssd file.
    """
    from orchestrator.author import read_system, write_toml
    from orchestrator.core.ssp import write_ssd, write_ssp

    suffix = target.suffix.lower()
    if suffix not in {".toml", ".ssd", ".ssp"}:
        raise DescriptionError(f"{target}: expected a name that ends in .toml, .ssd or .ssp")
    if target.exists() and target.samefile(source):
        raise DescriptionError(f"{target}: expected another file than the one that is read")
    if parameters is not None and suffix == ".toml":
        raise DescriptionError("--parameters: a system file (.toml) links no parameter sets")
    if brief and suffix == ".ssp":
        raise DescriptionError("--brief: an archive declares all connectors of its components")
    packed = source.suffix.lower() == ".ssp" and suffix != ".ssp"
    folder = target.with_name(f"{target.stem}.files") if packed else None
    system = read_system(source, variant, unpack_to=folder)
    match suffix:
        case ".toml":
            write_toml(system, target, connectors=not brief)
        case ".ssd":
            write_ssd(system, target, parameters=parameters, connectors=not brief)
        case _:
            write_ssp(system, target, parameters=parameters)
    console.print(str(target), markup=False)


app = typer.Typer(help="Show, edit in place and convert systems.", no_args_is_help=True)
_COMMANDS: dict[str, Callable[..., None]] = {
    "show": show,
    "new": edit_systems.new,
    "add": edit.add,
    "add-system": edit_systems.add_system,
    "experiment": edit_systems.experiment,
    "connect": edit_lines.connect,
    "connect-power": edit_lines.connect_power,
    "auto-connect": edit_lines.auto_connect,
    "set-delay": edit_lines.set_delay,
    "disconnect": edit_lines.disconnect,
    "expose": edit.expose,
    "set": edit.set_,
    "unset": edit.unset,
    "parameters": edit_parameters.parameters,
    "mapping": edit_parameters.mapping,
    "link": edit_parameters.link,
    "rename": edit.rename,
    "remove": edit.remove,
    "swap": edit.swap,
    "move": edit.move,
    "convert": convert,
}
for name, command in _COMMANDS.items():
    app.command(name)(command)
