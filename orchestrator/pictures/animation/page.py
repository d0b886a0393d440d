"""An animation as one HTML file that needs nothing else: no network, no server."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.recording import Result
from orchestrator.core.system import nanoseconds
from orchestrator.pictures.animation.checks import pictures
from orchestrator.pictures.animation.contents import contents
from orchestrator.pictures.animation.description import Animation
from orchestrator.pictures.animation.signals import Signals
from orchestrator.pictures.animation.tracks import tracks
from orchestrator.pictures.animation.viewer import read_viewer
from orchestrator.pictures.animation.wording import facts, legend
from orchestrator.pictures.drawing.inline import embedded, environment

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
    shown = {case: tracks(table, case, _signals(results, times_ns)) for case in table.cases}
    troubles = (f"{titles[case]}: {text}" for case, one in shown.items() for text in one.troubles)
    data = contents(table, results, titles, shown)
    step = table.speed / table.fps
    data |= {"count": len(times_ns), "begin": begin_ns / 1e9, "step": step}
    viewer = read_viewer()
    script = "\n".join((_TEMPLATES / name).read_text(encoding="utf-8") for name in _SCRIPTS)
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
            viewer=viewer.script,
            viewer_version=viewer.version,
            viewer_digest=_digest(viewer.script),
            licences=viewer.licences,
            script=script,
            digest=_digest(script),
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


def _signals(results: Mapping[str, Result], times_ns: NDArray[np.int64]) -> dict[str, Signals]:
    return {name: Signals(result, times_ns) for name, result in results.items()}


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
