"""What is read off finished runs: measures, energy ledgers, growth, attitudes."""

from typing import TYPE_CHECKING

from orchestrator.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.study.measure.measures import cardan_angles as cardan_angles
    from orchestrator.study.measure.growth import GrowthFit as GrowthFit, fit_growth as fit_growth
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
