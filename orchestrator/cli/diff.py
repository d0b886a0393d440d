"""``softdock diff``: what differs between two systems."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator.cli.terminal.console import output as console
from orchestrator.cli.terminal.console import print_json

_COLOURS = {"+": "green", "-": "red", "~": "yellow"}


def diff(
    before: Annotated[
        str, typer.Argument(help=".ssd, .ssp, system .toml, folder, or EXPERIMENT#CASE")
    ],
    after: Annotated[str, typer.Argument(help="What to compare it with")],
    resolve: Annotated[
        bool,
        typer.Option("--resolve", help="Open the sources: connectors that a file does not write"),
    ] = False,
    html: Annotated[bool, typer.Option("--html", help="Draw the difference, too")] = False,
    output: Annotated[Path, typer.Option(help="Folder for the drawing")] = Path("results/graphs"),
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Compare two systems; exit code 1 if they differ."""
    from orchestrator.cli.compared import compared
    from orchestrator.pictures.drawing import change_lines

    sides, changes, notes = compared(before, after, opened=resolve)
    files = _draw(sides, changes, notes, output) if html else []
    if json:
        print_json(
            {
                "before": before,
                "after": after,
                "equal": not changes,
                "changes": [asdict(change) for change in changes],
                "notes": notes,
                "files": files,
            }
        )
    else:
        if changes:
            console.print(f"--- {before}\n+++ {after}", markup=False)
        for text in change_lines(changes):
            console.print(text, markup=False, style=_COLOURS.get(text[0]))
        if not changes:
            console.print("the systems are equal")
        for text in (*notes, *files):
            console.print(text, markup=False)
    if changes:
        raise typer.Exit(1)


def _draw(sides: Any, changes: Any, notes: list[str], output: Path) -> list[str]:
    """Write the drawing of both systems as SVG, PNG and HTML; return the paths."""
    from orchestrator.core.recording import whole_file
    from orchestrator.pictures.drawing import (
        change_lines,
        draw_system,
        marked,
        render_page,
        union_of,
    )

    one, other = sides
    system = union_of(one.system, other.system, f"{one.label} → {other.label}")
    facts = marked(changes)
    drawing = draw_system(system, facts)
    told = ("\n".join(change_lines(changes)) or "the systems are equal", *notes)
    stem = f"{one.stem}-{other.stem}-diff"
    paths = []
    for suffix, content in (
        (".svg", drawing.svg()),
        (".png", drawing.png()),
        (".html", render_page(system, facts, told).encode()),
    ):
        path = output / f"{stem}{suffix}"
        with whole_file(path) as draft:
            draft.write_bytes(content)
        paths.append(str(path))
    return paths
