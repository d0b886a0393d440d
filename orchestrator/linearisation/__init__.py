"""Linearisation: components as linear models, and what a master's schedule does to their loops."""

from orchestrator.linearisation.analysis import LinearSystem, MasterSettings, linear_system
from orchestrator.linearisation.loop_account import LoopAccount, Mode
from orchestrator.linearisation.open_loop import Margin, Margins, OpenLoop, open_loop
from orchestrator.linearisation.state_space import StateSpace
from orchestrator.linearisation.sweep import SweepPoint, swept
from orchestrator.linearisation.unit_model import UnitModel

__all__ = [
    "LinearSystem",
    "LoopAccount",
    "Margin",
    "Margins",
    "MasterSettings",
    "Mode",
    "OpenLoop",
    "StateSpace",
    "SweepPoint",
    "UnitModel",
    "linear_system",
    "open_loop",
    "swept",
]
