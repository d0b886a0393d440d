"""The animations of an experiment: which can be drawn, what is wrong with them, their files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from orchestrator.animation import Animation, render_animation, too_many, wrong_signals
from orchestrator.campaign.experiment import Experiment
from orchestrator.campaign.prepare import merged
from orchestrator.campaign.simulate import horizon
from orchestrator.errors import DescriptionError
from orchestrator.recording import Result, whole_file
from orchestrator.system import System, nanoseconds


def drawable(experiment: Experiment, cases: Collection[str]) -> dict[str, Animation]:
    """Return the animations whose cases are all among those given."""
    return {
        name: table for name, table in experiment.animation.items() if table.needed() <= set(cases)
    }


def wrong_animations(
    experiment: Experiment,
    systems: Mapping[str, System],
    recorded: Mapping[str, Collection[str]],
) -> Iterator[str]:
    """Say which signals of animations are not recorded or in another unit, and what is too long.

    Parameters
    ----------
    experiment
        As read.
    systems
        Prepared systems by case; cases that are not among them are left out.
    recorded
        By case, the signals that it records.
    """
    units = {
        case: {name: _unit(systems[case], name) for name in names}
        for case, names in recorded.items()
    }
    for name, table in experiment.animation.items():
        yield from wrong_signals(name, table, units)
        for case in table.cases:
            if case in systems:
                yield from _length(name, table, case, experiment, systems[case])


def _unit(system: System, signal: str) -> str | None:
    component, _, connector = signal.partition("[")[0].partition(".")
    return system.components[component].connectors[connector].unit


def _length(
    name: str, table: Animation, case: str, experiment: Experiment, system: System
) -> Iterator[str]:
    options = merged(experiment.case[case], experiment.defaults)
    try:
        first, last, _ = horizon(system, options.start, options.stop, options.step)
    except DescriptionError:
        return  # reported with the options
    try:
        begin = first if table.begin is None else nanoseconds(table.begin, "from")
        until = last if table.until is None else nanoseconds(table.until, "until")
    except DescriptionError as error:
        yield f"animation '{name}': {error}"
        return
    if not max(first, begin) < min(last, until):
        yield (
            f"animation '{name}': expected 'from' before 'until', and both inside the run of case"
            f" '{case}' from {first / 1e9:.9g} s to {last / 1e9:.9g} s"
        )
        return
    yield from too_many(name, table, min(last, until) - max(first, begin))


def write_animation(
    name: str,
    table: Animation,
    results: Mapping[str, Result],
    titles: Mapping[str, str],
    output: Path,
) -> Path:
    """Draw one animation into the folder of the results; return its file.

    Parameters
    ----------
    name, table
        ``[animation.NAME]``.
    results, titles
        By case, of all that it needs.
    output
        Folder; the file is ``animations/NAME.html`` in it.

    Raises
    ------
    DescriptionError
        If a signal cannot be drawn at any time.
    SoftdockError
        If the file cannot be written, or the viewer is missing.
    """
    needed = {case: results[case] for case in table.needed()}
    try:
        page = render_animation(table, needed, titles)
    except DescriptionError as error:
        raise DescriptionError(
            *(f"animation '{name}': {text}" for text in error.problems)
        ) from None
    path = output / "animations" / f"{name}.html"
    with whole_file(path) as draft:
        draft.write_text(page, encoding="utf-8")
    return path
