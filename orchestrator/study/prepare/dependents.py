"""Parameters that keep their old values although they follow from one that a case changes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from orchestrator.core.system import Endpoint, System, Value, nearest

#: Numbers that many parameters have without a reason in common.
_COMMON = {0.0, 1.0, -1.0}
Derived = Mapping[str, Sequence[str]]


def kept_values(
    derived: Derived, written: System | None, system: System, settings: Collection[str]
) -> list[str]:
    """Say which parameters keep values that were made from others, or shared, before a change."""
    if written is None:
        return []
    before, after = _values(written), _values(system)
    changed: dict[str, Value | None] = {
        path: value for path, value in before.items() if path in after and after[path] != value
    }
    changed |= dict.fromkeys(p for p in after if p not in before and _is_set(system, p))
    kept = [path for path in after if path not in changed]
    return [
        *_computed(derived, changed, kept, after),
        *_shared(
            {p: v for p, v in changed.items() if v is not None and p in settings},
            kept,
            after,
            system,
        ),
    ]


def _computed(
    derived: Derived,
    changed: Mapping[str, Value | None],
    kept: Collection[str],
    values: Mapping[str, Value],
) -> Iterator[str]:
    for path in changed:
        stale = {path}
        while more := {
            name
            for name, sources in derived.items()
            if name not in stale and name in kept and stale & set(sources)
        }:
            stale |= more
        listed = [f"{name} = {values[name]!r}" for name in derived if name in stale - {path}]
        if listed:
            yield (
                f"{path} is changed, and what was computed from it keeps its value:"
                f" {', '.join(listed)}; set these, too"
            )


def _shared(
    changed: Mapping[str, Value],
    kept: Sequence[str],
    values: Mapping[str, Value],
    system: System,
) -> Iterator[str]:
    for path, value in changed.items():
        numbers = value if isinstance(value, tuple) else (value,)
        if all(isinstance(n, bool | str | bytes) or n in _COMMON for n in numbers):
            continue
        same = [
            name
            for name in kept
            if values[name] == value and _unit(system, name) == _unit(system, path)
        ]
        if same:
            yield (
                f"{path} is changed, and others keep the value that it had, {value!r}:"
                f" {', '.join(same)}; set these, too, if it is the same quantity"
            )


def _values(system: System) -> dict[str, Value]:
    return {
        f"{name}.{key}": value
        for name, component in system.components.items()
        for key, value in component.values.items()
    }


def _is_set(system: System, path: str) -> bool:
    """Whether a value is another one than the source has without it."""
    end = Endpoint.parse(path)
    component = system.components[end.component]
    connector = component.connectors.get(end.connector)
    return connector is None or connector.start != component.values[end.connector]


def _unit(system: System, path: str) -> str | None:
    end = Endpoint.parse(path)
    connector = system.components[end.component].connectors.get(end.connector)
    return None if connector is None else connector.unit


def wrong_derived(derived: Derived, systems: Mapping[str, System]) -> Iterator[str]:
    """Say what ``[derived]`` names that no system has, of components that some system has."""
    known: dict[str, set[str]] = {}
    for system in systems.values():
        for name, component in system.components.items():
            known.setdefault(name, set()).update(component.connectors)
    for path in dict.fromkeys(p for target, sources in derived.items() for p in (target, *sources)):
        name, dot, connector = path.partition(".")
        if not dot:
            yield f"derived: expected 'component.parameter', found '{path}'"
        elif name in known and connector not in known[name]:
            hint = nearest(connector, known[name])
            yield f"derived: component '{name}' has no '{connector}'{hint}"
