"""Analysis: what the delay of a loop does to it, said before the run and measured after it."""

from orchestrator.analysis.attitude import cardan_angles
from orchestrator.analysis.body_chain import BodyChain
from orchestrator.analysis.contact_loop import ContactLoop
from orchestrator.analysis.energy_automatic import automatic_plan
from orchestrator.analysis.energy_ledger import EnergyLedger, Entry, Kind, energy_ledger
from orchestrator.analysis.energy_plan import (
    Account,
    Bond,
    Interface,
    LedgerPlan,
    LedgerPort,
    Motion,
    Stage,
)
from orchestrator.analysis.growth import GrowthFit, fit_growth
from orchestrator.analysis.impact import IdealImpact, ImpactTrajectory
from orchestrator.analysis.loop_mode import LoopMode, loop_modes
from orchestrator.analysis.pade import pade_coefficients, pade_phase
from orchestrator.analysis.quasi_polynomial import Crossing, DelayMargin, QuasiPolynomial
from orchestrator.analysis.root_locus import growth_over_delay, plot_growth_over_delay
from orchestrator.analysis.sampled_loop import ForceCorrection, SampledContactLoop
from orchestrator.analysis.stability_plane import plot_stability_plane, stability_plane

__all__ = [
    "Account",
    "BodyChain",
    "Bond",
    "ContactLoop",
    "Crossing",
    "DelayMargin",
    "EnergyLedger",
    "Entry",
    "ForceCorrection",
    "GrowthFit",
    "IdealImpact",
    "ImpactTrajectory",
    "Interface",
    "Kind",
    "LedgerPlan",
    "LedgerPort",
    "LoopMode",
    "Motion",
    "QuasiPolynomial",
    "SampledContactLoop",
    "Stage",
    "automatic_plan",
    "cardan_angles",
    "energy_ledger",
    "fit_growth",
    "growth_over_delay",
    "loop_modes",
    "pade_coefficients",
    "pade_phase",
    "plot_growth_over_delay",
    "plot_stability_plane",
    "stability_plane",
]
