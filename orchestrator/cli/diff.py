"""``softdock diff``: what differs between two systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator.author import is_system_file, read_system
from orchestrator.cli.console import output as console
from orchestrator.cli.console import print_json, print_lines
from orchestrator.cli.target import expect_case, experiment_of, unopened_lines
from orchestrator.core.diagnostics import UnknownNameError
from orchestrator.core.simunits import resolve
from orchestrator.core.ssp.archive.sources import EXPERIMENT_FILE
from orchestrator.core.structs import Struct
from orchestrator.core.system import System
from orchestrator.core.system.source import packed_code_unopened
from orchestrator.pictures.diagram import nested_of
from orchestrator.pictures.drawing import (
    FieldChange,
    SystemChange,
    change_lines,
    differences,
    order_notes,
)
from orchestrator.study.prepare.prepare import merged, prepare_with
from orchestrator.study.prepare.prepared_case import SystemReader


class ComparedTarget(Struct):
    """One target.

    label, stem: As it was written, and for names of files.
    system: May be nested.
    options: How a case is run, by name; nothing of a file that holds a system only.
    file: The file with the system; ``None`` of a case.
    """

    label: str
    stem: str
    system: System
    options: Mapping[str, str]
    file: Path | None


def compared(
    before: str, after: str, *, opened: bool = False
) -> tuple[tuple[ComparedTarget, ComparedTarget], list[SystemChange], list[str]]:
    """Read two targets and compare them."""
    texts = (before, after)
    opened = opened or any(_is_case(text) for text in texts)
    with packed_code_unopened():
        first, second = (_side(text, opened=opened) for text in texts)
        unopened = [
            f"{x.label}: {note}" for x in (first, second) for note in unopened_lines(x.system)
        ]
    options = tuple(
        FieldChange(key, first.options.get(key, "none"), second.options.get(key, "none"))
        for key in dict.fromkeys((*first.options, *second.options))
        if first.options.get(key) != second.options.get(key)
    )
    run = [SystemChange("changed", "options of the run", "", options)] if options else []
    changes = [*run, *differences(first.system, second.system)]
    notes = [*order_notes(first.system, second.system), *(unopened if opened else ())]
    files = [path.read_bytes() for path in (first.file, second.file) if path and not changes]
    if len(files) == 2 and files[0] != files[1]:
        notes.append(
            "the files are not the same to the byte: they write the same system in another way,"
            " such as another order, layout or comments"
        )
    return (first, second), changes, notes


def _is_case(text: str) -> bool:
    path = Path(text.partition("#")[0])
    if path.suffix == ".toml":
        return path.is_file() and not is_system_file(path)
    return (path / EXPERIMENT_FILE).is_file()


def _side(text: str, *, opened: bool) -> ComparedTarget:
    """Read one target; ``opened``: with what its sources say of connectors, as cases have it."""
    name, mark, case_name = text.partition("#")
    target = Path(name)
    experiment, folder = experiment_of(target)
    if mark:
        expect_case(target, experiment, case_name)
    if not mark and len(experiment.case) != 1:
        raise UnknownNameError(
            f"{name}: has {len(experiment.case)} cases: {', '.join(experiment.case)}; name one, as"
            f" in {name}#{next(iter(experiment.case))}"
        )
    key = case_name or next(iter(experiment.case))
    case = experiment.case[key]
    if _is_case(text):
        reader = SystemReader(folder)
        flat = prepare_with(key, case, reader, rig=experiment)
        system = nested_of(case, reader.read(case), flat)
        how = merged(case, experiment.defaults).model_dump(exclude_none=True)
        how |= {f"fault {name}": fault for name, fault in case.fault.items()}
        options = {name: str(value) for name, value in how.items()}
        return ComparedTarget(text, key, system, options, None)
    file = folder / case.system
    system = read_system(file, case.variant)
    return ComparedTarget(text, key, resolve(system) if opened else system, {}, file)


_COLOURS = {"+": "green", "-": "red", "~": "yellow"}


def diff(
    before: Annotated[
        str, typer.Argument(help="System (.toml, .ssd, .ssp), folder, or EXPERIMENT#CASE")
    ],
    after: Annotated[str, typer.Argument(help="System to compare with, in the same forms")],
    resolve: Annotated[
        bool,
        typer.Option(
            "--resolve", help="Open the sources to include connectors that the file does not list"
        ),
    ] = False,
    html: Annotated[bool, typer.Option("--html", help="Also draw the difference")] = False,
    output: Annotated[Path, typer.Option(help="Folder for the drawing")] = Path("results/graphs"),
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Compare two systems."""
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
            print_lines(f"--- {before}\n+++ {after}")
        for text in change_lines(changes):
            console.print(text, markup=False, style=_COLOURS.get(text[0]))
        if not changes:
            console.print("the systems are equal")
        print_lines(*notes, *files)
    if changes:
        raise typer.Exit(1)


def _draw(sides: Any, changes: Any, notes: list[str], output: Path) -> list[str]:
    """Write the drawing of both systems as SVG, PNG and HTML; return the paths."""
    from orchestrator.cli.graph import write_drawn
    from orchestrator.pictures.drawing import draw_system, marked, render_page, union_of

    first, second = sides
    system = union_of(first.system, second.system, f"{first.label} → {second.label}")
    facts = marked(changes)
    drawing = draw_system(system, facts)
    remarks = ("\n".join(change_lines(changes)) or "the systems are equal", *notes)
    page = render_page(system, facts, remarks).encode()
    files = {".svg": drawing.svg(), ".png": drawing.png(), ".html": page}
    return write_drawn(output / f"{first.stem}-{second.stem}-diff", files)
