"""``softdock check``: everything that can be said of a description without running it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator.cli.console import output as console
from orchestrator.cli.console import print_json
from orchestrator.system import System, closed_loops


def check(
    target: Annotated[Path, typer.Argument(help="experiment.toml, .ssd, .ssp, or their folder")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Check a system or all cases of an experiment."""
    from orchestrator.cli.target import systems_of

    systems = systems_of(target)
    if json:
        print_json({name: _as_json(system) for name, system in systems.items()})
        return
    for name, system in systems.items():
        loops = closed_loops(system)
        console.print(
            f"{name}: ok ({len(system.components)} components,"
            f" {len(system.connections)} connections, {len(loops)} closed loops)",
            markup=False,
        )


def _as_json(system: System) -> dict[str, Any]:
    return {
        "components": {name: str(c.source) for name, c in system.components.items()},
        "connections": [str(line) for line in system.connections],
        "loops": [
            {"ring": str(loop), "physical_delay_ms": loop.physical_ns / 1e6}
            for loop in closed_loops(system)
        ],
    }
