"""Analysis: what the delay of a loop does to it, said before the run and measured after it."""

from typing import TYPE_CHECKING

from orchestrator.lazy_names import lazy_names
from orchestrator.analysis.energy_ledger import (
    EnergyLedger as EnergyLedger,
    Entry as Entry,
    Kind as Kind,
    energy_ledger as energy_ledger,
)
from orchestrator.analysis.stability_plane import (
    plot_stability_plane as plot_stability_plane,
    stability_plane as stability_plane,
)

if TYPE_CHECKING:
    from orchestrator.analysis.attitude import cardan_angles as cardan_angles
    from orchestrator.analysis.body_chain import BodyChain as BodyChain
    from orchestrator.analysis.contact_loop import ContactLoop as ContactLoop
    from orchestrator.analysis.energy_automatic import automatic_plan as automatic_plan
    from orchestrator.analysis.energy_plan import (
        Account as Account,
        Bond as Bond,
        Interface as Interface,
        LedgerPlan as LedgerPlan,
        LedgerPort as LedgerPort,
        Motion as Motion,
        Stage as Stage,
    )
    from orchestrator.analysis.growth import GrowthFit as GrowthFit, fit_growth as fit_growth
    from orchestrator.analysis.impact import (
        IdealImpact as IdealImpact,
        ImpactTrajectory as ImpactTrajectory,
    )
    from orchestrator.analysis.loop_mode import LoopMode as LoopMode, loop_modes as loop_modes
    from orchestrator.analysis.pade import (
        pade_coefficients as pade_coefficients,
        pade_phase as pade_phase,
    )
    from orchestrator.analysis.quasi_polynomial import (
        Crossing as Crossing,
        DelayMargin as DelayMargin,
        QuasiPolynomial as QuasiPolynomial,
    )
    from orchestrator.analysis.root_locus import (
        growth_over_delay as growth_over_delay,
        plot_growth_over_delay as plot_growth_over_delay,
    )
    from orchestrator.analysis.sampled_loop import (
        ForceCorrection as ForceCorrection,
        SampledContactLoop as SampledContactLoop,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
