"""The registered master algorithms."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from orchestrator.core.diagnostics import (
    DescriptionError,
    PluginError,
    SoftdockError,
    UnknownNameError,
)
from orchestrator.core.master.algorithms.plan import Plan
from orchestrator.core.system import System, nearest

DEFAULT_ALGORITHM = "gauss-seidel"
#: Called with the system, and with the algorithm's own options by keyword.
Algorithm = Callable[..., Plan]
_LOADED: dict[str, Algorithm] = {}
#: The registered algorithms of this package, which are found without looking through all others.
BUILT_IN: Mapping[str, str] = {
    "jacobi": "orchestrator.core.master.algorithms.jacobi",
    "gauss-seidel": "orchestrator.core.master.algorithms.gauss_seidel",
    "fixed-point": "orchestrator.core.master.algorithms.fixed_point",
    "newton": "orchestrator.core.master.algorithms.newton",
    "waveform": "orchestrator.core.master.algorithms.waveform",
    "step-doubling": "orchestrator.core.master.algorithms.step_doubling",
    "embedded": "orchestrator.core.master.algorithms.embedded",
    "ecco": "orchestrator.core.master.algorithms.ecco",
}


def algorithm_names() -> list[str]:
    """Names of all registered algorithms (entry points ``softdock.algorithms``)."""
    from importlib.metadata import entry_points

    return sorted(entry.name for entry in entry_points(group="softdock.algorithms"))


def algorithm(name: str) -> Algorithm:
    """Find an algorithm by name."""
    if name in _LOADED:
        return _LOADED[name]
    if name in BUILT_IN:
        found: Algorithm = import_module(BUILT_IN[name]).plan
        return _LOADED.setdefault(name, found)
    from importlib.metadata import entry_points

    for entry in entry_points(group="softdock.algorithms", name=name):
        try:
            loaded: Algorithm = entry.load()
        except Exception as error:
            raise PluginError(f"algorithm '{name}' cannot be imported: {error}") from error
        return _LOADED.setdefault(name, loaded)
    raise UnknownNameError(
        f"no algorithm '{name}'{nearest(name, algorithm_names())};"
        f" registered: {', '.join(algorithm_names()) or 'none'}"
    )


def plan_of(name: str, system: System, options: Mapping[str, Any]) -> Plan:
    """Let an algorithm decide how a system is stepped."""
    chosen = algorithm(name)
    known = list(inspect.signature(chosen).parameters)[1:]
    if unknown := [key for key in options if key not in known]:
        raise UnknownNameError(
            f"algorithm '{name}' has no option {', '.join(map(repr, unknown))}"
            f"{nearest(unknown[0], known)};"
            f" its options: {', '.join(known) or 'none'}"
        )
    try:
        plan = chosen(system, **options)
    except SoftdockError as error:
        kind = type(error) if isinstance(error, DescriptionError) else DescriptionError
        raise kind(f"algorithm '{name}': {error}") from None
    except TypeError as error:
        raise DescriptionError(
            f"algorithm '{name}': an option has a wrong type: {error}"
        ) from error
    names = [name for group in plan.groups for name in group.members]
    if sorted(names) != sorted(system.components):
        raise PluginError(
            f"algorithm '{name}' returned the groups {[g.members for g in plan.groups]}; expected"
            f" every component once: {', '.join(system.components)}"
        )
    return plan
