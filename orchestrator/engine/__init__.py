"""The native core: loads FMUs, holds the signal buffer, executes compiled schedules."""

from orchestrator.engine._engine import (
    Engine,
    EngineState,
    Fmu2,
    PythonUnit,
    RemoteUnit,
    SavedState,
    SharedBlock,
    Unit,
    end_with_master,
    serve,
)

__all__ = [
    "Engine",
    "EngineState",
    "Fmu2",
    "PythonUnit",
    "RemoteUnit",
    "SavedState",
    "SharedBlock",
    "Unit",
    "end_with_master",
    "serve",
]
