"""A case as it is drawn: nested systems, loops, the order of its steps, values on its lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import isfinite, nan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.coupling import DelayMode, DelayPlan, LoopDelay
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.master import Plan, compile_schedule, validate_plan
from orchestrator.core.recording import Result
from orchestrator.core.simunits import read_fmu
from orchestrator.core.structs import replace
from orchestrator.core.system import SourceKind, System, closed_loops
from orchestrator.core.system.time import step_length
from orchestrator.pictures.drawing import Drawing, Facts, as_prepared, draw_system
from orchestrator.pictures.drawing.drawing import ValuedDrawing
from orchestrator.pictures.drawing.facts import chains_of, inside, wire_key, wire_label
from orchestrator.pictures.drawing.parts import connector_of
from orchestrator.pictures.drawing.scene import Shape, ShapeGroup, Text, has_font
from orchestrator.study.experiment import Case, RunOptions, Setting
from orchestrator.study.prepare.prepare import set_value
from orchestrator.study.prepare.prepared_case import ReadSystem

#: As wide as any value that a page writes, and its age.
_ROOM = "-8.888e-88"
_ROOM_OF_AGE = " 888 ms old"
#: What of a signal stands on a line.
_FIGURES = ("last", "least", "greatest")


def nested_of(
    case: Case, read: ReadSystem, flat: System, settings: Mapping[str, Setting] | None = None
) -> System:
    """Return the system of a case as it is nested, with what the case changed in the flat one."""
    nested = read.nested
    for path, value in {**case.set, **(settings or {})}.items():
        if "." not in path:
            nested = set_value(nested, path, value)
    return as_prepared(nested, flat, read.flat)


def facts_of_run(system: System, options: RunOptions, result: Result) -> Facts:
    """Facts for the drawing of a case that was run."""
    settings = options.settings(system)
    stepped = _stepped(system, result.step_ns)
    plan = validate_plan(stepped, settings.algorithm, settings.algorithm_options, settings.rates)
    return _facts(system, settings.algorithm, plan, result.loops, result.plans)


def facts_of(system: System, options: RunOptions) -> tuple[Facts, str]:
    """Facts for the drawing of a case that was not run."""
    settings = options.settings(system)
    algorithm, mode = settings.algorithm, settings.mode
    run = system.without_zero_delays() if mode is DelayMode.PLAIN else system
    step = options.given_step
    step_ns = system.experiment.step_ns if step is None else step_length(step, "step")
    try:
        stepped = _stepped(run, step_ns)
        plan = validate_plan(stepped, algorithm, settings.algorithm_options, settings.rates)
    except DescriptionError as error:
        return _facts(system, "", None, _declared(system), ()), str(error)
    if step_ns is None:
        note = "no communication step is given: what the steps add to the loops is left out"
        return _facts(system, algorithm, plan, _declared(system), ()), note
    try:
        schedule = compile_schedule(
            run, algorithm, step_ns, mode, (), settings.algorithm_options, settings.rates
        )
    except DescriptionError as error:
        return _facts(system, algorithm, plan, _declared(system), ()), str(error)
    return _facts(system, algorithm, plan, schedule.loop_delays, schedule.plans), ""


def _stepped(system: System, step_ns: int | None) -> System:
    """Return the system with the step that its components are ordered for."""
    return replace(system, experiment=replace(system.experiment, step_ns=step_ns))


def _declared(system: System) -> tuple[LoopDelay, ...]:
    """Loops with their declared delay; what the steps add is not known."""
    return tuple(LoopDelay((loop,), loop.physical_ns, nan) for loop in closed_loops(system))


def _facts(
    system: System,
    algorithm: str,
    plan: Plan | None,
    loops: tuple[LoopDelay, ...],
    plans: tuple[DelayPlan, ...],
) -> Facts:
    groups = plan.groups if plan else ()
    return Facts(
        loops,
        plans,
        {name: i for i, group in enumerate(groups, start=1) for name in group.members},
        frozenset(name for group in groups if group.loop for name in group.members),
        algorithm,
        details={name: facts for name in system.components if (facts := _fmu(system, name))},
    )


def _fmu(system: System, name: str) -> Mapping[str, str]:
    """What the FMU of a component says of itself."""
    source = system.components[name].source
    if source.kind is not SourceKind.FMU:
        return {}
    fmu = read_fmu(Path(source.location), runnable=False)
    details = fmu.description.details
    facts = {"Model": fmu.description.name, "Kind": details["kind"], "Tool": details["tool"]}
    return {**{name: text for name, text in facts.items() if text}, "GUID": fmu.guid}


def live_diagram(system: System, facts: Facts, title: str) -> dict[str, Any] | None:
    """Draw a system whose lines say values; ``None`` without the font that measures texts.

    Returns: ``svg``, an element; ``width`` in points; ``wires``, as of :func:`_with_room`.
    """
    if not has_font():
        return None
    drawing, wires = _with_room(system, facts, title, of_devices=True)
    label = f"Block diagram of {title} with values"
    return {"svg": drawing.inline(label), "width": drawing.width, "wires": wires}


def valued_drawing(
    system: System, facts: Facts, title: str, results: Iterable[Result]
) -> ValuedDrawing:
    """Draw a system with the last values of the first of some runs on its lines."""
    drawing, wires = _with_room(system, facts, title)
    results = list(results)
    sources = list(dict.fromkeys(wire["source"] for wire in wires.values()))
    series = {result.name: _series(result, sources) for result in results}
    cases = {
        result.name: {
            wire["source"]: wire_figures
            for wire in wires.values()
            if (wire_figures := _figures(result, wire["source"]))
        }
        for result in results
    }
    texts = {}
    for key, wire in wires.items():
        known_figures = [
            figures[wire["source"]] for figures in cases.values() if wire["source"] in figures
        ]
        texts[key] = f"{wire['label']} {known_figures[0][0] if known_figures else '–'}".strip()
    shapes = [_with_texts(shape, texts) for shape in drawing.shapes]
    values = {"wires": wires, "cases": cases, "figures": _FIGURES, "series": series}
    bare = partial(draw_system, system, facts, title=title)
    return ValuedDrawing(title, shapes, drawing.width, drawing.height, values, bare)


#: Moments of a run for which a report has the values on its lines, at most.
_MOMENTS = 250


def _series(result: Result, sources: Sequence[str]) -> dict[str, Any]:
    """Return values of outputs at some rows, for the slider of a report: ``time`` and ``of``."""
    count = len(result.time_ns)
    rows = np.unique(np.linspace(0, max(count - 1, 0), min(count, _MOMENTS)).astype(int))
    series = {}
    for source in sources:
        names, signal = _signal(result, source)
        if names:
            series[source] = [_text(value, len(names)) for value in signal[rows]]
    return {"time": [float(f"{time:.9g}") for time in result.time[rows]], "of": series}


def _signal(result: Result, source: str) -> tuple[list[str], NDArray[np.float64]]:
    """Return the columns of an output and its values, of an array those of its norm."""
    names = [source] if source in result else [n for n in result if n.startswith(f"{source}[")]
    if not names or not len(result.time_ns):
        return [], np.empty(0)
    signals = np.column_stack([result[name] for name in names])
    return names, signals[:, 0] if len(names) == 1 else np.linalg.norm(signals, axis=1)


def _text(value: float, columns: int) -> str:
    text = "{:.4g}" if columns == 1 else "|{:.4g}|"
    return text.format(value + 0.0) if isfinite(value) else "–"


def _figures(result: Result, source: str) -> list[str]:
    """Return the :data:`_FIGURES` of an output as text: of an array those of its norm."""
    names, signal = _signal(result, source)
    if not names:
        return []
    finite = signal[np.isfinite(signal)]
    figures = [signal[-1], *((finite.min(), finite.max()) if len(finite) else (nan, nan))]
    return [_text(figure, len(names)) for figure in figures]


def _with_texts(shape: Shape, texts: Mapping[str, str], key: str = "") -> Shape:
    """Write other labels on lines, by their keys."""
    if isinstance(shape, ShapeGroup):
        wire = shape.data.get("wire", key)
        return replace(shape, shapes=[_with_texts(shape, texts, wire) for shape in shape.shapes])
    if isinstance(shape, Text) and shape.text.endswith(_ROOM):
        return replace(shape, text=texts[key])
    return shape


def _with_room(
    system: System, facts: Facts, title: str, *, of_devices: bool = False
) -> tuple[Drawing, dict[str, dict[str, str]]]:
    """Draw a system with room for a value on each line, and for the age of a device's sample.

    Returns: Of the system.
    Returns: By the key of a line, its own label, the source, ``component.connector``, whose value
        it carries, and for a device's the signals that say how old its sample is and whether it can
        be used; else empty.
    """
    wire_labels = {
        wire_key(path, line): wire_label(
            line, *(connector_of(inner, end) for end in (line.source, line.target))
        )
        for path, inner in _every(system, "")
        for line in inner.connections
    }
    sources = {
        segment.key: ends[0] for ends, segments in chains_of(system).items() for segment in segments
    }
    components = {
        inside(path, name): component.connectors
        for path, inner in _every(system, "")
        for name, component in inner.components.items()
        if of_devices
    }
    wires = {}
    for key, label in wire_labels.items():
        if key in sources:
            end = sources[key]
            age, valid = (
                f"{end.component}.{name}" if name in components.get(end.component, ()) else ""
                for name in ("sample_age", "valid")
            )
            wires[key] = {"label": label, "source": str(end), "age": age, "valid": valid}
    labels = {
        key: f"{wire_labels[key]} {_ROOM}{_ROOM_OF_AGE if wire['age'] else ''}".strip()
        for key, wire in wires.items()
    }
    facts = replace(facts, labels={**facts.labels, **labels})
    return draw_system(system, facts, title=title), wires


def _every(system: System, path: str) -> Iterator[tuple[str, System]]:
    """Give a system and all that are nested in it, with their paths."""
    yield path, system
    for name, inner in system.systems.items():
        yield from _every(inner, inside(path, name))
