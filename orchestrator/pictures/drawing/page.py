"""A diagram as one HTML file that needs nothing else: no network, own script."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.core.coupling import DelayPlan
from orchestrator.core.diagnostics import counted
from orchestrator.core.structs import replace
from orchestrator.core.system import (
    Component,
    Connection,
    Connector,
    Endpoint,
    LinearTransformation,
    MappingTransformation,
    System,
    TransportDelay,
    Value,
)
from orchestrator.core.system.line_attributes import attributes_on
from orchestrator.core.system.time import milliseconds
from orchestrator.pictures.drawing.drawing import framed, legend
from orchestrator.pictures.drawing.facts import (
    Facts,
    chains_of,
    colour_of,
    conversion_of,
    inside,
    power_text,
    sentence,
    wire_key,
    wires_of,
)
from orchestrator.pictures.drawing.parts import Level, component_count, connector_of, level_of
from orchestrator.pictures.drawing.scene import FONTS, svg_shapes

if TYPE_CHECKING:
    import jinja2


Rows = list[tuple[str, str]]
#: Of long values the beginning is shown.
_LONGEST = 60


def details_of(system: System, facts: Facts) -> dict[str, dict[str, Any]]:
    """Collect the details of everything in a system."""
    plans = {
        segments[-1].key: plan
        for ends, segments in chains_of(system).items()
        for plan in facts.plans
        if (plan.connection.source, plan.connection.target) == ends
    }
    details: dict[str, dict[str, Any]] = {"parts": {}, "wires": {}}
    _collect(system, "", facts, plans, details)
    return details


def _collect(
    system: System,
    path: str,
    facts: Facts,
    plans: Mapping[str, DelayPlan],
    details: dict[str, dict[str, Any]],
) -> None:
    for name, component in system.components.items():
        here = inside(path, name)
        details["parts"][here] = {
            "title": here,
            "rows": list(_component(component, here, facts)),
            "ports": _ports(component.connectors, component.values),
        }
    for name, inner in system.systems.items():
        here = inside(path, name)
        rows = [("Kind", "nested system"), ("Description", inner.description)]
        details["parts"][here] = {
            "title": here,
            "rows": [row for row in rows if row[1]],
            "ports": _ports(inner.connectors, inner.values),
        }
        _collect(inner, here, facts, plans, details)
    for name, bus in system.buses.items():
        here = inside(path, name)
        rows = [("Kind", "signal dictionary"), ("Dictionary", bus.dictionary)]
        details["parts"][here] = {"title": here, "rows": rows, "ports": _ports(bus.connectors, {})}
    for line in system.connections:
        key = wire_key(path, line)
        rows = list(_wire(system, path, line, plans.get(key)))
        if key in facts.marks:
            rows = [("Comparison", facts.marks[key]), *facts.details.get(key, {}).items(), *rows]
        details["wires"][key] = {"title": key, "rows": rows}


def _component(component: Component, path: str, facts: Facts) -> Iterator[tuple[str, str]]:
    if path in facts.marks:
        yield "Comparison", facts.marks[path]
    yield "Source", str(component.source)
    if path in facts.steps:
        again = ", iterated until outputs agree" if path in facts.iterated else ""
        yield "Step", f"{facts.steps[path]}{again}"
    yield from facts.details.get(path, {}).items()
    yield from (
        (f"Option {key}", text) for key, text in component.options.differing_texts().items()
    )
    yield from ((f"Power port {key}", power_text(p)) for key, p in component.power_ports.items())
    yield "States", "yes" if component.has_states else "no"
    able = {
        "directional derivatives": component.has_derivatives,
        "derivatives of inputs": component.input_order > 0,
        "event mode": component.has_event_mode,
    }
    if any(able.values()):
        yield "Can do", ", ".join(text for text, has in able.items() if has)


def _ports(connectors: Mapping[str, Connector], values: Mapping[str, Value]) -> list[list[str]]:
    return [
        [
            name,
            str(connector.causality),
            f"{connector.type}{list(connector.shape) if connector.shape else ''}",
            connector.unit or "",
            _value(values[name])
            if name in values
            else (f"{_value(connector.start)} (default)" if connector.start is not None else ""),
            connector.description,
        ]
        for name, connector in connectors.items()
    ]


def _value(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:.10g}"
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


#: Attributes of a connection whose rows are there without them as well.
_OWN_ROWS = {"suppress_unit_conversion", "transformation", "delay"}


def _wire(
    system: System, path: str, line: Connection, plan: DelayPlan | None
) -> Iterator[tuple[str, str]]:
    source, target = (connector_of(system, end) for end in (line.source, line.target))
    yield "Source", _end(path, line.source)
    yield "Target", _end(path, line.target)
    yield "Type", str(source.type if source else target.type if target else "not declared")
    yield "Unit of the source", (source and source.unit) or "not declared"
    yield "Unit of the target", (target and target.unit) or "not declared"
    factors = conversion_of(line, source, target)
    unsaid = (
        "suppressed: no unit is checked or converted" if line.suppress_unit_conversion else "none"
    )
    yield "Unit conversion", unsaid if factors is None else _linear(*factors)
    match line.transformation:
        case LinearTransformation(factor, offset):
            yield "Transformation", _linear(factor, offset)
        case MappingTransformation(entries):
            yield "Transformation", ", ".join(f"{of} → {into}" for of, into in entries)
        case _:
            yield "Transformation", "none"
    if line.delay is None:
        yield "Delay", "none: the signal arrives at once"
    else:
        yield from _delay(line.delay)
    for attribute, value in attributes_on(line):
        if attribute.name not in _OWN_ROWS:
            yield attribute.title, attribute.text(value)
    if plan is not None:
        yield from _plan(plan)


def _end(path: str, end: Endpoint) -> str:
    if end.component:
        return f"{inside(path, end.component)}.{end.connector}"
    return f"{path or 'the system'}.{end.connector} (its own connector)"


def _linear(factor: float, offset: float) -> str:
    return f"× {factor:.10g}" + (
        f" {'+' if offset > 0 else '-'} {abs(offset):.10g}" if offset else ""
    )


def _delay(delay: TransportDelay) -> Iterator[tuple[str, str]]:
    yield "Delay", milliseconds(delay.nominal_ns)
    yield "Provenance", str(delay.provenance)
    if delay.device:
        yield "Device", delay.device
    if delay.date:
        yield "Date", delay.date
    varies = delay.variation
    if varies is None:
        yield "Variation", "none"
        return
    if varies.jitter is not None:
        jitter = varies.jitter
        text = f"{jitter.kind}, spread {milliseconds(jitter.spread_ns)}"
        if jitter.correlation_ns:
            text += f", correlated over {milliseconds(jitter.correlation_ns)}"
        yield "Variation", text
    if varies.trace is not None:
        longest = milliseconds(varies.trace.longest_ns)
        yield (
            "Variation",
            f"recorded, {counted(len(varies.trace.times_ns), 'row')}, longest {longest}",
        )
    yield "Lost samples", f"{100 * varies.loss:.6g} %"
    yield "Delivery", f"{varies.delivery}; newest: last {varies.newest}"


def _plan(plan: DelayPlan) -> Iterator[tuple[str, str]]:
    yield "Delay that the target sees", f"{plan.effective_delay_ns / 1e6:.10g} ms in the mean"
    yield "Read", f"{plan.shift_ns / 1e6:+.10g} ms from the start of the step"
    yield "Interpolation", f"{plan.interpolation}, then {plan.extrapolation}"
    if plan.extrapolation_ns:
        yield "Extrapolated by", milliseconds(plan.extrapolation_ns)


def environment(
    folder: Path, filters: Mapping[str, Callable[..., Any]] | None = None
) -> jinja2.Environment:
    """Return the templates of a folder; what they are given is escaped, what is missing fails.

    They are compiled each time: a cache would be code in a folder that others may have made.
    """
    import jinja2

    jinja_environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    jinja_environment.filters |= filters or {}
    return jinja_environment


def embedded(data: Any) -> str:
    """JSON that may stand in a script element: nothing in it ends the element."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def joined(folder: Path, names: Iterable[str]) -> str:
    """Return files as one text."""
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def policy_of(*scripts: str) -> str:
    """Return how a policy of a page names scripts."""
    hashes = (hashlib.sha256(script.encode()).digest() for script in scripts)
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in hashes)


