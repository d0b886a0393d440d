"""Which inputs of a system act on an output at once."""

from __future__ import annotations

from orchestrator.core.system import Causality, Connection, Endpoint, System


def direct_inputs(system: System) -> dict[str, tuple[str, ...]]:
    """Return for every own output the own inputs that reach it through no state and no delay.

    Parameters
    ----------
    system
        Flat and resolved, with its own connectors.
    """
    lines = {line.target: line for line in system.connections if line.delay is None}
    inputs = [c.name for c in system.connectors.values() if c.causality is Causality.INPUT]
    found = {}
    for name, connector in system.connectors.items():
        if connector.causality is Causality.OUTPUT:
            reached = _reached(system, lines, Endpoint("", name))
            found[name] = tuple(i for i in inputs if i in reached)
    return found


def _reached(system: System, lines: dict[Endpoint, Connection], target: Endpoint) -> set[str]:
    own: set[str] = set()
    seen: set[Endpoint] = set()
    todo = [target]
    while todo:
        line = lines.get(todo.pop())
        if line is None or line.source in seen:
            continue
        source = line.source
        seen.add(source)
        if not source.component:
            own.add(source.connector)
            continue
        component = system.components[source.component]
        direct = component.direct_inputs(source.connector)
        todo += [Endpoint(source.component, name) for name in direct]
    return own
