"""The animations of an experiment, and scenes in files that several of them draw."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from orchestrator.core.diagnostics import DescriptionError, LoadError, UnknownNameError
from orchestrator.core.diagnostics.validation import format_validation_error
from orchestrator.core.plain_data import toml_data
from orchestrator.core.recording import Result, default_format, kept_result, read_result, whole_file
from orchestrator.core.system import System, nanoseconds, nearest, signal_of
from orchestrator.pictures.animation import (
    Animation,
    Scene,
    render_animation,
    too_many,
    wrong_signals,
)
from orchestrator.study import Experiment, Extension, Run
from orchestrator.study.prepare.prepare import merged
from orchestrator.study.prepare.simulate import horizon


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
    """Say which signals of animations are not recorded or in another unit, and what is too long."""
    units = {
        case: {name: signal_of(systems[case], name).connector.unit for name in names}
        for case, names in recorded.items()
    }
    for name, table in experiment.animation.items():
        yield from wrong_signals(name, table, units)
        for case in table.cases:
            if case in systems:
                yield from _length(name, table, case, experiment, systems[case])


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
    """Draw one animation into the folder of the results; return its file."""
    needed = {case: results[case] for case in table.needed()}
    table = table if table.title else table.model_copy(update={"title": name})
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


def redraw(
    experiment: Experiment, results: Path, output: Path, only: Collection[str] = ()
) -> list[Path]:
    """Draw animations from the results of runs."""
    unknown = [name for name in only if name not in experiment.animation]
    if unknown or not experiment.animation:
        what = "no animation"
        if unknown:
            what += f" {', '.join(map(repr, unknown))}{nearest(unknown[0], experiment.animation)}"
        known = ", ".join(experiment.animation) or "none"
        raise UnknownNameError(f"{what}; the experiment has: {known}")
    chosen = {n: t for n, t in experiment.animation.items() if not only or n in only}
    cases = sorted({case for table in chosen.values() for case in table.needed()})
    found = {case: _read(results, case) for case in cases}
    units = {case: {n: one.units.get(n) for n in one.names} for case, one in found.items()}
    problems = [
        text for name, table in chosen.items() for text in wrong_signals(name, table, units)
    ]
    if problems:
        raise DescriptionError(*problems)
    titles = {case: experiment.case[case].title or case for case in cases}
    return [write_animation(name, t, found, titles, output) for name, t in chosen.items()]


def _read(folder: Path, case: str) -> Result:
    path = kept_result(folder, case)
    if path is None:
        kind = default_format()
        raise LoadError.in_file(
            folder / f"{case}.{kind}",
            f"no such result; run the experiment first, with format '{kind}'",
        )
    return read_result(path)


class Animations(Extension):
    """Draws the experiment's animations whose cases are run."""

    follows = ("verify", "sweep")

    def end(self, run: Run) -> None:
        """Draw them."""
        results = {name: case.result for name, case in run.outcome.cases.items()}
        titles = {name: case.title for name, case in run.outcome.cases.items()}
        chosen = drawable(run.experiment, results)
        for number, (name, table) in enumerate(chosen.items()):
            folder = run.draft.folder
            try:
                run.outcome.files.append(write_animation(name, table, results, titles, folder))
            except DescriptionError as error:
                run.outcome.problems += error.problems
            run.tell("animating", (number + 1) / len(chosen))


_MERGED = ("frame", "part", "view")


def with_scenes(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Put what the scenes of animations hold into their tables.

    content: Of an experiment file, as TOML gives it.
    folder: What the paths of scenes are relative to.
    Returns: The same, with frames, parts and views of the scenes in each animation that names them;
        later scenes win over earlier ones, and the animation's own over all.
    Raises LoadError: if a scene is missing or is no TOML.
    Raises DescriptionError: if a scene has other keys, or values of a wrong kind.
    """
    animations = content.get("animation")
    if not isinstance(animations, dict):
        return content
    return content | {"animation": {name: _whole(t, folder) for name, t in animations.items()}}


def _whole(table: Any, folder: Path) -> Any:
    files = table.get("scene") if isinstance(table, dict) else None
    if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
        return table  # nothing to add, or wrong, which is said with the rest of the table
    if any(not isinstance(table.get(key, {}), dict) for key in _MERGED):
        return table
    scenes = [_read_scene(folder / file) for file in files]
    merged = {
        key: {k: v for one in (*scenes, table) for k, v in one.get(key, {}).items()}
        for key in _MERGED
    }
    charts = table.get("chart", [chart for scene in scenes for chart in scene.get("chart", ())])
    return table | {key: value for key, value in merged.items() if value} | {"chart": charts}


def _read_scene(path: Path) -> dict[str, Any]:
    try:
        content = toml_data(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LoadError.in_file(path, "no such scene") from None
    except (ValueError, OSError) as error:
        raise LoadError.in_file(path, f"expected a scene in TOML: {error}") from None
    try:
        Scene.model_validate(content)
    except ValidationError as error:
        raise DescriptionError(*format_validation_error(error, Scene, path)) from None
    return content
