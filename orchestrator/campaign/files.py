"""The files that an experiment leaves: results, pictures, the report and the summary."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.campaign.animations import drawable, write_animation
from orchestrator.campaign.diagram import facts_of_run
from orchestrator.campaign.experiment import Experiment
from orchestrator.campaign.figures import (
    campaigns_of,
    cases_of,
    default_figure,
    draw,
    sweeps_of,
)
from orchestrator.campaign.outcome import CaseOutcome, ExperimentOutcome
from orchestrator.campaign.prepare import merged
from orchestrator.drawing import Drawing, draw_system
from orchestrator.errors import DescriptionError
from orchestrator.recording import (
    CaseSection,
    FigureItem,
    FileItem,
    FmuItem,
    Measure,
    Report,
    parameters_of,
    save,
    whole_file,
    write_report,
)
from orchestrator.simunits import read_fmu
from orchestrator.system import SourceKind

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_rest(
    experiment: Experiment,
    outcome: ExperimentOutcome,
    output: Path,
    tell: Callable[[str, float], None],
) -> None:
    """Draw all figures whose cases and sweeps were run, and write report and summary."""
    pictures = output / "figures"
    pictures.mkdir(exist_ok=True)
    drawn = _figures(experiment, outcome)
    items = []
    for number, (name, (figure, caption)) in enumerate(drawn.items()):
        _save(figure, pictures / name, outcome)
        items.append(FigureItem(figure, caption))
        tell("drawing", (number + 1) / len(drawn))
    diagrams = []
    _animations(experiment, outcome, output, tell)
    for name, case in _each_drawing(outcome).items():
        options = merged(experiment.case[name], experiment.defaults)
        drawing = draw_system(case.nested, facts_of_run(case.system, options, case.result))
        _save_drawing(drawing, pictures / f"system-{name}", outcome)
        caption = f"{case.title}. {case.system.description}"
        diagrams.append(FigureItem(drawing, caption.strip()))
    report, summary = output / "report.html", output / "summary.json"
    outcome.files += [report, summary]
    write_report(_report(experiment, outcome, items, diagrams, output), report)
    with whole_file(summary) as draft:
        draft.write_text(json.dumps(outcome.as_json(), indent=2, allow_nan=False) + "\n")


def _animations(
    experiment: Experiment,
    outcome: ExperimentOutcome,
    output: Path,
    tell: Callable[[str, float], None],
) -> None:
    results = {name: case.result for name, case in outcome.cases.items()}
    titles = {name: case.title for name, case in outcome.cases.items()}
    chosen = drawable(experiment, results)
    for number, (name, table) in enumerate(chosen.items()):
        try:
            outcome.files.append(write_animation(name, table, results, titles, output))
        except DescriptionError as error:
            outcome.problems += error.problems
        tell("animating", (number + 1) / len(chosen))


def _save_drawing(drawing: Drawing, stem: Path, outcome: ExperimentOutcome) -> None:
    for suffix, content in ((".png", drawing.png()), (".svg", drawing.svg())):
        path = stem.with_name(stem.name + suffix)
        with whole_file(path) as draft:
            draft.write_bytes(content)
        outcome.files.append(path)


def _save(figure: Figure, stem: Path, outcome: ExperimentOutcome) -> None:
    for suffix in (".png", ".svg"):
        path = stem.with_name(stem.name + suffix)
        save(figure, path)
        outcome.files.append(path)


def _figures(experiment: Experiment, outcome: ExperimentOutcome) -> dict[str, tuple[Figure, str]]:
    wanted = {
        name: figure
        for name, figure in experiment.figure.items()
        if cases_of(figure) <= set(outcome.cases)
        and sweeps_of(figure) <= set(outcome.sweeps)
        and not campaigns_of(figure)  # `softdock sweep` draws these
    }
    if not experiment.figure:
        wanted = {
            name: default_figure(case.result)
            for name, case in outcome.cases.items()
            if case.result.names  # nothing but numbers is recorded, and there may be none
        }
    return {name: (draw(figure, outcome), figure.caption) for name, figure in wanted.items()}


def _each_drawing(outcome: ExperimentOutcome) -> dict[str, CaseOutcome]:
    """One case for every drawing that differs: in sources, connections or their delays."""
    seen: dict[object, str] = {}
    for name, case in outcome.cases.items():
        sources = tuple((n, c.source) for n, c in case.system.components.items())
        seen.setdefault((sources, case.system.connections), name)
    return {name: outcome.cases[name] for name in seen.values()}


def _report(
    experiment: Experiment,
    outcome: ExperimentOutcome,
    figures: list[FigureItem],
    diagrams: list[FigureItem],
    output: Path,
) -> Report:
    return Report(
        title=experiment.title,
        description=experiment.description,
        cases=tuple(_section(case) for case in outcome.cases.values()),
        diagrams=tuple(diagrams),
        figures=tuple(figures),
        fmus=_fmus(outcome),
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        files=tuple(FileItem(path.relative_to(output)) for path in outcome.files),
    )


def _section(case: CaseOutcome) -> CaseSection:
    measures = []
    for name, value in case.measured.items():
        measures.append(Measure(name.replace("_", " "), value.value, value.unit))
        if "predicted" in value.details:
            predicted = value.details["predicted"]
            measures.append(Measure(f"{name.replace('_', ' ')}, predicted", predicted, value.unit))
    return CaseSection.of(
        case.result,
        description=case.title,
        measures=tuple(measures),
        parameters=parameters_of(case.system),
        note="; ".join(case.result.remarks),
    )


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
