"""The native core: loads FMUs, holds the signal buffer, executes compiled schedules."""

from orchestrator.engine._engine import (
    Engine,
    EngineState,
    Fmi2Model,
    Fmi3Model,
    Fmu,
    Fmu1,
    Fmu2,
    Fmu3,
    History,
    MeUnit,
    PythonUnit,
    Relay,
    SavedState,
    Unit,
)

__all__ = [
    "Engine",
    "EngineState",
    "Fmi2Model",
    "Fmi3Model",
    "Fmu",
    "Fmu1",
    "Fmu2",
    "Fmu3",
    "History",
    "MeUnit",
    "PythonUnit",
    "Relay",
    "SavedState",
    "Unit",
]
