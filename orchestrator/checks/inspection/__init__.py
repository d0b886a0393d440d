"""What an FMU says of itself, and whether it keeps its word. Foreign FMUs are welcome."""

from typing import TYPE_CHECKING

from orchestrator.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.checks.inspection.check import (
        FmuCheckResult as FmuCheckResult,
        check_fmu as check_fmu,
        fmu_info as fmu_info,
        parse_description as parse_description,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
