"""``softdock system``: systems shown, made, edited in place, and rewritten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from orchestrator.cli import edit
from orchestrator.cli.console import messages, print_json, print_lines
from orchestrator.cli.edit import Inside, Target, Variant, begin, done
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.structs import replace
from orchestrator.core.system import System

_NONE = "'none' removes it"


def new(
    target: Annotated[Path, typer.Argument(help="File to write: .toml, .ssd or .ssp")],
    name: Annotated[
        str | None, typer.Option(help="Name of the system; default: that of the file")
    ] = None,
    description: Annotated[str, typer.Option(help="Description in one line")] = "",
) -> None:
    """Write a file with an empty system."""
    _expect_system_suffix(target)
    if target.exists():
        raise DescriptionError(f"{target}: is there already; edit it, or choose another name")
    if not target.parent.is_dir():
        raise DescriptionError(f"{target}: there is no folder '{target.parent}'")
    system = System(target.stem if name is None else name, description=description)
    _write(system, target)
    print_lines(f"{target}: written")


def _write(
    system: System, target: Path, parameters: str | None = None, *, connectors: bool = True
) -> None:
    """Write a system as the kind of file that its name says."""
    from orchestrator.author import write_toml
    from orchestrator.core.ssp import write_ssd, write_ssp

    match target.suffix.lower():
        case ".toml":
            write_toml(system, target, connectors=connectors)
        case ".ssd":
            write_ssd(system, target, parameters=parameters, connectors=connectors)
        case _:
            write_ssp(system, target, parameters=parameters)


def add_system(
    target: Target,
    name: Annotated[str, typer.Argument(help="Name of the nested system")],
    description: Annotated[str, typer.Option(help="Description in one line")] = "",
    variant: Variant = None,
    inside: Inside = "",
) -> None:
    """Add an empty nested system, to be edited with --in."""
    edit = begin(target, variant, inside)
    edit.change(lambda system: system.add(name, System(name, description=description)))
    done(edit, f"+ {edit.path(name)} (system)")


def experiment(
    target: Target,
    start: Annotated[str | None, typer.Option(help="Start time, such as '0 s'")] = None,
    stop: Annotated[str | None, typer.Option(help=f"Stop time, such as '60 s'; {_NONE}")] = None,
    step: Annotated[
        str | None, typer.Option(help=f"Communication step, such as '1 ms'; {_NONE}")
    ] = None,
    algorithm: Annotated[str | None, typer.Option(help=f"Master algorithm; {_NONE}")] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="Option of the algorithm, name=value; repeatable")
    ] = None,
    rate: Annotated[
        list[str] | None,
        typer.Option(
            help="Rate of a component, component=N: it steps once every N steps; repeatable"
        ),
    ] = None,
    variant: Variant = None,
) -> None:
    """Set the default times, step, algorithm and rates."""
    from orchestrator.cli.run import options_of

    texts = {"start": start, "stop": stop, "step": step, "algorithm": algorithm}
    changes: dict[str, Any] = {
        key: None if text == "none" else text for key, text in texts.items() if text is not None
    }
    if option:
        changes["algorithm_options"] = options_of(option, "--option")
    if rate:
        changes["rates"] = options_of(rate, "--rate")
    if not changes:
        raise DescriptionError("experiment: expected at least one option, such as --step '1 ms'")
    edit = begin(target, variant, "")
    _expect_known(edit.system.with_experiment(**changes))
    edit.change(lambda system: system.with_experiment(**changes))
    done(edit, *(f"{key} = {'none' if v is None else v}" for key, v in changes.items()))


def _expect_known(system: System) -> None:
    """Expect that the algorithm, its options and the components with rates exist."""
    from orchestrator.core.master import ExecutionSettings, plan_of
    from orchestrator.core.system.naming import unknown_name_error

    settings = ExecutionSettings.of(system)
    plan_of(
        settings.algorithm,
        replace(system, components={}, connections=()),
        settings.algorithm_options,
    )
    components = system.flat().components
    for name, steps in settings.rates.items():
        if name not in components:
            raise unknown_name_error(f"system '{system.name}'", "component", name, components)
        if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
            raise DescriptionError(f"--rate {name}={steps}: expected a whole number of steps >= 1")


Version = Annotated[Literal["1.0", "2.0"], typer.Option("--ssp", help="Version of SSP")]


def parameters(
    target: Target,
    file: Annotated[Path, typer.Argument(help="File to write (.ssv)")],
    assignments: Annotated[
        list[str] | None,
        typer.Argument(help="component.parameter=value; default: all values of the system"),
    ] = None,
    variant: Variant = None,
    ssp: Version = "1.0",
) -> None:
    """Write a parameter set.

    It has the given values, or all values of the system.
    """
    from orchestrator.author.reading import assigned
    from orchestrator.core.ssp import write_parameter_set

    _expect_suffix(file, ".ssv")
    system = begin(target, variant, "").system
    if assignments:
        system = assigned(_without_values(system), *assignments)
    # A run knows components, and no longer the connectors of nested systems.
    write_parameter_set(system.flat(), file, name=file.stem, version=ssp)
    print_lines(f"{file}: written")


def _without_values(system: System) -> System:
    components = {n: replace(c, values={}) for n, c in system.components.items()}
    systems = {n: _without_values(inner) for n, inner in system.systems.items()}
    return replace(system, components=components, systems=systems, values={})


def mapping(
    file: Annotated[Path, typer.Argument(help="File to write (.ssm)")],
    entries: Annotated[list[str], typer.Argument(help="component.parameter=NAME_IN_SET")],
    ssp: Version = "1.0",
) -> None:
    """Write a mapping for a parameter set."""
    from orchestrator.cli.run import pairs
    from orchestrator.core.ssp import write_parameter_mapping

    _expect_suffix(file, ".ssm")
    form = "component.parameter=name"
    write_parameter_mapping(pairs(entries, "mapping", form), file, version=ssp)
    print_lines(f"{file}: written")


def link(
    target: Annotated[Path, typer.Argument(help="System (.ssd, .ssp), or a folder with one")],
    values: Annotated[Path, typer.Argument(help="Parameter set (.ssv)")],
    mapping: Annotated[Path | None, typer.Option(help="Mapping of the set (.ssm)")] = None,
    prefix: Annotated[str, typer.Option(help="Prefix of every name, such as 'arm.'")] = "",
    inside: Annotated[
        str, typer.Option("--in", help="Path of the system or component that receives the values")
    ] = "",
    variant: Variant = None,
) -> None:
    """Link a parameter set to a system.

    An archive receives a copy of the set.
    """
    from orchestrator.author import open_document
    from orchestrator.author.ssp_edit.document import Document

    document = open_document(target, variant)
    if not isinstance(document, Document):
        raise DescriptionError.in_file(
            target,
            "a system file (.toml) has no references to parameter sets; name them in the"
            " case (parameters = [..]), or at the run (--parameters)",
        )
    document.link(values, mapping, prefix, inside)
    document.save()
    print_lines(f"{target}: written")
    print_lines(f"+ {values}" + (f" by {mapping}" if mapping else ""))


def _expect_system_suffix(target: Path) -> str:
    if target.suffix.lower() not in {".toml", ".ssd", ".ssp"}:
        raise DescriptionError(f"{target}: expected a name that ends in .toml, .ssd or .ssp")
    return target.suffix.lower()


def _expect_suffix(file: Path, suffix: str) -> None:
    if file.suffix.lower() != suffix:
        raise DescriptionError.in_file(file, f"expected a name that ends in {suffix}")


def show(
    target: Target,
    variant: Variant = None,
    inside: Inside = "",
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Show components, values, connectors and connections."""
    from orchestrator.author import read_system
    from orchestrator.cli.target import unopened_lines
    from orchestrator.core.ssp.archive.unpacking import unpacked
    from orchestrator.core.system.source import packed_code_unopened

    with packed_code_unopened():
        system = read_system(target, variant).nested(inside)
        notes = unopened_lines(system)
    folder = unpacked(target) if target.suffix.lower() == ".ssp" else None
    if json:
        from orchestrator.author.toml_write import data_of

        print_json(data_of(system, folder or Path.cwd()))
    else:
        print_lines(*_lines(system, "", folder))
    for note in notes:
        messages.print(note, markup=False)


