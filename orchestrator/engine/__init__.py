"""The native core: loads FMUs, holds the signal buffer, executes compiled schedules."""

from orchestrator.engine._engine import (
    Engine,
    EngineState,
    Fmu,
    Fmu1,
    Fmu2,
    Fmu3,
    History,
    PythonUnit,
    Relay,
    SavedState,
    Unit,
)

__all__ = [
    "Engine",
    "EngineState",
    "Fmu",
    "Fmu1",
    "Fmu2",
    "Fmu3",
    "History",
    "PythonUnit",
    "Relay",
    "SavedState",
    "Unit",
]
