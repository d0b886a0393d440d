"""Loops: components as linear models, and what a master's schedule does to their loops."""

from typing import TYPE_CHECKING

from orchestrator.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.loops.run_account import (
        LinearSystem as LinearSystem,
        linear_system as linear_system,
    )
    from orchestrator.loops.delay_probe import (
        ProbedDelay as ProbedDelay,
        probe_loop as probe_loop,
    )
    from orchestrator.loops.loop_account import LoopAccount as LoopAccount, Mode as Mode
    from orchestrator.loops.loop_transfer import (
        Margin as Margin,
        Margins as Margins,
        OpenLoop as OpenLoop,
        open_loop as open_loop,
    )
    from orchestrator.loops.state_space import StateSpace as StateSpace
    from orchestrator.loops.sweep import SweepPoint as SweepPoint, swept as swept
    from orchestrator.loops.system_model import (
        Delays as Delays,
        SystemModel as SystemModel,
        linearise as linearise,
    )
    from orchestrator.loops.sensitivity import (
        Moment as Moment,
        Sensitivity as Sensitivity,
        trajectory_sensitivity as trajectory_sensitivity,
    )
    from orchestrator.loops.state_space import UnitModel as UnitModel
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
