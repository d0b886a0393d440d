"""The animations of an experiment as HTML files that need nothing else: no network, no server."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import (
    DescriptionError,
    LoadError,
    UnknownNameError,
    choices_for,
    enumerated,
)
from orchestrator.core.recording import Result, default_format, kept_result, read_result, whole_file
from orchestrator.core.system import System, horizon, nanoseconds, seconds, signal_of
from orchestrator.pictures.animation.description import (
    WORLD,
    Animation,
    Arm,
    Arrow,
    Line,
    Part,
    Spring,
    Triad,
    pictures,
    too_many,
)
from orchestrator.pictures.animation.tracks import (
    CaseSignals,
    Tracks,
    elements,
    tracks,
    wrong_signals,
)
from orchestrator.pictures.drawing.page import embedded, environment, joined, policy_of
from orchestrator.study import Experiment, Extension, Run
from orchestrator.study.prepare.prepare import merged
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.run.ledger import ledger_series


def facts(table: Animation) -> list[str]:
    """Say in which way the picture differs from what happens."""
    factor, speed = table.exaggerate, table.speed
    larger = f"motion from rest {factor:g} times as large, sizes true"
    return [
        "motion and sizes true" if factor == 1.0 else larger,
        "real time" if speed == 1.0 else f"{speed:g} s of the run in 1 s",
    ]


def legend(
    table: Animation, results: Mapping[str, Result], titles: Mapping[str, str]
) -> list[dict[str, str | float]]:
    """List the parts that have a label, with their colours; of arrows the scale too."""
    items: dict[tuple[str, str], dict[str, str | float]] = {}
    for part in table.part.values():
        if part.label and not isinstance(part, Triad):  # a triad has colours of its own
            text = part.label
            if isinstance(part, Arrow):
                unit = unit_of(part, results) or ""
                text = f"{text}: 1 m is {1.0 / abs(part.scale):.4g} {unit}".rstrip()
            item: dict[str, str | float] = {
                "text": text,
                "colour": part.colour,
                "opacity": part.opacity,
            }
            items.setdefault((text, part.colour), item)
    ghosts = {getattr(part, "ghost", None) for part in table.part.values()} - {None}
    frames = [table.frame[name] for name in ghosts if name in table.frame]
    shown_cases = {table.case_of(frame, case) for frame in frames for case in table.cases}
    others = sorted(shown_cases - {*table.cases})
    if others:
        subject = titles[others[0]] if len(others) == 1 else "what the case is compared with"
        text = f"translucent: {subject}"
        items[(text, "")] = {"text": text, "colour": "#8899aa", "opacity": 0.2}
    return list(items.values())


def unit_of(arrow: Arrow, results: Mapping[str, Result]) -> str | None:
    """Return the unit of an arrow's vector, where a result has one."""
    parts = (part for part in elements(arrow.vector, 3) if isinstance(part, str))
    units = (result.units.get(part) for part in parts for result in results.values())
    return next((unit for unit in units if unit is not None), None)


#: Colours of curves that name none, told apart with any colour vision.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")


def contents(
    table: Animation,
    results: Mapping[str, Result],
    titles: Mapping[str, str],
    tracks_by_case: Mapping[str, Tracks],
) -> dict[str, Any]:
    """Return all that the page's script draws, as plain data."""
    names = [WORLD, *table.frame]
    return {
        "speed": table.speed,
        "beside": table.beside,
        "frames": names,
        "parts": [
            _part(part, names, len(tracks_by_case[table.cases[0]].segments.get(name, ())), results)
            for name, part in table.part.items()
        ],
        "views": [{"name": name, **view.model_dump()} for name, view in table.view.items()],
        "charts": [
            {
                "ylabel": chart.ylabel,
                "curves": [
                    {
                        "label": c.label,
                        "colour": c.colour or _COLOURS[i % len(_COLOURS)],
                        "dashed": c.reference or c.case is not None,
                        # The same for all cases: drawn once where they stand next to each other.
                        "once": len({table.case_of(c, case) for case in table.cases}) == 1,
                    }
                    for i, c in enumerate(chart.curves)
                ],
            }
            for chart in table.chart
        ],
        "cases": [
            {
                "name": case,
                "title": titles[case],
                "ends": float(results[case].time[-1]),
                "events": _events(results[case]),
                "tracks": [track.shape for track in case_tracks.all()],
                "values": case_tracks.packed(),
            }
            for case, case_tracks in tracks_by_case.items()
        ],
    }


