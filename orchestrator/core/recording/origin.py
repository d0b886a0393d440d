"""Where a result comes from, and the parameters that its run had, for files and reports."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from typing import Any, NotRequired

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from orchestrator.core.coupling import DelayPlan, FaultRecord, LoopDelay, Mark, Tuned
from orchestrator.core.files.plain_data import misfit
from orchestrator.core.recording.result import TIME, ParameterRow, Result
from orchestrator.core.simunits import Notice
from orchestrator.core.system import Causality, System

_PACKAGES = (
    "casadi",
    "fmpy",
    "matplotlib",
    "networkx",
    "numpy",
    "pandas",
    "pint",
    "pyarrow",
    "rumoca",
    "scipy",
)


def versions() -> dict[str, str]:
    """Versions of Softdock, Python and the packages that numbers depend on, and the platform."""
    installed = _installed()
    return {
        "softdock": installed.get("softdock", "not installed"),
        "python": platform.python_version(),
        **{name: installed[name] for name in _PACKAGES if name in installed},
        "platform": platform.platform(),
    }


@cache
def _installed() -> dict[str, str]:
    """Versions of installed packages by the names of their folders, without reading any file."""
    versions: dict[str, str] = {}
    for entry in sys.path:
        names = os.listdir(entry or ".") if os.path.isdir(entry or ".") else []  # noqa: PTH112, PTH208
        for name in names:
            if name.endswith(".dist-info"):
                package, _, version = name.removesuffix(".dist-info").partition("-")
                versions.setdefault(package.lower().replace("_", "-"), version)
    return versions


def origin(result: Result) -> dict[str, Any]:
    """Describe how a result came about, in types that JSON has."""
    return {
        "case": result.name,
        "units": dict(result.units),
        "step_ns": result.step_ns,
        "algorithm": result.algorithm,
        "delay_mode": result.delay_mode,
        **({"rates": dict(result.rates)} if result.rates else {}),
        **({"every": result.every} if result.every != 1 else {}),
        "loops": [_loop(loop) for loop in result.loops],
        "plans": [_plan(plan) for plan in result.plans],
        "line_statistics": {line: asdict(facts) for line, facts in result.line_statistics.items()},
        "faults": [asdict(fault) for fault in result.faults],
        "notices": [asdict(notice) for notice in result.notices],
        **({"tuned": [asdict(change) for change in result.tuned]} if result.tuned else {}),
        **({"marks": [asdict(change) for change in result.marks]} if result.marks else {}),
        **({"inputs_set": list(result.inputs_set)} if result.inputs_set else {}),
        "energies": dict(result.energies),
        **({"realtime": result.timing.as_json()} if result.timing else {}),
        "linearised": dict(result.linearised),
        **({"arming": dict(result.arming)} if result.arming else {}),
        "wall_seconds": result.wall_seconds,
        "simulated_seconds": result.simulated_seconds,
        "versions": versions(),
    }


def _loop(delay: LoopDelay) -> dict[str, Any]:
    return {
        "components": list(delay.components),
        "rings": [str(ring) for ring in delay.loops],
        "physical_ns": delay.physical_ns,
        "numerical_ns": delay.numerical_ns,
        "total_ns": delay.total_ns,
    }


def _plan(plan: DelayPlan) -> dict[str, Any]:
    delay = plan.connection.delay
    return {
        "connection": str(plan.connection),
        "declared_ns": delay.nominal_ns if delay else 0,
        "provenance": str(delay.provenance) if delay else "",
        "shift_ns": plan.shift_ns,
        "seen_ns": plan.effective_delay_ns,
        "extrapolation_ns": plan.extrapolation_ns,
        "interpolation": str(plan.interpolation),
        "extrapolation": str(plan.extrapolation),
        "span_ns": plan.span_ns,
        "held_ns": plan.held_ns,
    }


class RunRecord(TypedDict):
    """What is read back of a result's origin."""

    case: str
    step_ns: int
    algorithm: str
    delay_mode: str
    rates: NotRequired[dict[str, int]]
    every: NotRequired[int]
    faults: tuple[FaultRecord, ...]
    notices: NotRequired[tuple[Notice, ...]]
    tuned: NotRequired[tuple[Tuned, ...]]
    marks: NotRequired[tuple[Mark, ...]]
    inputs_set: NotRequired[tuple[str, ...]]


def told_of_run(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what metadata tell of a run, by its names in a :class:`Result`.

    Raises ValidationError: if they are none of a result.
    """
    from pydantic import TypeAdapter

    record: Any = TypeAdapter(RunRecord).validate_json(json.dumps(data), strict=True)
    return {"name": record.pop("case"), **record}


def result_of(
    data: Mapping[str, Any],
    units: Mapping[str, str],
    times: NDArray[np.float64],
    names: Sequence[str],
    values: NDArray[np.float64],
) -> Result:
    """Make a result of what a file holds.

    Raises ValueError: if its metadata or its times, in s, are none of a result.
    """
    from pydantic import ValidationError

    try:
        record = told_of_run(data)
    except ValidationError as error:
        raise ValueError(f"its metadata: {misfit(error)}") from error
    if not (np.abs(times) < 2.0**63 / 1e9).all() or not (np.diff(times) > 0).all():
        raise ValueError(f"'{TIME}': expected increasing times within 64 bits of nanoseconds")
    time_ns = np.rint(times * 1e9).astype(np.int64)
    return Result(time_ns=time_ns, names=tuple(names), values=values, units=dict(units), **record)


def parameters_of(system: System) -> tuple[ParameterRow, ...]:
    """List the parameters of a resolved system, and the inputs that are held at a value.

    A value counts as set if the system sets it, also to what the default is.
    """
    fed = {line.target for line in system.connections}
    fed_names = {(end.component, end.connector) for end in fed}
    rows = []
    for component in system.components.values():
        held = [
            c
            for c in component.of(Causality.INPUT)
            if c.name in component.values and (component.name, c.name) not in fed_names
        ]
        for connector in [*component.of(Causality.PARAMETER), *held]:
            is_input = connector.causality is Causality.INPUT
            description = connector.description
            rows.append(
                ParameterRow(
                    component.name,
                    connector.name,
                    component.values.get(connector.name, connector.start),
                    connector.unit or "",
                    f"{description} (input, held)".strip() if is_input else description,
                    connector.name in component.values,
                )
            )
    return tuple(rows)
