"""Arming: whether the loop through a rig has margins enough that its devices may move."""

from orchestrator.arming.arming import ArmedLine as ArmedLine, Arming as Arming, arm as arm
from orchestrator.arming.reserve import Reserve as Reserve

__all__ = ["ArmedLine", "Arming", "Reserve", "arm"]
