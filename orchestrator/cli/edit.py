"""``softdock system ..``: edits of .ssd, .ssp and .toml files in place, and of connections."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.console import messages, print_lines
from orchestrator.core.diagnostics import DescriptionError

if TYPE_CHECKING:
    from orchestrator.author.edit import FileEdit


Target = Annotated[Path, typer.Argument(help="System (.toml, .ssd, .ssp), or a folder with one")]
Variant = Annotated[
    str | None, typer.Option(help="Which .ssd of an archive or a folder; default: the main one")
]
Inside = Annotated[str, typer.Option("--in", help="Path of the nested system; default: the top")]
Delay = Annotated[str | None, typer.Option(help="Transport delay, such as '16 ms'; default: none")]


def begin(target: Path, variant: str | None, inside: str) -> FileEdit:
    """Open a file, and say what of it could not be checked."""
    from orchestrator.author.edit import FileEdit

    edit = FileEdit(target, variant, inside)
    for text in edit.unchecked:
        messages.print(f"not checked: {text}", markup=False, style="yellow")
    return edit


def done(edit: FileEdit, *lines: str) -> None:
    """Write the file, and say what has changed."""
    edit.document.save()
    print_lines(f"{edit.document.path}: written", *lines)


def add(
    target: Target,
    name: Annotated[str, typer.Argument(help="Name of the component or nested system")],
    source: Annotated[str, typer.Argument(help="An .fmu, block:NAME, or a system file")],
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="parameter=value; repeatable")
    ] = None,
    variant: Variant = None,
    inside: Inside = "",
) -> None:
    """Add a component, or a nested system from a file."""
    from orchestrator.author.edit import part_of
    from orchestrator.author.reading import assigned

    values = [f"{name}.{text}" for text in set_ or []]
    edit = begin(target, variant, inside)
    edit.change(lambda system: assigned(system.add(name, part_of(source)), *values))
    done(edit, f"+ {edit.path(name)} ({source})")


def remove(
    target: Target,
    names: Annotated[list[str], typer.Argument(help="Components or nested systems")],
    variant: Variant = None,
    inside: Inside = "",
) -> None:
    """Remove components or nested systems, and their connections."""
    from orchestrator.core.system import System

    edit = begin(target, variant, inside)
    changed = edit.change(lambda system: reduce(System.remove, names, system))
    done(edit, *(f"- {edit.path(name)}" for name in names), *changed)


def rename(
    target: Target,
    name: Annotated[str, typer.Argument(help="Path of a component or nested system")],
    new: Annotated[str, typer.Argument(help="New name")],
    variant: Variant = None,
    inside: Inside = "",
) -> None:
    """Rename a component or nested system."""
    edit = begin(target, variant, inside)
    edit.rename(name, new)
    done(edit, f"{edit.path(name)} is now called {new}")


def move(
    target: Target,
    name: Annotated[str, typer.Argument(help="Path of a component or nested system")],
    into: Annotated[
        str, typer.Argument(help="Path of the nested system to move it into; '' is the top")
    ],
    variant: Variant = None,
) -> None:
    """Move an unconnected component or nested system."""
    edit = begin(target, variant, "")
    edit.move(name, into)
    done(edit, f"{name} is now in {into or 'the system itself'}")


def swap(
    target: Target,
    name: Annotated[str, typer.Argument(help="Path of a component")],
    source: Annotated[str, typer.Argument(help="An .fmu, or block:NAME")],
    variant: Variant = None,
    inside: Inside = "",
) -> None:
    """Replace a source by another with the same ports."""
    from orchestrator.author.edit import part_of
    from orchestrator.core.system import Component, System
    from orchestrator.core.system.hierarchy import component_at

    def swapped(system: System) -> System:
        part = part_of(source, component_at(system, name))
        if not isinstance(part, Component):
            raise DescriptionError(f"swap {name}: expected an .fmu or block:NAME, found '{source}'")
        return system.swap(name, part)

    edit = begin(target, variant, inside)
    edit.change(swapped)
    done(edit, f"{edit.path(name)} is now {source}")


def set_(
    target: Target,
    assignments: Annotated[list[str], typer.Argument(help="component.parameter=value")],
    variant: Variant = None,
    inside: Inside = "",
) -> None:
    """Set values of parameters and start values of inputs."""
    from orchestrator.author.reading import assigned

    edit = begin(target, variant, inside)
    edit.change(lambda system: assigned(system, *assignments))
    done(edit, *assignments)


def unset(
    target: Target,
    paths: Annotated[list[str], typer.Argument(help="component.parameter")],
    variant: Variant = None,
    inside: Inside = "",
) -> None:
    """Remove values, so that the defaults of the sources apply."""
    from orchestrator.core.system import System

    edit = begin(target, variant, inside)
    edit.change(lambda system: reduce(System.unset, paths, system))
    done(edit, *(f"- {path}" for path in paths))


def expose(
    target: Target,
    name: Annotated[str, typer.Argument(help="Name of the new connector")],
    to: Annotated[
        list[str],
        typer.Argument(help="component.connector that it leads to; several are fed together"),
    ],
    unit: Annotated[
        str | None,
        typer.Option(help="Unit of the new connector; default: that of the first target"),
    ] = None,
    variant: Variant = None,
    inside: Inside = "",
) -> None:
    """Add a connector that leads to connectors of components."""
    edit = begin(target, variant, inside)
    done(edit, *edit.change(lambda system: system.expose(name, to, unit=unit)))


def connect(
    target: Target,
    source: Annotated[str, typer.Argument(help="component.output, or an input of the system")],
    into: Annotated[str, typer.Argument(help="component.input, or an output of the system")],
    delay: Delay = None,
    factor: Annotated[float, typer.Option(help="Factor, applied after the unit conversion")] = 1.0,
    offset: Annotated[float, typer.Option(help="Offset, applied after the factor")] = 0.0,
    map_: Annotated[
        list[str] | None, typer.Option("--map", help="Map a value, such as 0=3; repeatable")
    ] = None,
    interpolation: Annotated[
        str | None, typer.Option(help="Interpolation between delayed samples")
    ] = None,
    extrapolation: Annotated[
        str | None, typer.Option(help="Extrapolation beyond the newest sample")
    ] = None,
    compensation: Annotated[
        str | None,
        typer.Option(help="Compensation of an undelayed connection: nepce, corrector or energy"),
    ] = None,
    suppress_unit_conversion: Annotated[
        bool, typer.Option("--suppress-unit-conversion", help="Skip unit checks and conversion")
    ] = False,
    variant: Variant = None,
    inside: Inside = "",
) -> None:
    """Connect an output to an input."""
    mapping = _mapping(map_) if map_ else None
    edit = begin(target, variant, inside)
    changed = edit.change(
        lambda system: system.connect(
            source,
            into,
            delay=delay,
            factor=factor,
            offset=offset,
            mapping=mapping,
            interpolation=interpolation,
            extrapolation=extrapolation,
            compensation=compensation,
            suppress_unit_conversion=suppress_unit_conversion,
        )
    )
    done(edit, *changed)


def _mapping(texts: list[str]) -> dict[int, int]:
    table = {}
    for text in texts:
        source, _, target = text.partition("=")
        try:
            table[int(source)] = int(target)
        except ValueError:
            raise DescriptionError(
                f"--map {text}: expected two whole numbers, such as 0=3"
            ) from None
    return table


def set_delay(
    target: Target,
    source: Annotated[str, typer.Argument(help="component.output, or an input of the system")],
    into: Annotated[str, typer.Argument(help="component.input, or an output of the system")],
    delay: Annotated[
        str, typer.Argument(help="Transport delay, such as '16 ms'; 'none' removes it")
    ],
    variant: Variant = None,
    inside: Inside = "",
) -> None:
    """Set the delay of an existing connection."""
    edit = begin(target, variant, inside)
    value = None if delay == "none" else delay
    edit.change(lambda system: system.with_delay(source, into, value))
    done(edit, f"{source} -> {into}: {delay}")


def disconnect(
    target: Target,
    source: Annotated[
        str, typer.Argument(help="component.output; alone: any connector or component")
    ],
    into: Annotated[str | None, typer.Argument(help="component.input")] = None,
    variant: Variant = None,
    inside: Inside = "",
) -> None:
    """Remove a connection, or all of a connector or component."""
    edit = begin(target, variant, inside)
    done(edit, *edit.change(lambda system: system.disconnect(source, into)))


def connect_power(
    target: Target,
    one: Annotated[str, typer.Argument(help="component.port")],
    other: Annotated[str, typer.Argument(help="component.port")],
    delay: Delay = None,
    effort_delay: Annotated[
        str | None, typer.Option(help="Transport delay of efforts; default: that of --delay")
    ] = None,
    flow_delay: Annotated[
        str | None,
        typer.Option(help="Transport delay of flows and displacements; default: that of --delay"),
    ] = None,
    variant: Variant = None,
    inside: Inside = "",
) -> None:
    """Connect two power ports, effort one way and flow the other."""
    delays = {"delay": delay, "effort_delay": effort_delay, "flow_delay": flow_delay}
    edit = begin(target, variant, inside)
    done(edit, *edit.change(lambda system: system.connect_power(one, other, **delays)))


def auto_connect(
    target: Target,
    names: Annotated[
        list[str] | None, typer.Argument(help="Components and nested systems; default: all")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the connections without editing the file")
    ] = False,
    variant: Variant = None,
    inside: Inside = "",
) -> None:
    """Connect ports that match by name, unit and type.

    The command lists ports with several or no matches.
    """
    edit = begin(target, variant, inside)
    connection = edit.system.auto_connect(*(names or ()))
    if dry_run:
        print_lines(str(connection) or "nothing is open")
        return
    edit.change(lambda system: system.auto_connect(*(names or ())).system)
    done(edit, str(connection))
