"""Linearisation: components as linear models, and what a master's schedule does to their loops."""

from typing import TYPE_CHECKING

from orchestrator.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.linearisation.whole_system import (
        LinearSystem as LinearSystem,
        linear_system as linear_system,
    )
    from orchestrator.linearisation.loop_account import LoopAccount as LoopAccount, Mode as Mode
    from orchestrator.linearisation.loop_transfer import (
        Margin as Margin,
        Margins as Margins,
        OpenLoop as OpenLoop,
        open_loop as open_loop,
    )
    from orchestrator.linearisation.state_space import StateSpace as StateSpace
    from orchestrator.linearisation.sweep import SweepPoint as SweepPoint, swept as swept
    from orchestrator.linearisation.system_model import (
        Delays as Delays,
        SystemModel as SystemModel,
        linearise as linearise,
    )
    from orchestrator.linearisation.sensitivity import (
        Moment as Moment,
        Sensitivity as Sensitivity,
        trajectory_sensitivity as trajectory_sensitivity,
    )
    from orchestrator.linearisation.unit_model import UnitModel as UnitModel
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