def _part(
    part: Part, names: list[str], count: int, results: Mapping[str, Result]
) -> dict[str, Any]:
    """Return what the page draws of a part: its sizes, and the number of its frame or tracks."""
    content = part.model_dump(exclude={"within", "begin", "end", "vector", "case", "span"})
    if isinstance(part, Arrow):
        # As in books: a torque is an arrow with two heads.
        turning = unit_of(part, results) in {"N.m", "N m", "Nm"}
        return content | {"segments": count, "heads": 2 if turning else 1}
    if isinstance(part, Line | Spring | Arm):
        return content | {"segments": count}
    ghost = None if part.ghost is None else names.index(part.ghost)
    return content | {"frame": names.index(part.within), "ghost": ghost}


def _events(result: Result) -> list[dict[str, Any]]:
    """List what went wrong in a run and when: faults, and where components went to a safe state."""
    faults = [
        {
            "text": fault.name,
            "from": seconds(fault.begin_ns),
            "until": None if fault.until_ns is None else seconds(fault.until_ns),
        }
        for fault in result.faults
        # Noise over the whole run is no event of it.
        if fault.until_ns is not None or fault.begin_ns > result.time_ns[0]
    ]
    safe = [
        {
            "text": f"safe state of {safe_state.component}",
            "from": seconds(safe_state.time_ns),
            "until": None,
        }
        for safe_state in result.safe_states
    ]
    return faults + safe


_VIEWER = Path(__file__).parents[1] / "vendor" / "meshcat"
_VERSION = "0.3.2"


def _viewer() -> tuple[str, str]:
    """Read the script that defines ``MeshCat``, and the licences of all that is in it."""
    script = _text("main.min.js")
    texts = [_text("main.min.js.LICENSE.txt"), _text("LICENSE")]
    texts += [
        f"{load['name']} {load['version']} ({load['license']})\n\n{load['licenseText'] or ''}"
        for load in json.loads(_text("main.min.js.THIRD_PARTY_LICENSES.json"))
    ]
    # Nothing in a script may end the element that it stands in.
    script = script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    return script, "\n\n\n".join(map(str.strip, texts))


def _text(name: str) -> str:
    return (_VIEWER / name).read_text(encoding="utf-8")


_TEMPLATES = Path(__file__).with_name("templates")
_SCRIPTS = ("shapes.js", "scene.js", "stage.js", "chart.js", "start.js")
#: What the reader may multiply the speed by.
_RATES = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)


def render_animation(
    table: Animation, results: Mapping[str, Result], titles: Mapping[str, str]
) -> str:
    """Return the HTML page of an animation; all text in it is escaped.

    Parameters
    ----------
    table
        Without loose ends.
    results
        By case, of all that it needs.
    titles
        By case, what the reader is shown for it.

    Raises
    ------
    DescriptionError
        If a signal does not exist, or cannot be drawn at any time.
    LoadError
        If the viewer is not installed.
    """
    begin_ns, times_ns = _times(table, results)
    tracks_by_case = {
        case: tracks(
            table,
            case,
            {n: CaseSignals(result_or_tracks, times_ns) for n, result_or_tracks in results.items()},
        )
        for case in table.cases
    }
    troubles = (
        f"{titles[case]}: {text}"
        for case, result_or_tracks in tracks_by_case.items()
        for text in result_or_tracks.troubles
    )
    data = contents(table, results, titles, tracks_by_case)
    step = table.speed / table.fps
    data |= {"count": len(times_ns), "begin": begin_ns / 1e9, "step": step}
    viewer, licences = _viewer()
    script = joined(_TEMPLATES, _SCRIPTS)
    return (
        environment(_TEMPLATES)
        .get_template("page.html.j2")
        .render(
            title=table.title,
            caption=table.caption,
            facts=facts(table),
            legend=legend(table, results, titles),
            notes=tuple(dict.fromkeys(troubles)),
            charts=table.chart,
            count=len(times_ns),
            rates=[{"factor": f, "label": f"{f * table.speed:g}"} for f in _RATES],
            data=embedded(data),
            viewer=viewer,
            viewer_version=_VERSION,
            licences=licences,
            script=script,
            policy=policy_of(viewer, script),
        )
    )


