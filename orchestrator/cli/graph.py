"""``softdock graph``: the block diagram of a system."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator.cli.terminal.console import messages, print_json
from orchestrator.cli.terminal.console import output as console


def graph(
    target: Annotated[Path, typer.Argument(help="experiment.toml, .ssd, .ssp, or their folder")],
    case: Annotated[str | None, typer.Option(help="Which case of an experiment")] = None,
    output: Annotated[Path, typer.Option(help="Folder for the pictures")] = Path("results/graphs"),
    html: Annotated[bool, typer.Option("--html", help="One page to look around in, too")] = False,
    depth: Annotated[
        int | None, typer.Option(min=0, help="Draw systems nested deeper than this closed")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Draw systems as SVG and PNG, and list their loops."""
    from orchestrator.cli.target import drawn_systems
    from orchestrator.core.system.packed_code import packed_code_unopened
    from orchestrator.pictures.diagram import facts_of
    from orchestrator.pictures.drawing import Facts, draw_system, is_algebraic, render_page

    written: dict[str, list[str]] = {}
    loops: dict[str, list[dict[str, Any]]] = {}
    for name, drawn in drawn_systems(target, case).items():
        facts, note = Facts(), drawn.note
        if drawn.flat is not None:
            with packed_code_unopened():
                facts, why = facts_of(drawn.flat, drawn.options)
            note = "\n".join(filter(None, (note, why)))
        drawing = draw_system(drawn.nested, facts, depth)
        stem = output / f"{name}-graph"
        files = {".svg": drawing.svg(), ".png": drawing.png()}
        if html:
            files[".html"] = render_page(drawn.nested, facts, (note,) if note else ()).encode()
        written[name] = _write(stem, files)
        loops[name] = [
            {
                "ring": str(ring),
                "physical_delay_ms": ring.physical_ns / 1e6,
                "numerical_delay_ms": _known(delay.numerical_ns / 1e6),
                "is_algebraic": is_algebraic(ring),
            }
            for delay in facts.loops
            for ring in delay.loops
        ]
        for text in note.splitlines():
            messages.print(f"{name}: {text}", markup=False)
        if not json:
            _print(written[name], loops[name])
    if json:
        print_json({"files": written, "loops": loops})


def _known(value: float) -> float | None:
    return None if isnan(value) else value


def _write(stem: Path, files: dict[str, bytes]) -> list[str]:
    from orchestrator.core.recording import whole_file

    paths = []
    for suffix, content in files.items():
        path = stem.with_name(stem.name + suffix)
        with whole_file(path) as draft:
            draft.write_bytes(content)
        paths.append(str(path))
    return paths


def _print(paths: list[str], loops: list[dict[str, Any]]) -> None:
    for path in paths:
        console.print(path, markup=False)
    for loop in loops:
        kind = "algebraic loop" if loop["is_algebraic"] else "loop"
        console.print(f"  {kind} ({loop['physical_delay_ms']:g} ms): {loop['ring']}", markup=False)
