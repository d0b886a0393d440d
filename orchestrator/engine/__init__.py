"""The native core: loads FMUs, holds the signal buffer, executes compiled schedules."""

from orchestrator.engine._engine import (
    Engine,
    EngineState,
    Fmu2,
    History,
    PythonUnit,
    Relay,
    SavedState,
    Unit,
)

__all__ = ["Engine", "EngineState", "Fmu2", "History", "PythonUnit", "Relay", "SavedState", "Unit"]