_TEMPLATES = Path(__file__).with_name("templates")
_SCRIPTS = ("view.js", "facts.js", "start.js")
#: Room around a diagram, in points.
_ROOM = 12.0
#: A larger system is first shown with its nested systems closed.
_MOST_OPEN = 60
#: Levels that are opened one by one, and nested systems that have a picture of their own.
_MOST_LEVELS, _MOST_ALONE = 4, 50


def render_page(system: System, facts: Facts | None = None, notes: tuple[str, ...] = ()) -> str:
    """Return the HTML page of a system; all text in it is escaped.

    Parameters
    ----------
    system
        Resolved; may be nested.
    facts
        Of its flat form.
    notes
        Sentences for the reader, such as further results of a comparison.
    """
    facts = facts or Facts()
    script = joined(_TEMPLATES, _SCRIPTS)
    depths = list(_depths(system, facts))
    top_level = level_of(system, facts)
    views = [*depths, *islice(_nested(top_level, ""), _MOST_ALONE)]
    signs = legend(top_level, replace(facts, loops=()), columns=1)
    data = {
        **details_of(system, facts),
        "loops": _loops(system, facts),
        "views": [{key: view[key] for key in ("name", "label")} for view in views],
        "first": len(depths) - 1 if component_count(system) <= _MOST_OPEN else 0,
    }
    return (
        environment(_TEMPLATES)
        .get_template("page.html.j2")
        .render(
            title=system.name or "system",
            description=system.description,
            notes=notes,
            views=views,
            signs=svg_shapes(signs.shapes),
            signs_box=f"-1 -1 {signs.width + 2:.10g} {signs.height + 2:.10g}",
            signs_width=f"{signs.width + 2:.10g}",
            data=embedded(data),
            script=script,
            policy=policy_of(script),
            fonts=FONTS,
        )
    )


