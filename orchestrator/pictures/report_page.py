"""The report of a run, and pictures of its figures where requested."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.recording import Result, parameters_of
from orchestrator.core.simunits import read_fmu
from orchestrator.core.structs import replace
from orchestrator.core.system import SourceKind
from orchestrator.pictures import BESIDE, write_report
from orchestrator.pictures.diagram import facts_of_run, nested_of, valued_drawing
from orchestrator.pictures.drawing import Drawing
from orchestrator.pictures.drawing.drawing import ValuedDrawing
from orchestrator.pictures.drawing.scene import NEED_FONT, has_font
from orchestrator.pictures.panels import default_plots
from orchestrator.study import CaseOutcome, Experiment, ExperimentOutcome, Extension, Run
from orchestrator.study.content import (
    CaseSection,
    FigureItem,
    FileItem,
    FmuItem,
    Measure,
    Plot,
    Report,
    TableItem,
)
from orchestrator.study.measure.outcome import SUMMARY
from orchestrator.study.prepare.prepare import merged

if TYPE_CHECKING:
    from orchestrator.pictures.plot_drawing import Picture
    from orchestrator.study.energy import EnergyLedger

_LOGGER = logging.getLogger(__name__)
#: Folder of the pictures.
PICTURES = "figures"
#: What devices count.
_COUNTS = ("lost", "late", "repeated", "malformed", "restarts")


class ReportPage(Extension):
    """Writes the report, and pictures of all figures where requested."""

    follows = ("*",)

    def end(self, run: Run) -> None:
        """Write them to the draft's folder."""
        experiment, outcome, draft = run.experiment, run.outcome, run.draft
        folder = draft.folder
        plots = _plots(experiment, outcome)
        pictures_shown: dict[str, Picture] = {name: plot for name, (plot, _) in plots.items()}
        sections = []
        for case in outcome.cases.values():
            case_plots = {
                stem: item for section in case.sections for stem, item in section.plots.items()
            }
            pictures_shown |= {stem: plot for stem, (plot, _) in case_plots.items()}
            sections.append(_section(case, _items(case_plots)))
        diagrams = _diagrams(run)
        if run.settings.figures:
            pictures_shown |= {name: drawing.bare() for name, (drawing, _) in diagrams.items()}
        for name, figure in experiment.figure.items():
            if figure.kind == "stability-plane":
                from orchestrator.pictures.figures import draw_plane

                pictures_shown[name] = partial(draw_plane, figure)
        if run.settings.figures:
            from orchestrator.pictures import draw_pictures

            progress = partial(run.tell, "drawing")
            pictures = folder / PICTURES
            outcome.files += draw_pictures(
                pictures_shown, pictures, run.output / PICTURES, progress
            )
        # those of an earlier run show something else by now
        draft.replaced |= {
            f"{PICTURES}/{name}{end}"
            for name in (*pictures_shown, *diagrams)
            for end in (".png", ".svg")
        }
        page = folder / "report.html"
        draft.replaced.add(f"{page.stem}{BESIDE}")
        files = [*outcome.files, page, folder / SUMMARY]
        written_files = [
            path for path in files if path.is_relative_to(folder)
        ]  # not those of before the run
        sections, shared = _said_once(sections)
        report = Report(
            title=experiment.title,
            description=experiment.description,
            cases=tuple(sections),
            diagrams=_items(diagrams),
            figures=_items(plots),
            verdicts=tuple(_verdicts(outcome)),
            is_bad=bool(
                outcome.stopped or outcome.safe_states or outcome.broken or outcome.never_engaged
            ),
            shared=tuple(shared),
            fmus=_fmus(outcome),
            created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            files=tuple(FileItem(path.relative_to(folder)) for path in written_files),
        )
        outcome.files += write_report(report, page)


def _plots(experiment: Experiment, outcome: ExperimentOutcome) -> dict[str, tuple[Plot, str]]:
    """Return what the figures show whose cases and sweeps were run, and their captions."""
    if not experiment.figure and not experiment.animation:
        plots_by_case = [default_plots(case.result) for case in outcome.cases.values()]
        return {name: plot for plots in plots_by_case for name, plot in plots.items()}
    from orchestrator.pictures.figures import cases_of, plot_of, sweeps_of

    plots_of = {}
    for name, figure in experiment.figure.items():
        if not (
            cases_of(figure) <= set(outcome.cases) and sweeps_of(figure) <= set(outcome.sweeps)
        ):
            continue
        if figure.kind in {"map", "lines"}:  # `softdock sweep` draws these
            continue
        try:
            plots_of[name] = plot_of(figure, outcome), figure.caption
        except DescriptionError:
            if not outcome.stopped:  # whose rows end before the rows of their reference
                raise
    return plots_of


def _items(figures: Mapping[str, tuple[Plot | Drawing, str]]) -> tuple[FigureItem, ...]:
    return tuple(FigureItem(figure, caption) for figure, caption in figures.values())


