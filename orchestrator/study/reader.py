"""Reading of an experiment file, and of the names by which its parts refer to each other."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from pathlib import Path

from pydantic import ValidationError

from orchestrator.core.diagnostics import (
    DescriptionError,
    Diagnostic,
    LoadError,
    Severity,
    nearest,
    nearest_name,
)
from orchestrator.core.diagnostics.validation import format_validation_error
from orchestrator.core.plain_data import toml_data
from orchestrator.core.wings import of_wing
from orchestrator.study.file.experiment import Experiment

#: Of what is wrong with an experiment file by itself.
CODE = "EXP101"

_LOGGER = logging.getLogger(__name__)


def read_experiment(path: str | Path) -> Experiment:
    """Read and check an experiment file.

    Raises
    ------
    LoadError
        If the file, or a scene that it names, is missing or is no TOML.
    DescriptionError
        If keys are unknown or missing, values have a wrong type, or names that refer to each
        other do not exist; all together.
    """
    path = Path(path)
    try:
        content = toml_data(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LoadError.in_file(path, "no such experiment file") from None
    except (ValueError, OSError) as error:
        raise LoadError.in_file(path, f"expected a TOML file: {error}") from None
    if not {"title", "case"} & content.keys():
        raise LoadError.in_file(
            path,
            "expected an experiment, which has 'title' and a table [case.NAME], or a"
            " system file, which has a table [system]",
        )
    if "animation" in content:
        content = of_wing("pictures.scenes")(content, path.parent)
    try:
        experiment = Experiment.model_validate(content)
    except ValidationError as error:
        found = format_validation_error(error, Experiment, path, CODE)
        raise DescriptionError(*found) from None
    if experiment.extension:
        from orchestrator.study.extension import with_own_tables

        experiment = with_own_tables(experiment, path)
    problems = _dangling(experiment)
    for name, table in experiment.animation.items():
        problems += (
            Diagnostic(CODE, Severity.ERROR, f"'{key}': {text}", key=key)
            for key, text in of_wing("pictures.loose_ends")(name, table)
        )
    if problems:
        raise DescriptionError(*problems).of_file(path)
    return experiment


def _dangling(experiment: Experiment) -> list[Diagnostic]:
    """Find names of cases, sweeps and measures that do not exist."""
    named = list(_named_by_cases(experiment))
    if experiment.sweep:
        from orchestrator.study.prepare.sweep_check import named_by_sweeps

        named += named_by_sweeps(experiment)
    named += _named_by_figures(experiment)
    if experiment.has_maps:
        from orchestrator.study.prepare.map_check import named_by_maps

        named += named_by_maps(experiment)
    return [
        Diagnostic(
            CODE,
            Severity.ERROR,
            f"'{where}': no '{name}'{nearest(name, known)}; known: {', '.join(known) or 'none'}",
            key=where,
            hint=nearest_name(name, known),
        )
        for where, name, known in named
        if name not in known
    ]


Named = Iterator[tuple[str, str, Collection[str]]]


def _named_by_cases(experiment: Experiment) -> Named:
    """Where a case or a ledger names another thing, what it names, and what there is."""
    for name, case in experiment.case.items():
        for key, measure in case.measure.items():
            if measure.is_difference:
                yield f"case.{name}.measure.{key}.to", measure.to or "", experiment.case
    for name, ledger in experiment.ledger.items():
        yield from ((f"ledger.{name}.cases", case, experiment.case) for case in ledger.cases)


def _named_by_figures(experiment: Experiment) -> Named:
    listed = experiment.listed_sweeps
    for name, figure in experiment.figure.items():
        where = f"figure.{name}"
        if figure.kind == "time":
            for panel in figure.panels:
                for curve in panel.curves:
                    yield from ((where, case, experiment.case) for case in curve.cases)
        elif figure.kind == "phase":
            yield from ((where, curve.case, experiment.case) for curve in figure.curves)
        elif figure.kind == "sweep":
            for line in figure.curves:
                yield where, line.sweep, listed
                if line.sweep in listed:
                    yield where, line.measure, listed[line.sweep].measures
    for name, animation in experiment.animation.items():
        where = f"animation.{name}"
        yield from ((where, case, experiment.case) for case in sorted(animation.needed()))
