"""``softdock system connect`` and its like: edits of connections, in place."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.edit.edit import Delay, Inside, Target, Variant, begin, done
from orchestrator.cli.terminal.console import output as console
from orchestrator.core.diagnostics import DescriptionError


def connect(
    target: Target,
    source: Annotated[str, typer.Argument(help="component.output, or an own input")],
    into: Annotated[str, typer.Argument(help="component.input, or an own output")],
    delay: Delay = None,
    factor: Annotated[float, typer.Option(help="After the unit conversion")] = 1.0,
    offset: Annotated[float, typer.Option(help="After the factor")] = 0.0,
    map_: Annotated[
        list[str] | None, typer.Option("--map", help="0=3: a table of values; several times")
    ] = None,
    interpolation: Annotated[str | None, typer.Option(help="Between delayed samples")] = None,
    extrapolation: Annotated[str | None, typer.Option(help="After the newest sample")] = None,
    compensation: Annotated[
        str | None,
        typer.Option(help="nepce, corrector or energy: without a delay, what holding did"),
    ] = None,
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
    source: Annotated[str, typer.Argument(help="component.output, or an own input")],
    into: Annotated[str, typer.Argument(help="component.input, or an own output")],
    delay: Annotated[str, typer.Argument(help="Such as '16 ms'; 'none' takes it away")],
    variant: Variant = None,
    inside: Inside = "",
) -> None:
    """Set the delay of a connection that is there."""
    edit = begin(target, variant, inside)
    given = None if delay == "none" else delay
    edit.change(lambda system: system.with_delay(source, into, given))
    done(edit, f"{source} -> {into}: {delay}")


def disconnect(
    target: Target,
    source: Annotated[str, typer.Argument(help="component.output; alone: any end or component")],
    into: Annotated[str | None, typer.Argument(help="component.input")] = None,
    variant: Variant = None,
    inside: Inside = "",
) -> None:
    """Take away a connection, or all of a connector or component."""
    edit = begin(target, variant, inside)
    done(edit, *edit.change(lambda system: system.disconnect(source, into)))


def connect_power(
    target: Target,
    one: Annotated[str, typer.Argument(help="component.port")],
    other: Annotated[str, typer.Argument(help="component.port")],
    delay: Delay = None,
    effort_delay: Annotated[str | None, typer.Option(help="In its place, of efforts")] = None,
    flow_delay: Annotated[
        str | None, typer.Option(help="In its place, of flows and displacements")
    ] = None,
    variant: Variant = None,
    inside: Inside = "",
) -> None:
    """Connect two power ports: the effort one way, the flow the other."""
    delays = {"delay": delay, "effort_delay": effort_delay, "flow_delay": flow_delay}
    edit = begin(target, variant, inside)
    done(edit, *edit.change(lambda system: system.connect_power(one, other, **delays)))


def auto_connect(
    target: Target,
    names: Annotated[
        list[str] | None, typer.Argument(help="Components and nested systems; all, unless told")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be")] = False,
    variant: Variant = None,
    inside: Inside = "",
) -> None:
    """Connect what names, units and types leave no doubt about, and list all else."""
    edit = begin(target, variant, inside)
    found = edit.system.auto_connect(*(names or ()))
    if dry_run:
        console.print(str(found) or "nothing is open", markup=False)
        return
    edit.change(lambda system: system.auto_connect(*(names or ())).system)
    done(edit, str(found))
