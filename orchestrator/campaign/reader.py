"""Reading of an experiment file, and of the names by which its parts refer to each other."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path

from pydantic import ValidationError

from orchestrator.animation import loose_ends
from orchestrator.campaign.campaign_check import named_by_campaigns
from orchestrator.campaign.experiment import Experiment, SweepFigure, TimeFigure
from orchestrator.campaign.map_check import named_by_maps
from orchestrator.campaign.misread import misread
from orchestrator.campaign.scenes import with_scenes
from orchestrator.errors import DescriptionError, LoadError


def read_experiment(path: Path) -> Experiment:
    """Read and check an experiment file.

    Raises
    ------
    LoadError
        If the file, or a scene that it names, is missing or is no TOML.
    DescriptionError
        If keys are unknown or missing, values have a wrong type, or names that refer to each
        other do not exist; all together.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LoadError(f"{path}: no such experiment file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise LoadError(f"{path}: expected a TOML file: {error}") from None
    if not {"title", "case"} & content.keys():
        raise LoadError(
            f"{path}: expected an experiment, which has 'title' and a table [case.NAME], or a"
            " system file, which has a table [system]"
        )
    try:
        experiment = Experiment.model_validate(with_scenes(content, path.parent))
    except ValidationError as error:
        raise DescriptionError(*misread(path, Experiment, error)) from None
    loose = (loose_ends(name, table) for name, table in experiment.animation.items())
    problems = [f"{path}: {text}" for text in (*_dangling(experiment), *chain(*loose))]
    if problems:
        raise DescriptionError(*problems)
    return experiment


def _dangling(experiment: Experiment) -> list[str]:
    """Find names of cases, sweeps and measures that do not exist."""
    named = [
        *_named_by_cases(experiment),
        *named_by_campaigns(experiment),
        *_named_by_figures(experiment),
        *named_by_maps(experiment),
    ]
    return [
        f"'{where}': no '{name}'; known: {', '.join(known) or 'none'}"
        for where, name, known in named
        if name not in known
    ]


Named = Iterator[tuple[str, str, Collection[str]]]


def _named_by_cases(experiment: Experiment) -> Named:
    """Where a case or a sweep names another thing, what it names, and what there is."""
    for name, case in experiment.case.items():
        for key, measure in case.measure.items():
            if measure.is_difference:
                yield f"case.{name}.measure.{key}.to", measure.to or "", experiment.case
    for name, ledger in experiment.ledger.items():
        yield from ((f"ledger.{name}.cases", case, experiment.case) for case in ledger.cases)
    for name, sweep in experiment.sweep.items():
        yield f"sweep.{name}.case", sweep.case, experiment.case
        if sweep.case in experiment.case:
            known = experiment.case[sweep.case].measure
            yield from ((f"sweep.{name}.measures", key, known) for key in sweep.measures)


def _named_by_figures(experiment: Experiment) -> Named:
    for name, figure in experiment.figure.items():
        where = f"figure.{name}"
        if isinstance(figure, TimeFigure):
            for panel in figure.panels:
                for curve in panel.curves:
                    yield from ((where, case, experiment.case) for case in curve.cases)
        elif isinstance(figure, SweepFigure):
            for line in figure.curves:
                yield where, line.sweep, experiment.sweep
                if line.sweep in experiment.sweep:
                    yield where, line.measure, experiment.sweep[line.sweep].measures
    for name, animation in experiment.animation.items():
        where = f"animation.{name}"
        yield from ((where, case, experiment.case) for case in sorted(animation.needed()))