def _times(table: Animation, results: Mapping[str, Result]) -> tuple[int, NDArray[np.int64]]:
    """Return when the pictures begin and the time of each, in nanoseconds."""
    spans = [results[case].time_ns for case in table.cases if len(results[case].time_ns)]
    if not spans:
        raise DescriptionError("no case that is shown recorded anything")
    begin_ns = min(int(times[0]) for times in spans)
    until_ns = max(int(times[-1]) for times in spans)
    if table.begin is not None:
        begin_ns = max(begin_ns, nanoseconds(table.begin, "from"))
    if table.until is not None:
        until_ns = min(until_ns, nanoseconds(table.until, "until"))
    count = pictures(table, max(until_ns - begin_ns, 0))
    step_ns = 1e9 * table.speed / table.fps
    return begin_ns, begin_ns + np.rint(np.arange(count) * step_ns).astype(np.int64)


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
        draft.write_text(page, encoding="utf-8", newline="\n")
    return path


def redraw(
    experiment: Experiment, results: Path, output: Path, only: Collection[str] = ()
) -> list[Path]:
    """Draw animations from the results of runs."""
    unknown = [name for name in only if name not in experiment.animation]
    if unknown or not experiment.animation:
        if not experiment.animation:
            raise UnknownNameError("the experiment has no animation: add [animation.NAME]")
        choices = choices_for(unknown[0], experiment.animation, "animation")
        raise UnknownNameError(f"no animation {enumerated(map(repr, unknown))}{choices}")
    tables = {n: t for n, t in experiment.animation.items() if not only or n in only}
    cases = sorted({case for table in tables.values() for case in table.needed()})
    stored_results = {}
    for case in cases:
        if (path := kept_result(results, case)) is None:
            kind = default_format()
            raise LoadError.in_file(
                results / f"{case}.{kind}",
                f"no such result; run the experiment first, with format '{kind}'",
            )
        stored_results[case] = read_result(path)
    units = {
        case: {n: result.units.get(n) for n in result.names}
        for case, result in stored_results.items()
    }
    problems = [
        text for name, table in tables.items() for text in wrong_signals(name, table, units)
    ]
    if problems:
        raise DescriptionError(*problems)
    titles = {case: experiment.case[case].title or case for case in cases}
    return [write_animation(name, t, stored_results, titles, output) for name, t in tables.items()]


class Animations(Extension):
    """Draws the experiment's animations whose cases are run."""

    follows = ("verify", "sweep")

    def check(
        self,
        experiment: Experiment,
        cases: Mapping[str, PreparedCase],
        recorded: Mapping[str, Collection[str]],
    ) -> Iterator[str]:
        """Yield signals that are not recorded or in another unit, and what is too long."""
        units = {
            name: {
                signal: signal_of(case.system, signal).connector.unit
                for signal in recorded[name]
                if signal not in ledger_series(case, experiment)
            }
            for name, case in cases.items()
        }
        for name, table in experiment.animation.items():
            yield from wrong_signals(name, table, units)
            for case in table.cases:
                if case in cases:
                    yield from _length(name, table, case, experiment, cases[case].system)

    def end(self, run: Run) -> None:
        """Draw them."""
        results = {name: case.result for name, case in run.outcome.cases.items()}
        titles = {name: case.title for name, case in run.outcome.cases.items()}
        every = run.experiment.animation.items()
        drawable = {name: table for name, table in every if table.needed() <= set(results)}
        for number, (name, table) in enumerate(drawable.items()):
            folder = run.draft.folder
            try:
                run.outcome.files.append(write_animation(name, table, results, titles, folder))
            except DescriptionError as error:
                run.outcome.problems += error.problems
            run.tell("animating", (number + 1) / len(drawable))
