"""The native core: loads FMUs, holds the signal buffer, executes compiled schedules."""

from pathlib import Path

from orchestrator.engine import _engine
from orchestrator.engine._engine import (
    ROWS,
    DeviceBlock,
    DeviceUnit,
    DriftEstimate,
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
    LatencyHistogram,
    LinearUnit,
    LogUnit,
    TwinUnit,
    MeUnit,
    MonotonicClock,
    InitialResult,
    Outcome,
    PaceEnd,
    Pacer,
    ProcessBlock,
    PythonClock,
    PythonUnit,
    Relay,
    RemoteProcess,
    RemoteUnit,
    SampleFacts,
    SavedState,
    SharedBlock,
    StepClock,
    Surroundings,
    TickClock,
    TickCounter,
    Unit,
    allot_rows,
    call_at_exit,
    end_marked,
    end_with_master,
    lock_memory,
    place_of,
    serve,
    unlock_memory,
)

__all__ = [
    "ROWS",
    "DeviceBlock",
    "DeviceUnit",
    "DriftEstimate",
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
    "InitialResult",
    "LatencyHistogram",
    "LinearUnit",
    "LogUnit",
    "MeUnit",
    "MonotonicClock",
    "Outcome",
    "PaceEnd",
    "Pacer",
    "ProcessBlock",
    "PythonClock",
    "PythonUnit",
    "Relay",
    "RemoteProcess",
    "RemoteUnit",
    "SampleFacts",
    "SavedState",
    "SharedBlock",
    "StepClock",
    "Surroundings",
    "TickClock",
    "TickCounter",
    "TwinUnit",
    "Unit",
    "allot_rows",
    "call_at_exit",
    "end_marked",
    "end_with_master",
    "lock_memory",
    "place_of",
    "serve",
    "system_library",
    "unlock_memory",
    "windows_bridge",
]


def windows_bridge() -> Path:
    """Return the library that stands for an FMU's Windows library, installed next to the engine."""
    return Path(_engine.__file__).with_name("softdock_bridge.so")


def system_library() -> Path:
    """Return the library of every exported system, which is installed next to the engine."""
    module = Path(_engine.__file__)
    return module.with_name(
        "softdock_system.dll" if module.suffix == ".pyd" else "softdock_system.so"
    )
