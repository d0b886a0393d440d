"""The system graph: what a user draws, as immutable descriptions without any values in motion."""

from orchestrator.system.component import Backend, Component, Source, SourceKind
from orchestrator.system.connection import (
    Connection,
    Endpoint,
    Extrapolation,
    Interpolation,
    LinearTransformation,
)
from orchestrator.system.connector import Causality, Connector, DataType, Value, Variability
from orchestrator.system.delay import Provenance, TransportDelay
from orchestrator.system.delay_trace import DelayTrace
from orchestrator.system.loops import Loop, closed_loops
from orchestrator.system.system import DefaultExperiment, System
from orchestrator.system.time import nanoseconds, seconds
from orchestrator.system.unit_options import UnitOptions
from orchestrator.system.units import conversion, is_power
from orchestrator.system.variation import Delivery, Jitter, JitterKind, Newest, Variation

__all__ = [
    "Backend",
    "Causality",
    "Component",
    "Connection",
    "Connector",
    "DataType",
    "DefaultExperiment",
    "DelayTrace",
    "Delivery",
    "Endpoint",
    "Extrapolation",
    "Interpolation",
    "Jitter",
    "JitterKind",
    "LinearTransformation",
    "Loop",
    "Newest",
    "Provenance",
    "Source",
    "SourceKind",
    "System",
    "TransportDelay",
    "UnitOptions",
    "Value",
    "Variability",
    "Variation",
    "closed_loops",
    "conversion",
    "is_power",
    "nanoseconds",
    "seconds",
]
