"""Arming: whether the loop through a rig has margins enough that its devices may move."""

from typing import TYPE_CHECKING

from orchestrator.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.rig.arming.arming import Knobs as Knobs
    from orchestrator.rig.arming.arming import ArmedLine as ArmedLine, Arming as Arming, arm as arm
    from orchestrator.rig.arming.arming import Reserve as Reserve
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
