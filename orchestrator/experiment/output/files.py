"""The files that an experiment leaves: results, pictures, the report and the summary."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.drawing import Drawing, draw_system
from orchestrator.experiment.file.experiment import Experiment
from orchestrator.experiment.file.figure_tables import LinesFigure, MapFigure
from orchestrator.experiment.measure.outcome import CaseOutcome, ExperimentOutcome
from orchestrator.experiment.output.default_figures import default_figures
from orchestrator.experiment.output.diagram import facts_of_run
from orchestrator.experiment.output.figures import cases_of, draw, sweeps_of
from orchestrator.experiment.output.ledger_files import (
    draw_ledger,
    energy_note,
    energy_rows,
    write_ledger,
)
from orchestrator.experiment.output.timing_files import draw_timing
from orchestrator.experiment.prepare.prepare import merged
from orchestrator.recording import (
    LARGEST_SVG,
    CaseSection,
    FigureItem,
    FileItem,
    FmuItem,
    Measure,
    Report,
    TableItem,
    parameters_of,
    save,
    whole_file,
    write_report,
)
from orchestrator.simunits import read_fmu
from orchestrator.system import SourceKind

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from orchestrator.analysis import EnergyLedger


def write_rest(
    experiment: Experiment,
    outcome: ExperimentOutcome,
    folder: Path,
    output: Path,
    tell: Callable[[str, float], None],
) -> None:
    """Draw all figures whose cases and sweeps were run, and write report and summary.

    They are written to ``folder``; the outcome names them as they are found in ``output``.
    """
    pictures = folder / "figures"
    pictures.mkdir(exist_ok=True)
    drawn = _figures(experiment, outcome)
    items = []
    for number, (name, (figure, caption)) in enumerate(drawn.items()):
        items.append(FigureItem(_save(figure, pictures / name, outcome), caption))
        tell("drawing", (number + 1) / len(drawn))
    ledgers = _ledgers(outcome, folder)
    timings = _timings(outcome, folder)
    diagrams = []
    for names in _each_drawing(outcome):
        first = outcome.cases[names[0]]
        options = merged(experiment.case[names[0]], experiment.defaults)
        facts = facts_of_run(first.system, options, first.result)
        drawing = draw_system(first.nested, facts, title=", ".join(names))
        _save_drawing(drawing, pictures / f"system-{names[0]}", outcome)
        caption = f"{first.title}. {first.system.description}"
        diagrams.append(FigureItem(drawing, caption.strip()))
    report, summary = folder / "report.html", folder / "summary.json"
    outcome.files += [report, summary]
    tracked = _tracks(outcome, folder)
    drawings = {
        name: tuple(item for item in (ledgers.get(name), timings.get(name)) if item) + tracked[name]
        for name in outcome.cases
    }
    sections = [_section(case, drawings[name]) for name, case in outcome.cases.items()]
    write_report(_report(experiment, outcome, sections, items, diagrams, folder), report)
    outcome.files = [
        output / path.relative_to(folder) if path.is_relative_to(folder) else path
        for path in outcome.files
    ]
    with whole_file(summary) as draft:
        draft.write_text(
            json.dumps(outcome.as_json(), indent=2, allow_nan=False) + "\n", encoding="utf-8"
        )


def _save_drawing(drawing: Drawing, stem: Path, outcome: ExperimentOutcome) -> None:
    for suffix, content in ((".png", drawing.png()), (".svg", drawing.svg())):
        path = stem.with_name(stem.name + suffix)
        with whole_file(path) as draft:
            draft.write_bytes(content)
        outcome.files.append(path)


def _save(figure: Figure, stem: Path, outcome: ExperimentOutcome) -> Path:
    """Write a figure in both formats; returns the file that a report embeds."""
    png, svg = (stem.with_name(stem.name + suffix) for suffix in (".png", ".svg"))
    for path in (png, svg):
        save(figure, path)
        figure.set_layout_engine("none")  # the second format takes the layout of the first
        outcome.files.append(path)
    return svg if svg.stat().st_size <= LARGEST_SVG else png


def _figures(experiment: Experiment, outcome: ExperimentOutcome) -> dict[str, tuple[Figure, str]]:
    wanted = {
        name: figure
        for name, figure in experiment.figure.items()
        if cases_of(figure) <= set(outcome.cases)
        and sweeps_of(figure) <= set(outcome.sweeps)
        and not isinstance(figure, MapFigure | LinesFigure)  # `softdock sweep` draws these
    }
    if not experiment.figure and not experiment.animation:
        wanted = {}
        for case in outcome.cases.values():
            wanted |= default_figures(case.result)
    return {name: (draw(figure, outcome), figure.caption) for name, figure in wanted.items()}


def _each_drawing(outcome: ExperimentOutcome) -> list[list[str]]:
    """Cases by the drawing that they share: they differ in no source, connection or delay."""
    drawings: dict[object, list[str]] = {}
    for name, case in outcome.cases.items():
        sources = tuple((n, c.source) for n, c in case.system.components.items())
        drawings.setdefault((sources, case.system.connections), []).append(name)
    return list(drawings.values())


def _report(
    experiment: Experiment,
    outcome: ExperimentOutcome,
    sections: list[CaseSection],
    figures: list[FigureItem],
    diagrams: list[FigureItem],
    output: Path,
) -> Report:
    return Report(
        title=experiment.title,
        description=experiment.description,
        cases=tuple(sections),
        diagrams=tuple(diagrams),
        figures=tuple(figures),
        tables=tuple(_tables(outcome)),
        fmus=_fmus(outcome),
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        files=tuple(
            FileItem(path.relative_to(output))
            for path in outcome.files
            if path.is_relative_to(output)
        ),
    )


def _tables(outcome: ExperimentOutcome) -> Iterator[TableItem]:
    for case in outcome.cases.values():
        for one in case.sections:
            if one.columns:
                yield TableItem(one.heading, one.columns, one.rows, one.note)


def _timings(outcome: ExperimentOutcome, output: Path) -> dict[str, FigureItem]:
    """Draw the timing of the cases that were run in real time."""
    items = {}
    for name, case in outcome.cases.items():
        if case.result.timing and case.result.timing.computing.count:
            figure = draw_timing(name, case.result.timing)
            picture = _save(figure, output / "figures" / f"timing-{name}", outcome)
            items[name] = FigureItem(picture, f"Timing of {name}. {case.title}.")
    return items


def _tracks(outcome: ExperimentOutcome, output: Path) -> dict[str, tuple[FigureItem, ...]]:
    """Draw what was tracked of the devices of each case."""
    items: dict[str, tuple[FigureItem, ...]] = {}
    for name, case in outcome.cases.items():
        found = []
        for track in case.value("tracking") or ():
            from orchestrator.experiment.output.tracking_files import draw_tracking

            stem = f"tracking-{name}-{track.response}".replace("[", "_").replace("]", "")
            picture = _save(draw_tracking(name, track), output / "figures" / stem, outcome)
            found.append(FigureItem(picture, f"Tracking of {track.response}. {case.title}."))
        items[name] = tuple(found)
    return items


def _ledgers(outcome: ExperimentOutcome, output: Path) -> dict[str, FigureItem]:
    """Write the energy ledgers of the cases that have one, and draw them."""
    items = {}
    for name, case in outcome.cases.items():
        ledger: EnergyLedger | None = case.value("ledger")
        if ledger is None:
            continue
        table = output / f"{name}.ledger.csv"
        write_ledger(ledger, table)
        outcome.files.append(table)
        figure = draw_ledger(ledger, f"Energy of '{name}'")
        picture = _save(figure, output / "figures" / f"ledger-{name}", outcome)
        items[name] = FigureItem(picture, f"Energy ledger of {name}. {case.title}.")
    return items


def _section(case: CaseOutcome, figures: tuple[FigureItem, ...]) -> CaseSection:
    measures = []
    for name, value in case.measured.items():
        measures.append(Measure(name.replace("_", " "), value.value, value.unit))
        if "predicted" in value.details:
            predicted = value.details["predicted"]
            measures.append(Measure(f"{name.replace('_', ' ')}, predicted", predicted, value.unit))
    section = CaseSection.of(
        case.result,
        description=case.title,
        measures=tuple(measures),
        parameters=parameters_of(case.system),
        figures=figures,
        note="; ".join(case.result.remarks),
    )
    ledger: EnergyLedger | None = case.value("ledger")
    if ledger is None:
        return section
    note, rows = energy_note(ledger), tuple(energy_rows(ledger))
    return replace(section, energies=rows, energy_note=note)


def _fmus(outcome: ExperimentOutcome) -> tuple[FmuItem, ...]:
    items: dict[str, FmuItem] = {}
    for case in outcome.cases.values():
        for name, component in case.system.components.items():
            source = component.source
            if source.kind is SourceKind.FMU and source.location not in items:
                fmu = read_fmu(Path(source.location))
                tool = fmu.description.details["tool"]
                items[source.location] = FmuItem(name, Path(source.location).name, fmu.guid, tool)
    return tuple(items.values())
