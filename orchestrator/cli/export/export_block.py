"""``softdock export block``: a Python block becomes an FMU."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orchestrator.cli.export.platform_option import PlatformOption, platforms_in
from orchestrator.cli.terminal.console import output as console
from orchestrator.cli.terminal.console import print_json
from orchestrator.core.diagnostics import DescriptionError

if TYPE_CHECKING:
    from orchestrator.core.simunits import Block
    from orchestrator.core.system import Value

_VERSIONS = {"2": ("2.0",), "3": ("3.0",), "both": ("2.0", "3.0")}


def block(
    name: Annotated[str, typer.Argument(help="A registered block, FILE.py:CLASS or MODULE:CLASS")],
    output: Annotated[
        Path, typer.Option(help="Folder for NAME.fmu and NAME.fmi3.fmu, or an .fmu file")
    ] = Path(),
    fmi: Annotated[Literal["2", "3", "both"], typer.Option(help="Version of FMI")] = "2",
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="parameter=value, the FMU's default")
    ] = None,
    python: Annotated[
        bool | None,
        typer.Option(
            "--python/--no-python",
            help="Run the block in Python inside the FMU; default: only if it cannot become C code",
        ),
    ] = None,
    platform: PlatformOption = None,
    without_sources: Annotated[
        bool, typer.Option("--without-sources", help="Leave the C code out of the FMU")
    ] = False,
    force: Annotated[bool, typer.Option(help="Build even if nothing has changed")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Build the FMU of a Python block."""
    from orchestrator.core.simunits import block_class
    from orchestrator.export import build_block

    name = name.removeprefix("block:")
    built = build_block(
        name,
        output,
        fmi=_VERSIONS[fmi],
        values=_values(name, block_class(name), set_ or []),
        python=python,
        platforms=platforms_in(platform),
        sources=not without_sources,
        force=force,
    )
    if json:
        files = {version: str(path) for version, path in built.files.items()}
        print_json({"files": files, "name": built.name, "cached": built.cached})
        return
    state = "unchanged" if built.cached else f"built in {built.seconds:.1f} s"
    for path in built.files.values():
        console.print(f"{path}  ({built.model}, {state})", markup=False)


def _values(name: str, kind: type[Block], pairs: list[str]) -> dict[str, Value]:
    from orchestrator.author.settings import value_of
    from orchestrator.core.system.naming import lacking

    found: dict[str, Value] = {}
    for pair in pairs:
        path, equals, text = pair.partition("=")
        connector = kind.connectors.get(path)
        if not equals:
            raise DescriptionError(f"--set {pair}: expected parameter=value")
        if connector is None or connector.causality == "output":
            known = [c.name for c in kind.connectors.values() if c.causality != "output"]
            raise lacking(f"--set {pair}: block {name}", "parameter or input", path, known)
        found[path] = value_of(text, connector, f"--set {pair}")
    return found
