"""What a shell completes: names that stand in the file that the command line already has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.system import Causality, System

_FROM = (Causality.OUTPUT, Causality.INOUT)
_INTO = (Causality.INPUT, Causality.INOUT)
_SET = (Causality.PARAMETER, Causality.STRUCTURAL_PARAMETER, Causality.INPUT)


def _connectors(system: System, kinds: Iterable[Causality]) -> Iterator[str]:
    for name, component in system.components.items():
        connectors = (c for c in component.connectors.values() if c.causality in kinds)
        yield from (f"{name}.{c.name}" for c in connectors)


def _nested(
    system: System, outer: Iterable[Causality], inner: Iterable[Causality]
) -> Iterator[str]:
    """Ends of lines within a system: its own connectors, and those of what is in it."""
    yield from (c.name for c in system.connectors.values() if c.causality in outer)
    yield from _connectors(system, inner)
    for name, part in system.systems.items():
        yield from (f"{name}.{c.name}" for c in part.connectors.values() if c.causality in inner)


#: By the name of the parameter of a command.
NAMES: Mapping[str, Callable[[System], Iterable[str]]] = {
    "set_": lambda system: (f"{name}=" for name in _connectors(system, _SET)),
    "swap": lambda system: (f"{name}=" for name in system.components),
    "isolate": lambda system: [*system.components, "all"],
    "record": lambda system: _connectors(system, _FROM),
    "set_delay": lambda system: (f"{line}=" for line in system.connections),
    "source": lambda system: _nested(system, _INTO, _FROM),
    "into": lambda system: _nested(system, _FROM, _INTO),
    "name": lambda system: [*system.components, *system.systems],
    "names": lambda system: [*system.components, *system.systems],
    "case": lambda _system: (),
}


def names_for(parameter: str, arguments: Mapping[str, Any], begun: str) -> list[str]:
    """Return the names that a parameter may have; none where the file cannot be read.

    parameter: Name of the parameter that is completed.
    given: Parameters of the command that the line has already.
    begun: What stands there of the name.
    """
    target = arguments.get("target")
    if not isinstance(target, Path | str):
        return []
    try:
        names = list(_names(parameter, Path(target), arguments))
    except SoftdockError:
        return []  # the command says what is wrong
    return [name for name in dict.fromkeys(names) if name.startswith(begun)]


def _names(parameter: str, target: Path, arguments: Mapping[str, Any]) -> Iterator[str]:
    from orchestrator.cli.target import experiment_of
    from orchestrator.study.prepare.prepared_case import SystemReader

    experiment, folder = experiment_of(target)
    if parameter == "case":
        yield from experiment.case
        return
    reader = SystemReader(folder)
    cases = arguments.get("case") or experiment.case
    for name, case in experiment.case.items():
        if name not in cases:
            continue
        read = reader.read(case)
        if "inside" in arguments:
            within = arguments["inside"]
            yield from NAMES[parameter](read.nested.nested(within) if within else read.nested)
        else:
            yield from NAMES[parameter](read.flat)
