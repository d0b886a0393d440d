"""Where a system has values, and where two systems differ in them."""

from __future__ import annotations

from orchestrator.core.system import System, Value

#: A connector by the names of the elements that lead to it, from the top system on.
Place = tuple[str, ...]
_ABSENT = object()


def values_of(system: System, above: Place = ()) -> dict[Place, Value]:
    """All values that are set in a system, through nested systems."""
    found: dict[Place, Value] = {(*above, name): value for name, value in system.values.items()}
    for name, component in system.components.items():
        found |= {(*above, name, key): value for key, value in component.values.items()}
    for name, inner in system.systems.items():
        found |= values_of(inner, (*above, name))
    return found


def differing(old: System, new: System) -> list[Place]:
    """List the values that differ between two systems, of what is in both."""
    before, after = values_of(old), values_of(new)
    owners = {place for place, _ in _owners(old) & _owners(new)}
    return [
        place
        for place in dict.fromkeys([*before, *after])
        if place[:-1] in owners and not _same(before.get(place, _ABSENT), after.get(place, _ABSENT))
    ]


def _same(one: object, other: object) -> bool:
    """Whether two values are one number, text or array; a whole number may be written as a real."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if {type(one), type(other)} == {int, float}:
        return repr(float(str(one))) == repr(float(str(other)))
    return type(one) is type(other) and repr(one) == repr(other)


def _owners(system: System, above: Place = ()) -> set[tuple[Place, str]]:
    """Places of all components and systems, each with its kind."""
    found = {(above, "system")} | {((*above, name), "component") for name in system.components}
    for name, inner in system.systems.items():
        found |= _owners(inner, (*above, name))
    return found


def place_text(place: Place) -> str:
    """Write a place as ``"arm/motor.k"``."""
    return f"{'/'.join(place[:-1])}.{place[-1]}" if place[:-1] else place[-1]
