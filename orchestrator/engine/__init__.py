"""The native core: loads FMUs, holds the signal buffer, executes compiled schedules."""

from orchestrator.engine._engine import (
    Engine,
    EngineState,
    Fmi2Model,
    Fmu2,
    MeUnit,
    PythonUnit,
    SavedState,
    Unit,
)

__all__ = [
    "Engine",
    "EngineState",
    "Fmi2Model",
    "Fmu2",
    "MeUnit",
    "PythonUnit",
    "SavedState",
    "Unit",
]