def _depths(system: System, facts: Facts) -> Iterator[dict[str, str]]:
    """Everything with its nested systems closed, then one level open, up to all."""
    deepest = _depth(system)
    for depth in (*range(min(deepest, _MOST_LEVELS)), deepest):
        label = "all" if depth == deepest else ("closed" if depth == 0 else f"{depth}")
        yield _view("", label, level_of(system, facts, depth))


def _depth(system: System) -> int:
    return max((1 + _depth(inner) for inner in system.systems.values()), default=0)


def _nested(level: Level, path: str) -> Iterator[dict[str, str]]:
    """Every nested system as a picture of its own."""
    for name, part in level.parts.items():
        if part.level is not None:
            here = inside(path, name)
            yield _view(here, here, part.level)
            yield from _nested(part.level, here)


def _view(name: str, label: str, level: Level) -> dict[str, str]:
    """Return one picture of the page: all to a depth, or by its path one nested system alone."""
    placed = framed(level)
    room = 2 * _ROOM
    box = f"{-_ROOM:g} {-_ROOM:g} {placed.width + room:.10g} {placed.height + room:.10g}"
    return {"name": name, "label": label, "svg": svg_shapes(placed.shapes), "box": box}


def _loops(system: System, facts: Facts) -> list[dict[str, Any]]:
    chains = chains_of(system) if facts.loops else {}
    return [
        {
            "path": loop.path,
            "text": sentence(loop),
            "algebraic": number in facts.algebraic,
            "colour": colour_of(number),
            "wires": wires_of(loop, chains),
            "parts": list(dict.fromkeys(loop.components)),
        }
        for number, loop in enumerate(facts.loops)
    ]
