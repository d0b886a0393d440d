"""What differs between two systems, in words and as one drawing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import (
    Bus,
    Component,
    Connection,
    Connector,
    DefaultExperiment,
    System,
    Value,
)
from orchestrator.core.system.line_attributes import attributes_on
from orchestrator.core.system.ports import Limits
from orchestrator.core.system.time import milliseconds
from orchestrator.pictures.drawing.facts import (
    Facts,
    inside,
    power_text,
    wire_key,
)

NONE = "none"
Texts = Mapping[str, str]


class FieldChange(Struct):
    """One figure of something that is in both systems; ``"none"`` where one does not have it."""

    name: str
    before: str
    after: str


class SystemChange(Struct):
    """Something that is in one system only, or differs.

    kind: ``"added"``, ``"removed"`` or ``"changed"``.
    what: ``"component"``, ``"system"``, ``"signal dictionary"``, ``"connection"``, ``"connector"``
        (of a system), ``"value"`` (of one), ``"power port"`` (of one), ``"experiment"`` or
        ``"options of the run"``.
    name: Path of a component or system; a connection as it is written, after the path of its
        system.
    fields: What differs; what an added or removed thing is.
    """

    kind: str
    what: str
    name: str
    fields: tuple[FieldChange, ...] = ()

    def __repr__(self) -> str:
        changes = ", ".join(f"{f.name}: {f.before} -> {f.after}" for f in self.fields)
        subject = f"{self.kind} {self.what} {self.name}".rstrip()
        return f"<{subject}{f' ({changes})' if changes else ''}>"


def differences(before: System, after: System) -> list[SystemChange]:
    """Compare two systems and return their differences; the order of elements is ignored.

    Sources are equal if their files hold the same bytes, in whatever folder.

    Parameters
    ----------
    before, after
        The systems.

    Returns
    -------
    list of SystemChange
        One for each element that was added, removed or changed; :func:`change_lines` writes them
        as text. Empty if the systems are equal.
    """
    changes = _experiment(before.experiment, after.experiment)
    return [*changes, *_systems(before, after, "")]


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


def _experiment(before: DefaultExperiment, after: DefaultExperiment) -> list[SystemChange]:
    def texts_of(experiment: DefaultExperiment) -> Texts:
        times = {
            "start": experiment.start_ns,
            "stop": experiment.stop_ns,
            "step": experiment.step_ns,
        }
        texts = {key: milliseconds(ns) for key, ns in times.items() if ns is not None}
        texts |= {"algorithm": experiment.algorithm} if experiment.algorithm else {}
        options = {
            f"option {key}": str(value) for key, value in experiment.algorithm_options.items()
        }
        rates = {f"rate of {key}": str(value) for key, value in experiment.rates.items()}
        early_texts = (
            {}
            if experiment.early_return is None
            else {"early return": str(experiment.early_return)}
        )
        limits = {}
        for key, item_limits in experiment.tuning.items():
            in_ms = Limits(item_limits.least / 1e6, item_limits.most / 1e6)
            limits[f"limits of {key}"] = f"{in_ms} ms" if "->" in key else str(item_limits)
        return texts | options | rates | early_texts | limits

    return _changed("experiment", "", texts_of(before), texts_of(after))


def _systems(before: System, after: System, path: str) -> Iterator[SystemChange]:
    if path:
        yield from _changed("system", path, _described(before), _described(after))
    both = before, after
    for kind, texts in (
        ("connector", [{k: _connector(c) for k, c in s.connectors.items()} for s in both]),
        ("value", [{k: _value(v) for k, v in s.values.items()} for s in both]),
        ("power port", [{k: power_text(p) for k, p in s.power_ports.items()} for s in both]),
    ):
        yield from _sets(
            kind, path, *({k: {"": text} for k, text in first.items()} for first in texts)
        )
    parts = [_parts(system) for system in both]
    for name in dict.fromkeys((*parts[0], *parts[1])):
        here = inside(path, name)
        first, second = parts[0].get(name), parts[1].get(name)
        if isinstance(first, System) and isinstance(second, System):
            yield from _systems(first, second, here)
        elif first is None or second is None:
            yield from _alone("added" if first is None else "removed", here, first or second)
        elif type(first) is not type(second):
            field = FieldChange("kind", _kind(first), _kind(second))
            yield SystemChange("changed", _kind(second), here, (field,))
        else:
            yield from _changed(_kind(first), here, _texts(first), _texts(second))
    lines = [{wire_key(path, line): _line(line) for line in s.connections} for s in both]
    yield from _sets("connection", "", *lines)


Part = Component | System | Bus


def _parts(system: System) -> dict[str, Part]:
    return {**system.components, **system.systems, **system.buses}


def _kind(part: Part) -> str:
    if isinstance(part, System):
        return "system"
    return "component" if isinstance(part, Component) else "signal dictionary"


def _alone(kind: str, path: str, part: Part | None) -> Iterator[SystemChange]:
    """Tell a part that is in one system only, with all that is in it."""
    if part is None:
        return
    texts = {k: text for k, text in _texts(part).items() if not k.startswith("connector ")}
    yield SystemChange(kind, _kind(part), path, _fields(kind, texts))
    if isinstance(part, System):
        for name, inner in _parts(part).items():
            yield from _alone(kind, inside(path, name), inner)
        for line in part.connections:
            fields = _fields(kind, _line(line))
            yield SystemChange(kind, "connection", wire_key(path, line), fields)


def _fields(kind: str, texts: Texts) -> tuple[FieldChange, ...]:
    pairs = ((k, NONE, text) if kind == "added" else (k, text, NONE) for k, text in texts.items())
    return tuple(FieldChange(*pair) for pair in pairs if pair[1] and pair[2])


def _sets(
    subject: str, path: str, before: Mapping[str, Texts], after: Mapping[str, Texts]
) -> Iterator[SystemChange]:
    for key in dict.fromkeys((*before, *after)):
        name = f"{path}.{key}" if path else key
        if key in before and key in after:
            yield from _changed(subject, name, before[key], after[key])
        else:
            kind = "added" if key in after else "removed"
            yield SystemChange(kind, subject, name, _fields(kind, {**before, **after}[key]))


def _changed(subject: str, name: str, before: Texts, after: Texts) -> list[SystemChange]:
    fields = tuple(
        FieldChange(key, before.get(key, NONE), after.get(key, NONE))
        for key in dict.fromkeys((*before, *after))
        if before.get(key, NONE) != after.get(key, NONE)
    )
    return [SystemChange("changed", subject, name, fields)] if fields else []


def _texts(part: Part) -> Texts:
    if isinstance(part, System):
        return _described(part)
    texts = {f"connector {k}": _connector(c) for k, c in part.connectors.items()}
    if isinstance(part, Bus):
        return {"source": part.dictionary, **texts}
    values = {f"value {key}": _value(value) for key, value in part.values.items()}
    options = {f"option {key}": text for key, text in part.options.differing_texts().items()}
    power = {f"power port {k}": power_text(port) for k, port in part.power_ports.items()}
    digest = "" if part.source.file is None else _digest(part.source.file)
    source = f"{part.source.short} ({digest})" if digest else part.source.short
    return {"source": source, **values, **options, **texts, **power}


def _described(system: System) -> Texts:
    return {"description": system.description} if system.description else {}


def _connector(connector: Connector) -> str:
    shape = str(list(connector.shape)) if connector.shape else ""
    parts = [str(connector.causality), f"{connector.enumeration or connector.type}{shape}"]
    parts += [f"in {connector.unit}"] if connector.unit else []
    if (unit := connector.unit_definition) is not None:
        powers = ".".join(f"{symbol}{power}" for symbol, power in sorted(unit.exponents.items()))
        shift = f" + {unit.offset!r}" if unit.offset else ""
        parts.append(f"(1 {connector.unit} = {unit.factor!r} {powers or '1'}{shift})")
    return " ".join(parts)


def _value(value: Value) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float | bytes) else str(value)


def _line(line: Connection) -> Texts:
    return {
        attribute.title.lower(): attribute.text(value) for attribute, value in attributes_on(line)
    }


@cache
def _digest(path: Path) -> str:
    """Return the begin of a hash of what is in a file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:12]
    except OSError:  # compared by its name
        return ""


