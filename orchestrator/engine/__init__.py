"""The native core: loads FMUs, holds the signal buffer, executes compiled schedules."""

from orchestrator.engine._engine import Engine, Fmu2, PythonUnit, SavedState, Unit

__all__ = ["Engine", "Fmu2", "PythonUnit", "SavedState", "Unit"]
