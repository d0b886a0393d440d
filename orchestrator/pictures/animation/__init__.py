"""Animation: the motion of a run as a page with a moving picture in three dimensions."""

from typing import TYPE_CHECKING

from orchestrator.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.pictures.animation.description import (
        Animation as Animation,
        Scene as Scene,
        too_many as too_many,
    )
    from orchestrator.pictures.animation.page import render_animation as render_animation
    from orchestrator.pictures.animation.tracks import wrong_signals as wrong_signals
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