def change_lines(changes: Sequence[SystemChange]) -> Iterator[str]:
    """Return changes as lines of text: ``+`` added, ``-`` removed, ``~`` changed.

    Parameters
    ----------
    changes
        Result of :func:`differences`.
    """
    signs = {"added": "+", "removed": "-", "changed": "~"}
    for change in changes:
        fields_text = ", ".join(
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
            yield head + (f" ({fields_text})" if fields_text else "")


Item = TypeVar("Item")


def union_of(before: System, after: System, name: str = "") -> System:
    """Return a system with all that is in either; where both have it, as in the later one."""
    systems = {**before.systems, **after.systems}
    for both in before.systems.keys() & after.systems.keys():
        systems[both] = union_of(before.systems[both], after.systems[both])
    # A name is given once: what became of another kind is drawn as it is now.
    now = {**after.components, **after.systems, **after.buses}
    return replace(
        after,
        name=name or after.name,
        components=_retained({**before.components, **after.components}, after.components, now),
        systems=_retained(systems, after.systems, now),
        buses=_retained({**before.buses, **after.buses}, after.buses, now),
        connections=tuple({str(c): c for s in (before, after) for c in s.connections}.values()),
        connectors={**before.connectors, **after.connectors},
        values={**before.values, **after.values},
    )


def _retained(
    every: Mapping[str, Item], retained_names: Mapping[str, Item], now: Mapping[str, object]
) -> dict[str, Item]:
    return {name: item for name, item in every.items() if name in retained_names or name not in now}


def marked(changes: Sequence[SystemChange]) -> Facts:
    """Facts for the drawing of :func:`union_of`: marks, labels of changed lines, and details."""
    marks: dict[str, str] = {}
    labels: dict[str, str] = {}
    details: dict[str, dict[str, str]] = {}
    for change in changes:
        if change.what in {"experiment", "options of the run", "value", "power port", "connector"}:
            continue
        marks[change.name] = change.kind
        if change.kind == "changed":
            details[change.name] = {
                f"Was {field.name}": f"{field.before} → {field.after}" for field in change.fields
            }
            if change.what == "connection":
                labels[change.name] = "; ".join(map(_short, change.fields))
    return Facts(marks=marks, labels=labels, details=details)


def _short(field: FieldChange) -> str:
    """A change in few words: of a delay the figure, if that is what differs."""
    before, after = (text.partition(",")[0] for text in (field.before, field.after))
    if before == after:
        before, after = field.before, field.after
    return f"{before} → {after}"
