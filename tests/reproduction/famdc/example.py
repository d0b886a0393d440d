"""The systems of the example as they ship, and what the tests run them with."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

from orchestrator import read_system
from orchestrator.core.master import Execution
from orchestrator.core.simunits import resolve
from orchestrator.core.ssp import apply_parameter_set
from orchestrator.core.system import Fault, FaultKind, System

FOLDER = Path(__file__).parents[3] / "examples" / "famdc"
_SPEC = importlib.util.spec_from_file_location("famdc_systems", FOLDER / "systems.py")
assert _SPEC is not None
assert _SPEC.loader is not None
systems = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(systems)

OFFSET: float = systems.OFFSET  # m; what all runs begin with


def example(name: str, table: str = "") -> System:
    """Read one of the example's .ssd files, with one of its parameter sets."""
    system = resolve(read_system(FOLDER / f"{name}.ssd")).flat()
    if table:
        system = apply_parameter_set(system, FOLDER / f"table-{table}.ssv", strict=True)
    return system


def changed(system: System, **values: object) -> System:
    """Set values, with ``__`` for the dot."""
    for name, value in values.items():
        system = system.set(name.replace("__", "."), value)
    return system


def noise(on: str, sigma: float = 1.0, seed: int = 1) -> Fault:
    """White noise of a sensor, N."""
    return Fault(FaultKind.NOISE, on, 0, amount=sigma, seed=seed)


def run(
    system: System,
    *faults: Fault,
    stop: str = "5 s",
    algorithm: str = "gauss-seidel",
    delay: str = "plain",
) -> dict[str, np.ndarray]:
    """Columns of a run in steps of 1 ms; held inputs stay held (``plain``) unless told."""
    options = {"algorithm": algorithm, "delay": delay, "early_return": False, "faults": faults}
    with Execution(system, step="1 ms", **options) as ran:
        ran.advance(stop)
        rows = ran.recording()
    columns = {name: rows.values[:, i] for i, name in enumerate(rows.names)}
    return columns | {"time": rows.time_ns / 1e9}
