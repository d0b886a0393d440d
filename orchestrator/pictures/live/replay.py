"""A recording as it is played: the page of a run that is over, with a slider."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.core.coupling import Mark, Tuned
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.recording import Result
from orchestrator.core.system import System
from orchestrator.pictures.diagram import live_diagram
from orchestrator.pictures.drawing import Facts
from orchestrator.pictures.live.messages import Floats, SampleFinder, Times
from orchestrator.pictures.live.server import Server, listening, url_of
from orchestrator.pictures.live.shown import Shown, ShownCase, loops_section, signals_of


@dataclass(frozen=True, slots=True)
class _Recorded:
    times_ns: Times
    values: Floats


def replayed(result: Result, drawn: tuple[System, Facts] | None = None) -> Shown:
    """Return what viewers see of a recording, with the diagram of a system if that is known."""
    if not len(result.time_ns):
        raise DescriptionError(f"recording '{result.name}' has no rows: there is nothing to play")
    rows = _Recorded(result.time_ns, result.values)
    diagram = None if drawn is None else live_diagram(*drawn, result.name)
    case = ShownCase(
        result.name,
        result.name,
        {"diagram": diagram, "signals": signals_of(result)},
        state="recorded",
        samples=SampleFinder(result.time_ns[:0], result.values[:0], rows),
        whole=lambda: len(result.time_ns),
    )
    loops = loops_section(result.loops if drawn is None else drawn[1].loops)
    events: list[Tuned | Mark] = [*result.tuned, *result.marks]
    for event in sorted(events, key=lambda one: one.step):
        case.add(event)
    case.say([loops] if loops.rows else [], result.remarks)
    return Shown(result.name, [case], recorded=True)


def replay_server(shown: Shown, address: str) -> tuple[Server, str]:
    """Return a server of a recording, and what a viewer opens."""
    listener, token = listening(address)
    return Server(listener, token, shown), url_of(listener, token)
