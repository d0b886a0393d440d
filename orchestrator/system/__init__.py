"""The system graph: what a user draws, as immutable descriptions without any values in motion."""

from orchestrator.system.component import Component, Source, SourceKind
from orchestrator.system.connection import Connection, Endpoint, LinearTransformation
from orchestrator.system.connector import Causality, Connector, DataType, Value, Variability
from orchestrator.system.delay import Provenance, TransportDelay
from orchestrator.system.loops import Loop, closed_loops
from orchestrator.system.system import DefaultExperiment, System
from orchestrator.system.time import nanoseconds, seconds
from orchestrator.system.units import conversion, is_power

__all__ = [
    "Causality",
    "Component",
    "Connection",
    "Connector",
    "DataType",
    "DefaultExperiment",
    "Endpoint",
    "LinearTransformation",
    "Loop",
    "Provenance",
    "Source",
    "SourceKind",
    "System",
    "TransportDelay",
    "Value",
    "Variability",
    "closed_loops",
    "conversion",
    "is_power",
    "nanoseconds",
    "seconds",
]
