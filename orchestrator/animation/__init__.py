"""Animation: the motion of a run as a page with a moving picture in three dimensions."""

from orchestrator.animation.checks import loose_ends, too_many
from orchestrator.animation.description import Animation, Scene
from orchestrator.animation.page import render_animation
from orchestrator.animation.viewer import expect_viewer
from orchestrator.animation.wanted import wrong_signals

__all__ = [
    "Animation",
    "Scene",
    "expect_viewer",
    "loose_ends",
    "render_animation",
    "too_many",
    "wrong_signals",
]
