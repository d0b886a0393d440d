"""What differs between two systems, in words."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from orchestrator.core.system import (
    Bus,
    Component,
    Connection,
    Connector,
    DefaultExperiment,
    Source,
    System,
    Value,
)
from orchestrator.pictures.drawing.chains import inside, wire_key
from orchestrator.pictures.drawing.wording import (
    delay_text,
    milliseconds,
    power_text,
    transformation_label,
)

NONE = "none"
Texts = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Field:
    """One figure of something that is in both systems; ``"none"`` where one does not have it."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Change:
    """Something that is in one system only, or differs.

    Parameters
    ----------
    kind
        ``"added"``, ``"removed"`` or ``"changed"``.
    what
        ``"component"``, ``"system"``, ``"signal dictionary"``, ``"connection"``, ``"connector"``
        (of a system), ``"value"`` (of one), ``"power port"`` (of one), ``"experiment"`` or
        ``"options of the run"``.
    name
        Path of a component or system; a connection as it is written, after the path of its system.
    fields
        What differs; what an added or removed thing is.
    """

    kind: str
    what: str
    name: str
    fields: tuple[Field, ...] = ()


def differences(before: System, after: System) -> list[Change]:
    """Compare two systems; nothing is said of the order of what is in them.

    Sources of components are the same if their files hold the same bytes, wherever they lie.
    """
    found = _experiment(before.experiment, after.experiment)
    return [*found, *_systems(before, after, "")]


def order_notes(before: System, after: System) -> list[str]:
    """Say where components stand in another order, which decides who steps first in a ring."""
    common = [name for name in before.components if name in after.components]
    if common == [name for name in after.components if name in before.components]:
        return []
    note = (
        "the components stand in another order: in rings that no delay cuts it decides which one is"
        " stepped first"
    )
    return [note]


def _experiment(before: DefaultExperiment, after: DefaultExperiment) -> list[Change]:
    def told(found: DefaultExperiment) -> Texts:
        times = {"start": found.start_ns, "stop": found.stop_ns, "step": found.step_ns}
        texts = {key: milliseconds(ns) for key, ns in times.items() if ns is not None}
        texts |= {"algorithm": found.algorithm} if found.algorithm else {}
        options = {f"option {key}": str(value) for key, value in found.algorithm_options.items()}
        rates = {f"rate of {key}": str(value) for key, value in found.rates.items()}
        early = {} if found.early_return is None else {"early return": str(found.early_return)}
        return texts | options | rates | early

    return _changed("experiment", "", told(before), told(after))


def _systems(before: System, after: System, path: str) -> Iterator[Change]:
    if path:
        yield from _changed("system", path, _described(before), _described(after))
    yield from _sets(
        "connector", path, _connectors(before.connectors), _connectors(after.connectors)
    )
    own = [{name: {"": _value(v)} for name, v in s.values.items()} for s in (before, after)]
    yield from _sets("value", path, *own)
    power = [{k: {"": power_text(p)} for k, p in s.power_ports.items()} for s in (before, after)]
    yield from _sets("power port", path, *power)
    parts = [_parts(system) for system in (before, after)]
    for name in dict.fromkeys((*parts[0], *parts[1])):
        here = inside(path, name)
        one, other = parts[0].get(name), parts[1].get(name)
        if isinstance(one, System) and isinstance(other, System):
            yield from _systems(one, other, here)
        elif one is None or other is None:
            yield from _alone("added" if one is None else "removed", here, one or other)
        elif type(one) is not type(other):
            field = Field("kind", _kind(one), _kind(other))
            yield Change("changed", _kind(other), here, (field,))
        else:
            yield from _changed(_kind(one), here, _told(one), _told(other))
    lines = [
        {wire_key(path, line): line_texts(line) for line in s.connections} for s in (before, after)
    ]
    yield from _sets("connection", "", *lines)


Part = Component | System | Bus


def _parts(system: System) -> dict[str, Part]:
    return {**system.components, **system.systems, **system.buses}


def _kind(part: Part) -> str:
    if isinstance(part, System):
        return "system"
    return "component" if isinstance(part, Component) else "signal dictionary"


def _alone(kind: str, path: str, part: Part | None) -> Iterator[Change]:
    """Tell a part that is in one system only, with all that is in it."""
    if part is None:
        return
    texts = {k: text for k, text in _told(part).items() if not k.startswith("connector ")}
    yield Change(kind, _kind(part), path, tuple(_fields(kind, texts)))
    if isinstance(part, System):
        for name, inner in _parts(part).items():
            yield from _alone(kind, inside(path, name), inner)
        for line in part.connections:
            fields = tuple(_fields(kind, line_texts(line)))
            yield Change(kind, "connection", wire_key(path, line), fields)


