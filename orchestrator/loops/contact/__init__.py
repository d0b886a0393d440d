"""Contact loops in closed form: what the delay of a loop does to it, said before the run."""

from typing import TYPE_CHECKING

from orchestrator.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.loops.contact.body_chain import BodyChain as BodyChain
    from orchestrator.loops.contact.contact_loop import (
        ContactLoop as ContactLoop,
        growth_over_delay as growth_over_delay,
        pade_coefficients as pade_coefficients,
        pade_phase as pade_phase,
        plot_growth_over_delay as plot_growth_over_delay,
        plot_stability_plane as plot_stability_plane,
        stability_plane as stability_plane,
    )
    from orchestrator.loops.contact.impact import (
        IdealImpact as IdealImpact,
        ImpactTrajectory as ImpactTrajectory,
    )
    from orchestrator.loops.contact.quasi_polynomial import (
        Crossing as Crossing,
        DelayMargin as DelayMargin,
        QuasiPolynomial as QuasiPolynomial,
    )
    from orchestrator.loops.contact.sampled_loop import (
        ForceCorrection as ForceCorrection,
        LoopMode as LoopMode,
        SampledContactLoop as SampledContactLoop,
        loop_modes as loop_modes,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
