"""Analysis: what the delay of a loop does to it, said before the run and measured after it."""

from orchestrator.analysis.attitude import cardan_angles
from orchestrator.analysis.contact_loop import ContactLoop
from orchestrator.analysis.growth import GrowthFit, fit_growth
from orchestrator.analysis.impact import IdealImpact, ImpactTrajectory
from orchestrator.analysis.pade import pade_coefficients, pade_phase
from orchestrator.analysis.quasi_polynomial import Crossing, DelayMargin, QuasiPolynomial
from orchestrator.analysis.root_locus import growth_over_delay, plot_growth_over_delay
from orchestrator.analysis.stability_plane import plot_stability_plane, stability_plane

__all__ = [
    "ContactLoop",
    "Crossing",
    "DelayMargin",
    "GrowthFit",
    "IdealImpact",
    "ImpactTrajectory",
    "QuasiPolynomial",
    "cardan_angles",
    "fit_growth",
    "growth_over_delay",
    "pade_coefficients",
    "pade_phase",
    "plot_growth_over_delay",
    "plot_stability_plane",
    "stability_plane",
]
