"""What an FMU says of itself, and whether it keeps its word. Foreign FMUs are welcome."""

from orchestrator.core.simunits.inspection.check import FmuCheckResult, check_fmu
from orchestrator.core.simunits.inspection.check import fmu_info, parse_description

__all__ = ["FmuCheckResult", "check_fmu", "fmu_info", "parse_description"]
