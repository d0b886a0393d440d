"""``softdock replay``: a recording as it is played in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.terminal.console import print_message, print_warning

if TYPE_CHECKING:
    from orchestrator.core.system import System
    from orchestrator.pictures.drawing import Facts


def replay(
    recording: Annotated[
        Path, typer.Argument(help="A result: .parquet, .mcap, .csv, .mat, or NAME.partial")
    ],
    of: Annotated[
        Path | None,
        typer.Option(help="What was run, experiment.toml, .ssd or .ssp: its diagram is shown"),
    ] = None,
    case: Annotated[
        str | None, typer.Option(help="Which case of it; default: that of the recording")
    ] = None,
    port: Annotated[
        str, typer.Option("--port", metavar="[HOST:]PORT", help="Where it is shown")
    ] = "8700",
) -> None:
    """Play a recording in a browser, with a slider."""
    from orchestrator.core.recording import read_result
    from orchestrator.pictures.live.replay import replay_server, replayed

    result = read_result(recording)
    for note in result.notes:
        print_warning(note)
    drawn = None if of is None else _drawn(of, case or result.name)
    server, url = replay_server(replayed(result, drawn), port)
    print_message(f"{recording}: {url} until Ctrl-C")
    with server:
        server.serve_forever(0.1)


def _drawn(target: Path, case: str) -> tuple[System, Facts]:
    """Return the system of a case as it is drawn, and what is known of it."""
    from orchestrator.cli.target import drawn_systems
    from orchestrator.core.system.packed_code import packed_code_unopened
    from orchestrator.pictures.diagram import facts_of
    from orchestrator.pictures.drawing import Facts

    (drawn,) = drawn_systems(target, case).values()
    if drawn.flat is None:
        return drawn.nested, Facts()
    with packed_code_unopened():
        return drawn.nested, facts_of(drawn.flat, drawn.options)[0]
