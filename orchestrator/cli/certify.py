"""``softdock certify``: what the masters of any tools do to the loops of a system."""

from __future__ import annotations

import json as plain
import math
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from orchestrator.cli.console import print_json, print_lines, print_table, progress_bar

if TYPE_CHECKING:
    from orchestrator.loops.certificate import Certificate
    from orchestrator.loops.comparison import Comparison
    from orchestrator.study.content import TableItem

T = TypeVar("T")
COLUMNS = (
    "master",
    "loop",
    "added delay [ms]",
    "frequency [Hz]",
    "exact growth [1/s]",
    "as stepped",
    "gain margin [-]",
    "phase margin [deg]",
    "delay margin [ms]",
    "longest step [ms]",
)
#: The files in a folder.
PAGE, REPORT = "certificate.html", "certificate.json"
#: Of the figures in the metadata of an archive.
KIND = "org.softdock.certificate"


def certify(
    target: Annotated[
        Path,
        typer.Argument(help="Experiment (.toml), system (.toml, .ssd, .ssp), or a folder with one"),
    ],
    masters: Annotated[
        str | None,
        typer.Option(
            "--as", help="Masters of other tools, comma-separated; default: all known masters"
        ),
    ] = None,
    case: Annotated[
        str | None, typer.Option(help="Case of the experiment; default: the first")
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(help="Time of the operating point, such as '2 s'; default: the start"),
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(
            help="Communication step, such as '1 ms'; default: that of the case or system"
        ),
    ] = None,
    tolerance: Annotated[
        float,
        typer.Option(
            help="Largest relative error of growth and frequency that the longest step may cause"
        ),
    ] = 0.01,
    against: Annotated[
        Path | None,
        typer.Option(
            help="Recording of another tool to compare with (.csv, .mat, .parquet, .mcap)"
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the page, the JSON file, and a copy of the .ssp that contains"
            " the certificate"
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Show what the step of each master does to every loop.

    The table lists the added delay and how it changes the growth of the modes.
    """
    from orchestrator.author import read_system
    from orchestrator.cli.analyze_loop import case_options
    from orchestrator.cli.target import is_system
    from orchestrator.core.ssp.archive.sources import main_file
    from orchestrator.loops.certificate import certify as certified
    from orchestrator.loops.comparison import compare
    from orchestrator.loops.rule_map import master_rules
    from orchestrator.study.content import texts_of
    from orchestrator.study.experiment import RunOptions

    if not (math.isfinite(tolerance) and tolerance > 0.0):
        raise typer.BadParameter(f"a share above 0, found {tolerance}", param_hint="--tolerance")
    names = None if masters is None else [name.strip() for name in masters.split(",")]
    if names is not None:
        master_rules(names)  # before anything is opened
    options: dict[str, Any] = {"step": step, "at": at}
    file = main_file(target)
    if case is None and is_system(file):  # it need not be one that is run here
        name, system = file.stem, read_system(file)
    else:
        name, system, options = case_options(target, case, at, RunOptions(step=step))
    with progress_bar() as bar:
        tell = None if bar is None else partial(bar, f"masters of {name}")
        certificate = certified(system, names, tolerance=tolerance, progress=tell, **options)
    comparison = None if against is None else compare(certificate, against)
    report = {"case": name, **certificate.as_json()}
    if comparison is not None:
        report["against"] = comparison.as_json()
    files = [] if output is None else _write(target, report, certificate, comparison, output)
    if json:
        print_json({**report, "files": [str(path) for path in files]})
        return
    print_lines(*_verdicts(certificate))
    if rows := texts_of(_named_rows(certificate)):
        print_table(_title(name, certificate), list(COLUMNS), rows)
    print_lines(*_remarks(certificate, comparison), *files)


def _rows(certificate: Certificate) -> Iterator[tuple[str | float | None, ...]]:
    """Give a row for each loop of each master: its least damped mode, and its margins."""
    for master in certificate.masters:
        longest_ns = master.longest_step_ns
        longest = None if longest_ns is None else longest_ns / 1e6
        if not master.loops:
            for ring in master.rings:
                yield (master.name, ring.ring, ring.added_ns / 1e6, *[None] * 7)
            continue
        for loop in master.loops:
            components = set(loop.components)
            added = [
                ring.added_ns / 1e6
                for ring in master.rings
                if all(end.partition(".")[0] in components for end in ring.ring.split(" -> "))
            ]
            margins = next(
                (m for line, m in master.margins.items() if line.partition(".")[0] in components),
                None,
            )
            mode = loop.modes[0] if loop.modes else None
            exact = None if mode is None or mode.exact is None else mode.exact.real
            yield (
                master.name,
                ", ".join(loop.components),
                max(added, default=None),
                None if mode is None else mode.frequency,
                exact,
                None if mode is None else mode.growth,
                None if margins is None else margins.gain.value,
                None if margins is None else math.degrees(margins.phase.value),
                None if margins is None else margins.delay.value * 1e3,
                longest,
            )


def _named_rows(certificate: Certificate) -> Iterator[tuple[str | float | None, ...]]:
    """Give the rows; a master whose tool cannot run the system is named so."""
    unable = {master.name for master in certificate.masters if master.obstacles}
    for row in _rows(certificate):
        name = f"{row[0]} (cannot run it)" if row[0] in unable else row[0]
        yield (name, *row[1:])


def _shared(items: Iterable[tuple[str, T]]) -> list[tuple[str, T]]:
    """Give each value once, with the names of all masters that have it, as a list in words."""
    names: dict[T, list[str]] = {}
    for name, value in items:
        names.setdefault(value, []).append(name)
    return [(", ".join(dict.fromkeys(sharing)), value) for value, sharing in names.items()]


def _verdicts(certificate: Certificate) -> tuple[str, ...]:
    """Return a sentence for each verdict, with the masters that it holds for."""
    verdicts = [
        (master.name, master.verdict(certificate.tolerance)) for master in certificate.masters
    ]
    return tuple(f"{names}: {text}" for names, text in _shared(verdicts))


def _remarks(certificate: Certificate, comparison: Comparison | None) -> Iterator[str]:
    if comparison is not None:
        yield comparison.verdict()
    remarks = [(master.name, text) for master in certificate.masters for text in master.remarks]
    yield from (f"{names}: {text}" for names, text in _shared(remarks))
    for remedy in certificate.remedies:
        yield f"would help: {remedy.text} (its largest error is {remedy.share:.2g} of a mode)"
    yield from certificate.limits


def _title(name: str, certificate: Certificate) -> str:
    return f"{name}: H = {certificate.step_ns / 1e6:g} ms, at {certificate.at}"


def _write(
    target: Path,
    contents: dict[str, Any],
    result: Certificate,
    comparison: Comparison | None,
    output: Path,
) -> list[Path]:
    """Write the page and JSON, and of an archive a copy that holds it; equal bytes each time."""
    from orchestrator.core.recording import whole_file
    from orchestrator.pictures import write_report
    from orchestrator.study.content import Report

    output.mkdir(parents=True, exist_ok=True)
    report = plain.dumps(contents, indent=1, ensure_ascii=False).encode() + b"\n"
    with whole_file(output / REPORT) as draft:
        draft.write_bytes(report)
    tables = tuple(_tables(result))
    compared = () if comparison is None else (comparison.verdict(),)
    title = f"Certificate of {_title(contents['case'], result)}"
    report_page = Report(title, verdicts=_verdicts(result), remarks=compared, tables=tables)
    write_report(report_page, output / PAGE)
    files = [output / PAGE, output / REPORT]
    if target.suffix == ".ssp":
        from orchestrator.core.ssp.write.packing import write_traced

        facts = {"step [ms]": f"{result.step_ns / 1e6:g}"}
        for row in _rows(result):
            for column, cell in zip(COLUMNS[2:], row[2:], strict=True):
                if cell is not None:
                    facts[f"{row[0]}: {row[1]}: {column}"] = f"{cell:.9g}"
        write_traced(target, output / target.name, report, facts, KIND)
        files.append(output / target.name)
    return files


#: Columns of the first table of the page, which fits a laptop, and of one behind it.
_MAIN, _FURTHER = (0, 1, 2, 3, 4, 5, 8, 9), (0, 1, 6, 7)


def _advice(certificate: Certificate) -> Iterator[TableItem]:
    """Give what would help, the best first, and what limits the figures."""
    from orchestrator.study.content import TableItem

    if certificate.remedies:
        rows = tuple((remedy.text, remedy.share) for remedy in certificate.remedies)
        yield TableItem("What would help", ("change", "largest error of a mode [1]"), rows)
    remarks = [(master.name, text) for master in certificate.masters for text in master.remarks]
    limits = [("all", text) for text in certificate.limits]
    if remarks or limits:
        yield TableItem("Limits of validity", ("of", "limit"), (*_shared(remarks), *limits))


def _tables(certificate: Certificate) -> Iterator[TableItem]:
    from orchestrator.cli.analyze_loop import margin_rows
    from orchestrator.study.content import TableItem

    rows = tuple(_named_rows(certificate))
    for heading, indices in (("Loops by master", _MAIN), ("Gain and phase margins", _FURTHER)):
        columns = tuple(COLUMNS[index] for index in indices)
        if heading == "Loops by master":
            yield TableItem(heading, columns, tuple(tuple(row[i] for i in indices) for row in rows))
            yield from _advice(certificate)
            continue
        judged = (row for row in rows if row[6] is not None)
        yield TableItem(heading, columns, tuple(tuple(row[i] for i in indices) for row in judged))
    rings = [
        (master.name, (ring.ring, ring.declared_ns / 1e6, ring.added_ns / 1e6))
        for master in certificate.masters
        for ring in master.rings
    ]
    if rings:
        columns = ("masters", "ring", "declared [ms]", "added [ms]")
        rows = tuple((names, *delays) for names, delays in _shared(rings))
        yield TableItem("Delays of rings", columns, rows)
    for line, margins in certificate.margins.items():
        rows = tuple(margin_rows(margins.as_json()))
        heading = f"Margins in continuous time, cut at {line}"
        yield TableItem(heading, ("margin", "value", "at [Hz]"), rows)
    rules = [
        (m.name, *(str(m.rule.get(k, "-")) for k in ("tool", "order", "outputs", "evidence")))
        for m in certificate.masters
    ]
    yield TableItem(
        "Rules", ("master", "tool", "order", "outputs are read", "known by"), tuple(rules)
    )
