"""A whole system as one FMU of FMI 2.0 or 3.0, run inside by the native engine."""

from orchestrator.export.system.export import export_system

__all__ = ["export_system"]
