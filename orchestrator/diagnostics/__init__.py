"""What is wrong, as data: diagnostics, and the hierarchy of errors that carry them."""

from orchestrator.diagnostics.diagnostic import Diagnostic, Severity
from orchestrator.diagnostics.errors import (
    AlgebraicLoopError,
    CapabilityError,
    ConnectorMismatchError,
    ConvergenceError,
    DescriptionError,
    FmuError,
    LoadError,
    ModelicaError,
    PluginError,
    Problem,
    SoftdockError,
    SspError,
    StepError,
    StepSizeUnderflowError,
    UnitMismatchError,
    UnknownNameError,
    error_named,
)
from orchestrator.diagnostics.nearest import by_nearness, nearest, nearest_name, nearest_names

__all__ = [
    "AlgebraicLoopError",
    "CapabilityError",
    "ConnectorMismatchError",
    "ConvergenceError",
    "DescriptionError",
    "Diagnostic",
    "FmuError",
    "LoadError",
    "ModelicaError",
    "PluginError",
    "Problem",
    "Severity",
    "SoftdockError",
    "SspError",
    "StepError",
    "StepSizeUnderflowError",
    "UnitMismatchError",
    "UnknownNameError",
    "by_nearness",
    "error_named",
    "nearest",
    "nearest_name",
    "nearest_names",
]