def _lines(system: System, margin: str, folder: Path | None) -> list[str]:
    """Write a system, sources in an archive as they are called in it."""
    after = f": {system.description}" if system.description else ""
    lines = [f"{margin}{system.name or 'system'}{after}"]
    margin += "  "
    for name, connector in system.connectors.items():
        value = f" = {system.values[name]!r}" if name in system.values else ""
        unit = f" in {connector.unit}" if connector.unit else ""
        lines.append(f"{margin}{connector.causality} {connector.type}{unit} {name}{value}")
    for name, component in system.components.items():
        source = str(component.source)
        short_source = source.replace(f"{folder}/", "", 1) if folder else source
        lines.append(f"{margin}{name} ({short_source})")
        lines += [f"{margin}  {key} = {value!r}" for key, value in component.values.items()]
        options = component.options.differing_texts()
        lines += [f"{margin}  option {key} = {text}" for key, text in options.items()]
        lines += [f"{margin}  power port {port}" for port in component.power_ports]
    for inner in system.systems.values():
        lines += _lines(inner, margin, folder)
    for line in system.connections:
        delay_text = f" ({line.delay.nominal_ns / 1e6:g} ms)" if line.delay else ""
        lines.append(f"{margin}{line}{delay_text}")
    return lines


def convert(
    source: Target,
    target: Annotated[Path, typer.Argument(help="File to write: .toml, .ssd or .ssp")],
    variant: Variant = None,
    brief: Annotated[
        bool,
        typer.Option(
            "--brief",
            help="Omit the connectors in a .toml or .ssd; readers take them from the sources",
        ),
    ] = False,
    parameters: Annotated[
        str | None,
        typer.Option(
            help="In an .ssd or .ssp: write all values into this linked file, such as a.ssv"
        ),
    ] = None,
) -> None:
    """Convert a system to another file format.

    FMUs of an archive are unpacked into a folder next to a .toml or .ssd file.
    """
    from orchestrator.author import read_system

    suffix = _expect_system_suffix(target)
    if target.exists() and target.samefile(source):
        raise DescriptionError(f"{target}: expected another file than the one that is read")
    if parameters is not None and suffix == ".toml":
        raise DescriptionError("--parameters: a system file (.toml) links no parameter sets")
    if brief and suffix == ".ssp":
        raise DescriptionError("--brief: an archive declares all connectors of its components")
    packed = source.suffix.lower() == ".ssp" and suffix != ".ssp"
    folder = target.with_name(f"{target.stem}.files") if packed else None
    system = read_system(source, variant, unpack_to=folder)
    _write(system, target, parameters, connectors=not brief)
    print_lines(target)


app = typer.Typer(help="Show, edit and convert systems.", no_args_is_help=True)
_COMMANDS: dict[str, Callable[..., None]] = {
    "show": show,
    "new": new,
    "add": edit.add,
    "add-system": add_system,
    "experiment": experiment,
    "connect": edit.connect,
    "connect-power": edit.connect_power,
    "auto-connect": edit.auto_connect,
    "set-delay": edit.set_delay,
    "disconnect": edit.disconnect,
    "expose": edit.expose,
    "set": edit.set_,
    "unset": edit.unset,
    "parameters": parameters,
    "mapping": mapping,
    "link": link,
    "rename": edit.rename,
    "remove": edit.remove,
    "swap": edit.swap,
    "move": edit.move,
    "convert": convert,
}
for name, command in _COMMANDS.items():
    app.command(name)(command)
