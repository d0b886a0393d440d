"""``softdock graph``: the block diagram of a system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.console import output as console
from orchestrator.cli.console import print_json
from orchestrator.errors import UnknownNameError
from orchestrator.system import closed_loops


def graph(
    target: Annotated[Path, typer.Argument(help="experiment.toml, .ssd, .ssp, or their folder")],
    case: Annotated[str | None, typer.Option(help="Which case of an experiment")] = None,
    output: Annotated[Path, typer.Option(help="Folder for the pictures")] = Path("results/graphs"),
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Draw systems as SVG and PNG, and list their loops."""
    from orchestrator.cli.target import systems_of
    from orchestrator.recording import draw_system, save

    systems = systems_of(target)
    if case is not None:
        if case not in systems:
            raise UnknownNameError(f"{target}: no case '{case}'; it has: {', '.join(systems)}")
        systems = {case: systems[case]}
    output.mkdir(parents=True, exist_ok=True)
    written: dict[str, list[str]] = {}
    loops: dict[str, list[dict[str, object]]] = {}
    for name, system in systems.items():
        figure = draw_system(system)
        paths = [output / f"{name}-graph{suffix}" for suffix in (".svg", ".png")]
        for path in paths:
            save(figure, path)
        written[name] = [str(path) for path in paths]
        loops[name] = [
            {"ring": str(loop), "physical_delay_ms": loop.physical_ns / 1e6}
            for loop in closed_loops(system)
        ]
        if not json:
            for path in paths:
                console.print(str(path), markup=False)
            for loop in closed_loops(system):
                console.print(f"  loop ({loop.physical_ns / 1e6:g} ms): {loop}", markup=False)
    if json:
        print_json({"files": written, "loops": loops})
