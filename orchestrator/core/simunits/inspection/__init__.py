"""What an FMU says of itself, and whether it keeps its word. Foreign FMUs are welcome."""

from orchestrator.core.simunits.inspection.check import CheckResult, check_fmu
from orchestrator.core.simunits.inspection.info import fmu_info, parse_description

__all__ = ["CheckResult", "check_fmu", "fmu_info", "parse_description"]
