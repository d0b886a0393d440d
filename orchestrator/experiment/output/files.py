"""The files that an experiment leaves: results, pictures, the report and the summary."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.diagnostics import DescriptionError
from orchestrator.drawing import Drawing, draw_system
from orchestrator.experiment.file.experiment import Experiment
from orchestrator.experiment.measure.outcome import CaseOutcome, ExperimentOutcome
from orchestrator.experiment.output.default_plots import default_plots
from orchestrator.experiment.output.diagram import facts_of_run
from orchestrator.experiment.prepare.prepare import merged
from orchestrator.recording import (
    BESIDE,
    CaseSection,
    Draft,
    FigureItem,
    FileItem,
    FmuItem,
    Measure,
    Plot,
    Report,
    TableItem,
    parameters_of,
    whole_file,
    write_report,
)
from orchestrator.simunits import read_fmu
from orchestrator.system import SourceKind

if TYPE_CHECKING:
    from orchestrator.recording.pictures import Picture

#: Folder of the pictures.
PICTURES = "figures"


def write_rest(
    experiment: Experiment,
    outcome: ExperimentOutcome,
    draft: Draft,
    output: Path,
    tell: Callable[[str, float], None],
    *,
    pictures: bool = False,
) -> None:
    """Write tables, animations, report and summary, and pictures of all figures if asked for.

    They are written to the draft's folder; the outcome names them as they are found in ``output``.
    """
    folder = draft.folder
    plots = _plots(experiment, outcome)
    shown: dict[str, Picture] = {name: plot for name, (plot, _) in plots.items()}
    sections = []
    for name, case in outcome.cases.items():
        found = _case_plots(name, case)
        shown |= {stem: plot for stem, (plot, _) in found.items()}
        sections.append(_section(case, _items(found)))
    _tables_as_files(outcome, folder)
    if experiment.animation:
        _animations(experiment, outcome, folder, tell)
    diagrams = _diagrams(experiment, outcome)
    shown |= {name: drawing for name, (drawing, _) in diagrams.items()}
    for name, figure in experiment.figure.items():
        if figure.kind == "stability-plane":
            from orchestrator.experiment.output.figures import draw_plane

            shown[name] = partial(draw_plane, figure)
    if pictures:
        from orchestrator.recording import draw_pictures

        told = partial(tell, "drawing")
        outcome.files += draw_pictures(shown, folder / PICTURES, output / PICTURES, told)
    # those of an earlier run show something else by now
    draft.replaced |= {f"{PICTURES}/{name}{end}" for name in shown for end in (".png", ".svg")}
    report, summary = folder / "report.html", folder / "summary.json"
    draft.replaced.add(f"{report.stem}{BESIDE}")
    files = [*outcome.files, report, summary]
    page = _report(experiment, outcome, sections, _items(plots), _items(diagrams))
    listed = tuple(FileItem(path.relative_to(folder)) for path in files)
    _, *beside = write_report(replace(page, files=listed), report)
    outcome.files = [output / path.relative_to(folder) for path in (*files, *beside)]
    with whole_file(summary) as opened:
        opened.write_text(
            json.dumps(outcome.as_json(), indent=2, allow_nan=False) + "\n", encoding="utf-8"
        )


def _animations(
    experiment: Experiment,
    outcome: ExperimentOutcome,
    output: Path,
    tell: Callable[[str, float], None],
) -> None:
    from orchestrator.experiment.output.animations import drawable, write_animation

    results = {name: case.result for name, case in outcome.cases.items()}
    titles = {name: case.title for name, case in outcome.cases.items()}
    chosen = drawable(experiment, results)
    for number, (name, table) in enumerate(chosen.items()):
        try:
            outcome.files.append(write_animation(name, table, results, titles, output))
        except DescriptionError as error:
            outcome.problems += error.problems
        tell("animating", (number + 1) / len(chosen))


def _plots(experiment: Experiment, outcome: ExperimentOutcome) -> dict[str, tuple[Plot, str]]:
    """Return what the figures show whose cases and sweeps were run, and their captions."""
    if not experiment.figure and not experiment.animation:
        shown = [default_plots(case.result) for case in outcome.cases.values()]
        return {name: plot for plots in shown for name, plot in plots.items()}
    from orchestrator.experiment.output.figures import cases_of, plot_of, sweeps_of

    return {
        name: (plot_of(figure, outcome), figure.caption)
        for name, figure in experiment.figure.items()
        if cases_of(figure) <= set(outcome.cases)
        and sweeps_of(figure) <= set(outcome.sweeps)
        and figure.kind not in {"map", "lines"}  # `softdock sweep` draws these
    }


def _items(shown: Mapping[str, tuple[Plot | Drawing, str]]) -> tuple[FigureItem, ...]:
    return tuple(FigureItem(figure, caption) for figure, caption in shown.values())


def _case_plots(name: str, case: CaseOutcome) -> dict[str, tuple[Plot, str]]:
    """Return what is shown of one case beside its signals: its energy, its timing, its devices."""
    found = {}
    if case.ledger is not None:
        from orchestrator.experiment.output.ledger_files import ledger_plot

        plot = ledger_plot(case.ledger, f"Energy of '{name}'")
        found[f"ledger-{name}"] = plot, f"Energy ledger of {name}. {case.title}."
    if case.result.timing and case.result.timing.computing.count:
        from orchestrator.experiment.output.timing_files import timing_plot

        plot = timing_plot(name, case.result.timing)
        found[f"timing-{name}"] = plot, f"Timing of {name}. {case.title}."
    for track in case.tracks:
        from orchestrator.experiment.output.tracking_files import tracking_plot

        stem = f"tracking-{name}-{track.response}".replace("[", "_").replace("]", "")
        caption = f"Tracking of {track.response}. {case.title}."
        found[stem] = tracking_plot(name, track), caption
    return found


def _diagrams(experiment: Experiment, outcome: ExperimentOutcome) -> dict[str, tuple[Drawing, str]]:
    """Draw the systems of the cases, each once."""
    found = {}
    for names in _each_drawing(outcome):
        first = outcome.cases[names[0]]
        options = merged(experiment.case[names[0]], experiment.defaults)
        facts = facts_of_run(first.system, options, first.result)
        drawing = draw_system(first.nested, facts, title=", ".join(names))
        caption = f"{first.title}. {first.system.description}"
        found[f"system-{names[0]}"] = drawing, caption.strip()
    return found


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
    figures: tuple[FigureItem, ...],
    diagrams: tuple[FigureItem, ...],
) -> Report:
    return Report(
        title=experiment.title,
        description=experiment.description,
        cases=tuple(sections),
        diagrams=diagrams,
        figures=figures,
        tables=tuple(_tables(outcome)),
        fmus=_fmus(outcome),
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def _tables(outcome: ExperimentOutcome) -> Iterator[TableItem]:
    for name, case in outcome.cases.items():
        if case.arming is not None:
            from orchestrator.experiment.output.arming_table import arming_table

            yield arming_table(name, case.arming)
        if case.states is not None:
            from orchestrator.experiment.output.states_table import states_table

            yield states_table(name, case.states)
        if case.tracks:
            from orchestrator.experiment.output.tracking_files import tracking_table

            yield tracking_table(name, case.tracks)
        if case.account is not None and case.account.accounts:
            from orchestrator.experiment.output.account_table import account_table

            yield account_table(name, case.account)
        if case.result.timing:
            from orchestrator.experiment.output.timing_files import timing_table

            yield timing_table(name, case.result.timing)
        if case.result.timing and case.result.timing.overruns:
            from orchestrator.experiment.output.timing_files import overruns_table

            yield overruns_table(name, case.result.timing)
        if case.verification:
            from orchestrator.experiment.output.verification_files import verification_table

            yield verification_table(name, case.verification)


def _tables_as_files(outcome: ExperimentOutcome, output: Path) -> None:
    """Write energy ledgers of the cases, and what they were verified to, where there are any."""
    for name, case in outcome.cases.items():
        if case.ledger is not None:
            outcome.files.append(output / f"{name}.ledger.csv")
            from orchestrator.experiment.output.ledger_files import write_ledger

            write_ledger(case.ledger, outcome.files[-1])
        if case.verification is not None:
            outcome.files.append(output / f"{name}.verification.csv")
            from orchestrator.experiment.output.verification_files import write_verification

            write_verification(case.verification, outcome.files[-1])


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
        remarks=case.result.remarks,
    )
    if case.ledger is None:
        return section
    from orchestrator.experiment.output.ledger_files import energy_note, energy_rows

    note, rows = energy_note(case.ledger), tuple(energy_rows(case.ledger))
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
