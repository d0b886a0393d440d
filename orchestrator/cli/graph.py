"""``softdock graph``, ``animate`` and ``replay``: systems and recordings as pictures."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator.cli.console import messages, print_json, print_lines, print_message, print_warning


def graph(
    target: Annotated[
        Path,
        typer.Argument(help="Experiment (.toml), system (.toml, .ssd, .ssp), or a folder with one"),
    ],
    case: Annotated[str | None, typer.Option(help="Case of the experiment; default: all")] = None,
    output: Annotated[Path, typer.Option(help="Folder for the drawings")] = Path("results/graphs"),
    html: Annotated[
        bool, typer.Option("--html", help="Also write an HTML page with pan, zoom and search")
    ] = False,
    depth: Annotated[
        int | None, typer.Option(min=0, help="Collapse systems nested deeper than this")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Draw systems as SVG and PNG, and list their loops."""
    from orchestrator.cli.target import drawn_systems
    from orchestrator.pictures.drawing import draw_system, is_algebraic, render_page

    written: dict[str, list[str]] = {}
    loops: dict[str, list[dict[str, Any]]] = {}
    for name, drawn_system in drawn_systems(target, case).items():
        facts, note = drawn_system.facts, drawn_system.note
        drawing = draw_system(drawn_system.nested, facts, depth)
        files = {".svg": drawing.svg(), ".png": drawing.png()}
        if html:
            files[".html"] = render_page(
                drawn_system.nested, facts, (note,) if note else ()
            ).encode()
        written[name] = write_drawn(output / f"{name}-graph", files)
        loops[name] = [
            {
                "ring": str(ring),
                "physical_delay_ms": ring.physical_ns / 1e6,
                "numerical_delay_ms": None
                if isnan(delay.numerical_ns)
                else delay.numerical_ns / 1e6,
                "is_algebraic": is_algebraic(ring),
            }
            for delay in facts.loops
            for ring in delay.loops
        ]
        for text in note.splitlines():
            messages.print(f"{name}: {text}", markup=False)
        print_lines(*(() if json else written[name]))
        for loop in () if json else loops[name]:
            kind = "algebraic loop" if loop["is_algebraic"] else "loop"
            delay = f"{loop['physical_delay_ms']:g} ms"
            print_lines(f"  {kind} ({delay}): {loop['ring']}")
    if json:
        print_json({"files": written, "loops": loops})


def write_drawn(stem: Path, files: dict[str, bytes]) -> list[str]:
    """Write drawings by their endings; return the paths."""
    from orchestrator.core.recording import whole_file

    paths = []
    for suffix, content in files.items():
        path = stem.with_name(stem.name + suffix)
        with whole_file(path) as draft:
            draft.write_bytes(content)
        paths.append(str(path))
    return paths


def animate(
    target: Annotated[Path, typer.Argument(help="Experiment (.toml), or a folder with one")],
    results: Annotated[
        Path | None, typer.Option(help="Folder with the results; default: results/NAME")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Render only this animation; repeatable")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder for the pages; default: next to the results")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Render the animations of finished runs again."""
    from orchestrator.cli.target import experiment_of, results_name
    from orchestrator.pictures.animation.page import redraw

    experiment, folder = experiment_of(target)
    location = results or Path("results") / results_name(target, folder)
    paths = redraw(experiment, location, output or location, only or ())
    if json:
        print_json({"files": [str(path) for path in paths]})
        return
    print_lines(*paths)


def replay(
    recording: Annotated[
        Path, typer.Argument(help="Result: .parquet, .npz, .mcap, .csv, .mat, or NAME.partial")
    ],
    of: Annotated[
        Path | None,
        typer.Option(
            help="Show the diagram of this experiment (.toml) or system (.toml, .ssd, .ssp)"
        ),
    ] = None,
    case: Annotated[
        str | None, typer.Option(help="Case of the experiment; default: that of the recording")
    ] = None,
    port: Annotated[
        str, typer.Option("--port", metavar="[HOST:]PORT", help="Address of the page")
    ] = "8700",
) -> None:
    """Play a recording in a browser."""
    from orchestrator.cli.target import drawn_systems
    from orchestrator.core.recording import read_result
    from orchestrator.pictures.live.door import listening, url_of
    from orchestrator.pictures.live.server import Server
    from orchestrator.pictures.live.shown import replayed

    result = read_result(recording)
    for note in result.notes:
        print_warning(note)
    diagram = None
    if of is not None:
        (drawn_system,) = drawn_systems(of, case or result.name).values()
        diagram = drawn_system.nested, drawn_system.facts
    replay_case = replayed(result, diagram)
    listener, token = listening(port)
    print_message(f"{recording}: {url_of(listener, token)} until Ctrl-C")
    with Server(listener, token, replay_case) as server:
        server.serve_forever(0.1)
