"""The native core: loads FMUs, holds the signal buffer, executes compiled schedules."""

from pathlib import Path

from orchestrator.engine import _engine
from orchestrator.engine._engine import (
    ROWS,
    DeviceBlock,
    DeviceUnit,
    Engine,
    EngineState,
    Failure,
    FailureKind,
    Fmi2Model,
    Fmi3Model,
    Fmu,
    Fmu1,
    Fmu2,
    Fmu3,
    History,
    LinearUnit,
    LogUnit,
    MeUnit,
    Outcome,
    ProcessBlock,
    PythonUnit,
    Relay,
    RemoteProcess,
    RemoteUnit,
    SampleFacts,
    SavedState,
    SharedBlock,
    Surroundings,
    Unit,
    end_marked,
    end_with_master,
    serve,
)

__all__ = [
    "ROWS",
    "DeviceBlock",
    "DeviceUnit",
    "Engine",
    "EngineState",
    "Failure",
    "FailureKind",
    "Fmi2Model",
    "Fmi3Model",
    "Fmu",
    "Fmu1",
    "Fmu2",
    "Fmu3",
    "History",
    "LinearUnit",
    "LogUnit",
    "MeUnit",
    "Outcome",
    "ProcessBlock",
    "PythonUnit",
    "Relay",
    "RemoteProcess",
    "RemoteUnit",
    "SampleFacts",
    "SavedState",
    "SharedBlock",
    "Surroundings",
    "Unit",
    "end_marked",
    "end_with_master",
    "serve",
    "system_library",
]


def system_library() -> Path:
    """Return the library of every exported system, which is installed beside the engine."""
    return Path(_engine.__file__).with_name("softdock_system.so")