def _fields(kind: str, texts: Texts) -> Iterator[Field]:
    for name, text in texts.items():
        if text:
            yield Field(name, NONE, text) if kind == "added" else Field(name, text, NONE)


def _sets(
    what: str, path: str, before: Mapping[str, Texts], after: Mapping[str, Texts]
) -> Iterator[Change]:
    for key in dict.fromkeys((*before, *after)):
        name = f"{path}.{key}" if path else key
        if key not in before:
            yield Change("added", what, name, tuple(_fields("added", after[key])))
        elif key not in after:
            yield Change("removed", what, name, tuple(_fields("removed", before[key])))
        else:
            yield from _changed(what, name, before[key], after[key])


def _changed(what: str, name: str, before: Texts, after: Texts) -> list[Change]:
    fields = tuple(
        Field(key, before.get(key, NONE), after.get(key, NONE))
        for key in dict.fromkeys((*before, *after))
        if before.get(key, NONE) != after.get(key, NONE)
    )
    return [Change("changed", what, name, fields)] if fields else []


def _told(part: Part) -> Texts:
    if isinstance(part, System):
        return _described(part)
    texts = {f"connector {k}": _connector(c) for k, c in part.connectors.items()}
    if isinstance(part, Bus):
        return {"source": part.dictionary, **texts}
    values = {f"value {key}": _value(value) for key, value in part.values.items()}
    options = {f"option {key}": text for key, text in part.options.said().items()}
    power = {f"power port {k}": power_text(port) for k, port in part.power_ports.items()}
    return {"source": source_text(part.source), **values, **options, **texts, **power}


def _described(system: System) -> Texts:
    return {"description": system.description} if system.description else {}


def _connectors(connectors: Mapping[str, Connector]) -> dict[str, Texts]:
    return {name: {"": _connector(connector)} for name, connector in connectors.items()}


def _connector(connector: Connector) -> str:
    shape = str(list(connector.shape)) if connector.shape else ""
    parts = [str(connector.causality), f"{connector.enumeration or connector.type}{shape}"]
    parts += [f"in {connector.unit}"] if connector.unit else []
    parts += [f"(1 {connector.unit} = {_unit(connector)})"] if connector.unit_definition else []
    return " ".join(parts)


def _unit(connector: Connector) -> str:
    found = connector.unit_definition
    if found is None:
        return ""
    powers = ".".join(f"{symbol}{power}" for symbol, power in sorted(found.exponents.items()))
    shift = f" + {found.offset!r}" if found.offset else ""
    return f"{found.factor!r} {powers or '1'}{shift}"


def _value(value: Value) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float | bytes) else str(value)


def line_texts(line: Connection) -> Texts:
    """Tell all that stands on a connection."""
    texts = {
        "delay": delay_text(line.delay) if line.delay else "",
        "transformation": transformation_label(line, exact=True),
        "between samples": str(line.interpolation or ""),
        "after the newest sample": str(line.extrapolation or ""),
        "compensation": str(line.compensation or ""),
        "unit conversion": "suppressed" if line.suppress_unit_conversion else "",
    }
    return {key: text for key, text in texts.items() if text}


def source_text(source: Source) -> str:
    """Name of a source; of a file also the begin of a hash of what is in it."""
    digest = "" if source.file is None else _digest(source.file)
    return f"{source.short} ({digest})" if digest else source.short


@cache
def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:12]
    except OSError:  # compared by its name
        return ""


def change_lines(changes: Sequence[Change]) -> Iterator[str]:
    """Write changes as lines: ``+`` added, ``-`` removed, ``~`` changed."""
    signs = {"added": "+", "removed": "-", "changed": "~"}
    for change in changes:
        told = ", ".join(
            f"{f.name}: {text}" if f.name else text
            for f in change.fields
            if (text := f.after if change.kind == "added" else f.before)
        )
        head = f"{signs[change.kind]} {change.what} {change.name}".rstrip()
        if change.kind == "changed":
            yield head
            for field in change.fields:
                name = f"{field.name}: " if field.name else ""
                yield f"    {name}{field.before} → {field.after}"
        else:
            yield head + (f" ({told})" if told else "")
