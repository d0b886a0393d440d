"""Real time: how a run is kept to a clock, and what it says of how that went."""

from orchestrator.core.realtime.record import Durations as Durations
from orchestrator.core.realtime.record import (
    Drift as Drift,
    Overrun as Overrun,
    RealTimeRecord as RealTimeRecord,
)
from orchestrator.core.realtime.settings import OverrunPolicy as OverrunPolicy, RealTime as RealTime

__all__ = ["Drift", "Durations", "Overrun", "OverrunPolicy", "RealTime", "RealTimeRecord"]
