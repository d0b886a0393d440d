"""``softdock system parameters`` and its like: values in files of their own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orchestrator.cli.edit.edit import Target, Variant, begin
from orchestrator.cli.terminal.console import output as console
from orchestrator.core.diagnostics import DescriptionError

if TYPE_CHECKING:
    from orchestrator.core.system import System

Version = Annotated[Literal["1.0", "2.0"], typer.Option("--ssp", help="Version of SSP")]


def parameters(
    target: Target,
    file: Annotated[Path, typer.Argument(help="The .ssv file to write")],
    assignments: Annotated[
        list[str] | None, typer.Argument(help="component.parameter=value; all values, unless told")
    ] = None,
    variant: Variant = None,
    ssp: Version = "1.0",
) -> None:
    """Write values for a system as a parameter set: those that it has, or those that are given."""
    from orchestrator.author.settings import assigned
    from orchestrator.core.ssp import write_parameter_set

    _expect_suffix(file, ".ssv")
    system = begin(target, variant, "").system
    if assignments:
        system = assigned(_without_values(system), *assignments)
    # A run knows components, and no longer the connectors of nested systems.
    write_parameter_set(system.flat(), file, name=file.stem, version=ssp)
    console.print(f"{file}: written", markup=False)


def _without_values(system: System) -> System:
    components = {n: replace(c, values={}) for n, c in system.components.items()}
    systems = {n: _without_values(inner) for n, inner in system.systems.items()}
    return replace(system, components=components, systems=systems, values={})


def mapping(
    file: Annotated[Path, typer.Argument(help="The .ssm file to write")],
    entries: Annotated[list[str], typer.Argument(help="component.parameter=name in the set")],
    ssp: Version = "1.0",
) -> None:
    """Write a mapping: which parameter gets which value of a parameter set."""
    from orchestrator.cli.run import pairs
    from orchestrator.core.ssp import write_parameter_mapping

    _expect_suffix(file, ".ssm")
    form = "component.parameter=name"
    write_parameter_mapping(pairs(entries, "mapping", form), file, version=ssp)
    console.print(f"{file}: written", markup=False)


def link(
    target: Annotated[Path, typer.Argument(help="An .ssd or .ssp, or a folder with one")],
    values: Annotated[Path, typer.Argument(help="The parameter set (.ssv)")],
    mapping: Annotated[Path | None, typer.Option(help="Its mapping (.ssm)")] = None,
    prefix: Annotated[str, typer.Option(help="Before every name, such as 'arm.'")] = "",
    inside: Annotated[
        str, typer.Option("--in", help="Path of the system or component that gets the values")
    ] = "",
    variant: Variant = None,
) -> None:
    """Bind a parameter set to a system by a reference to its file; an archive takes a copy."""
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
    console.print(f"{target}: written", markup=False)
    console.print(f"+ {values}" + (f" by {mapping}" if mapping else ""), markup=False)


def _expect_suffix(file: Path, suffix: str) -> None:
    if file.suffix.lower() != suffix:
        raise DescriptionError.in_file(file, f"expected a name that ends in {suffix}")
