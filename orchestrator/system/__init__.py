"""The system graph: what a user draws, as immutable descriptions without any values in motion."""

from orchestrator.system.auto_connect import AutoConnection
from orchestrator.system.bus import Bus
from orchestrator.system.component import Backend, Component, Source, SourceKind
from orchestrator.system.connection import (
    Connection,
    Endpoint,
    Extrapolation,
    Interpolation,
)
from orchestrator.system.connector import (
    Causality,
    Connector,
    DataType,
    Enumeration,
    Value,
    Variability,
)
from orchestrator.system.conversion import conversion_between
from orchestrator.system.delay import Provenance, TransportDelay
from orchestrator.system.delay_trace import DelayTrace
from orchestrator.system.experiment import DefaultExperiment
from orchestrator.system.fault import Fault, FaultKind
from orchestrator.system.faulty_lines import fault_problems, lines_of
from orchestrator.system.loops import Loop, closed_loops
from orchestrator.system.naming import SEPARATOR
from orchestrator.system.power import Positive, PowerPort
from orchestrator.system.power_names import power_ports
from orchestrator.system.problem import Problem, errors_of
from orchestrator.system.starts import with_starts
from orchestrator.system.system import System
from orchestrator.system.time import nanoseconds, seconds
from orchestrator.system.transformation import (
    LinearTransformation,
    MappingTransformation,
    Transformation,
)
from orchestrator.system.unit_options import UnitOptions
from orchestrator.system.units import BaseUnit, conversion, is_power, product_in
from orchestrator.system.variation import Delivery, Jitter, JitterKind, Newest, Variation

__all__ = [
    "SEPARATOR",
    "AutoConnection",
    "Backend",
    "BaseUnit",
    "Bus",
    "Causality",
    "Component",
    "Connection",
    "Connector",
    "DataType",
    "DefaultExperiment",
    "DelayTrace",
    "Delivery",
    "Endpoint",
    "Enumeration",
    "Extrapolation",
    "Fault",
    "FaultKind",
    "Interpolation",
    "Jitter",
    "JitterKind",
    "LinearTransformation",
    "Loop",
    "MappingTransformation",
    "Newest",
    "Positive",
    "PowerPort",
    "Problem",
    "Provenance",
    "Source",
    "SourceKind",
    "System",
    "Transformation",
    "TransportDelay",
    "UnitOptions",
    "Value",
    "Variability",
    "Variation",
    "closed_loops",
    "conversion",
    "conversion_between",
    "errors_of",
    "fault_problems",
    "is_power",
    "lines_of",
    "nanoseconds",
    "power_ports",
    "product_in",
    "seconds",
    "with_starts",
]