def _diagrams(run: Run) -> dict[str, tuple[ValuedDrawing, str]]:
    """Draw the systems of the cases, each once, with the values of all that share it."""
    experiment, outcome, diagrams = run.experiment, run.outcome, {}
    if not has_font():
        _LOGGER.warning("the report has no block diagrams: they %s", NEED_FONT)
        return {}
    drawings: dict[object, list[str]] = {}  # they differ in no source, connection or delay
    for name, case in outcome.cases.items():
        sources = tuple((n, c.source) for n, c in case.system.components.items())
        drawings.setdefault((sources, case.system.connections), []).append(name)
    for names in drawings.values():
        first = outcome.cases[names[0]]
        options = merged(experiment.case[names[0]], experiment.defaults)
        facts = facts_of_run(first.system, options, first.result)
        read = run.cases[names[0]].case
        nested = nested_of(read, run.reader.read(read), first.system, run.settings.values)
        results = [outcome.cases[name].result for name in names]
        drawing = valued_drawing(nested, facts, ", ".join(names), results)
        caption = f"{first.title}. {first.system.description}"
        diagrams[f"system-{names[0]}"] = drawing, caption.strip()
    return diagrams


def device_table(result: Result) -> TableItem | None:
    """Say how the samples of devices were, of those outputs that tell it; ``None``: there are none.

    Counts are the last ones.
    """
    signals_of: dict[str, dict[str, NDArray[np.float64]]] = {}
    for name in result:
        device, _, signal = name.rpartition(".")
        if signal in (*_COUNTS, "sample_age", "valid") and _is_device(result, device):
            signals_of.setdefault(device, {})[signal] = result[name]
    if not signals_of or not len(result.time_ns):
        return None
    rows: list[tuple[str | float | None, ...]] = []
    for device, signals in signals_of.items():
        valid, age = signals.get("valid"), signals.get("sample_age")
        rows.append(
            (
                device,
                None if valid is None else 100.0 * float(np.mean(valid > 0.0)),
                None if age is None else 1e3 * float(np.max(age, initial=0.0, where=age >= 0.0)),
                *(float(signals[key][-1]) if key in signals else None for key in _COUNTS),
            )
        )
    columns = ("device", "valid [% of rows]", "greatest age [ms]", *_COUNTS)
    return TableItem(f"Samples of devices of {result.name}", columns, tuple(rows))


def _is_device(result: Result, name: str) -> bool:
    """Whether a component is a device or its twin, as far as that is known."""
    if result.system is None:
        return True
    component = result.system.components.get(name)
    return component is not None and component.source.kind in {SourceKind.DEVICE, SourceKind.TWIN}


def _tables(case: CaseOutcome) -> Iterator[TableItem]:
    if (devices := device_table(case.result)) is not None:
        yield devices
    for section in case.sections:
        if section.columns:
            yield TableItem(
                section.heading, section.columns, section.rows, section.note, section.remarks
            )


def _verdicts(outcome: ExperimentOutcome) -> Iterator[str]:
    """Summarise whether the expectations hold, and name the failed ones."""
    for name, stop in outcome.stopped.items():
        yield f"Case {name} was {stop}."
    for name in outcome.never_engaged:
        yield f"The rig of case {name} was never engaged."
    for name, notices in outcome.safe_states.items():
        components = ", ".join(dict.fromkeys(notice.component or "the rig" for notice in notices))
        if name in outcome.stopped and components == "the rig":
            continue  # said above, with its cause
        yield f"Case {name}: {components} went to a safe state."
    if counts := outcome.counted_expectations():
        yield counts
    yield from (f"{text[0].upper()}{text[1:]}." for text in outcome.broken)


def _said_once(
    sections: list[CaseSection],
) -> tuple[list[CaseSection], list[tuple[str, str]]]:
    """Take remarks that several cases have off these; return them with the names of the cases."""
    cases: dict[str, list[str]] = {}
    for section in sections:
        for text in dict.fromkeys(section.remarks):
            cases.setdefault(text, []).append(section.name)
    shared = {text: names for text, names in cases.items() if len(names) > 1}
    remaining = [
        replace(part, remarks=tuple(text for text in part.remarks if text not in shared))
        for part in sections
    ]
    every = len(sections)
    return remaining, [
        (text, "all cases" if len(names) == every else ", ".join(names))
        for text, names in shared.items()
    ]


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
        tables=tuple(_tables(case)),
    )
    ledger: EnergyLedger | None = case.value("ledger")
    if ledger is None:
        return section
    from orchestrator.study.run.ledger import energy_note, energy_rows

    note, rows = energy_note(ledger), tuple(energy_rows(ledger))
    return replace(section, energies=rows, energy_note=note)


def _fmus(outcome: ExperimentOutcome) -> tuple[FmuItem, ...]:
    items: dict[str, FmuItem] = {}
    for case in outcome.cases.values():
        for name, component in case.system.components.items():
            source = component.source
            if source.kind is SourceKind.FMU and source.location not in items:
                fmu = read_fmu(Path(source.location), runnable=False)
                tool = fmu.description.details["tool"]
                items[source.location] = FmuItem(name, Path(source.location).name, fmu.guid, tool)
    return tuple(items.values())
