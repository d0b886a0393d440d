"""Which connections a fault acts on, and whether it can."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError, nearest
from orchestrator.core.system.lines.connection import Connection, Endpoint, connection_name
from orchestrator.core.system.lines.fault import Fault, FaultKind
from orchestrator.core.system.ports import Connector, DataType
from orchestrator.core.system.system import System


def lines_of(fault: Fault, system: System) -> list[Connection]:
    """Find the connections of a flat system that a fault acts on."""
    text = fault.on
    if "->" in text:
        known = [str(line) for line in system.connections]
        wanted = connection_name(text)
        found = [line for line in system.connections if str(line) == wanted]
        what = "connection"
    else:
        known = list(dict.fromkeys(str(line.source) for line in system.connections))
        found = [line for line in system.connections if str(line.source) == text.strip()]
        what = "connected output"
    if found:
        return found
    hint = nearest(text, known) or f"; there is: {'; '.join(known) or 'none'}"
    raise UnknownNameError(f"fault {fault}: system '{system.name}' has no such {what}{hint}")


def fault_problems(faults: Sequence[Fault], system: System) -> list[str]:
    """List everything that keeps faults from acting on a flat system."""
    problems: list[str] = []
    delayed: list[tuple[Fault, set[Endpoint]]] = []
    for fault in faults:
        try:
            lines = lines_of(fault, system)
        except DescriptionError as error:
            problems += error.problems
            continue
        source = system.components[lines[0].source.component].connectors[lines[0].source.connector]
        problems += [f"fault {fault}: {text}" for text in _misfits(fault, source)]
        problems += [f"fault {fault}: {text}" for line in lines for text in _held(line, system)]
        if fault.kind is FaultKind.DELAY_STEP:
            delayed.append((fault, {line.target for line in lines}))
    for (one, targets), (other, others) in combinations(delayed, 2):
        if targets & others and _overlap(one, other):
            shared = ", ".join(sorted(map(str, targets & others)))
            problems.append(
                f"faults {one} and {other} give the connection to {shared} two delays at a time:"
                " expected times that do not overlap"
            )
    return problems


def _misfits(fault: Fault, source: Connector) -> list[str]:
    problems = []
    if source.type.is_text:
        problems.append(f"it carries a {source.type}: expected numbers")
    elif fault.kind.needs_real and source.type is not DataType.REAL:
        problems.append(
            f"it carries a {source.type}, and a {fault.kind} is for Reals; expected one of"
            f" {', '.join(kind for kind in FaultKind if not kind.needs_real)}"
        )
    if fault.element is not None and fault.kind is FaultKind.DELAY_STEP:
        problems.append("element: a connection has one delay; leave it out")
    elif fault.element is not None and fault.element >= source.size:
        problems.append(
            f"element: expected below {source.size}, the size of '{source.name}',"
            f" found {fault.element}"
        )
    if isinstance(fault.amount, tuple) and len(fault.amount) != source.size:
        problems.append(
            f"expected {source.size} numbers, one for each element of '{source.name}', found"
            f" {len(fault.amount)}"
        )
    return problems


def _held(line: Connection, system: System) -> Iterator[str]:
    """Say why values of a connection are not brought once in each step."""
    if line.is_predicted:
        yield (
            f"connection {line} predicts its input ('{line.extrapolation}'): expected one that"
            " holds or delays; leave its extrapolation out"
        )
    if line.compensation is not None:
        yield (
            f"connection {line} has the compensation '{line.compensation}', which would make up for"
            " the fault: leave it out"
        )
    source, target = (system.components[end.component] for end in (line.source, line.target))
    at_events = target.shares_events and (
        source.shares_events or target.changes_at_events(line.target.connector)
    )
    if line.delay is None and at_events:
        yield (
            f"connection {line} carries values at events, and faults act at communication points:"
            " give it a delay, or run one of its components in a process of its own"
        )


def _overlap(one: Fault, other: Fault) -> bool:
    first, second = sorted((one, other), key=lambda fault: fault.begin_ns)
    return first.until_ns is None or first.until_ns > second.begin_ns
