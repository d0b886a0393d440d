"""FMUs that may be instantiated once per process, and are loaded in this one."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from pathlib import Path

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.simunits.protocol.unit import SimulationUnit

_UNITS: weakref.WeakValueDictionary[str, SimulationUnit] = weakref.WeakValueDictionary()
_LOCK = threading.Lock()


def is_loaded(path: str | Path) -> bool:
    """Return whether this process has the library of such an FMU, with what an instance leaves."""
    return os.path.realpath(path) in _UNITS


def only_instance(name: str, path: Path, make: Callable[[], SimulationUnit]) -> SimulationUnit:
    """Make the only instance of an FMU in this process."""
    with _LOCK:
        if is_loaded(path):
            raise CapabilityError(
                f"component '{name}': {path} can be instantiated only once per process"
                " (canBeInstantiatedOnlyOncePerProcess), and another run of this process has it"
                " loaded; choose isolation 'process', or close that run and keep nothing of it"
            )
        unit = make()
        _UNITS[os.path.realpath(path)] = unit
    return unit
