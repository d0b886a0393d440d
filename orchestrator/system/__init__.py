"""The system graph: immutable descriptions of what a user draws, without values of a run."""

from typing import TYPE_CHECKING

from orchestrator.diagnostics import nearest
from orchestrator.lazy_names import lazy_names
from orchestrator.system.conversion import conversion_between
from orchestrator.system.units import BaseUnit, conversion

if TYPE_CHECKING:
    from orchestrator.system.auto_connect import AutoConnection
    from orchestrator.system.bus import Bus
    from orchestrator.system.component import Component
    from orchestrator.system.component_options import ComponentOptions
    from orchestrator.system.connection import (
        Connection,
        Endpoint,
        Extrapolation,
        Interpolation,
        connection_name,
    )
    from orchestrator.system.connector import (
        Causality,
        Connector,
        DataType,
        Enumeration,
        Value,
        Variability,
    )
    from orchestrator.system.delay import Provenance, TransportDelay
    from orchestrator.system.delay_trace import DelayTrace
    from orchestrator.system.experiment import DefaultExperiment
    from orchestrator.system.fault import Fault, FaultKind
    from orchestrator.system.faulty_lines import fault_problems, lines_of
    from orchestrator.system.line_factor import factor_and_offset_of
    from orchestrator.system.loops import Loop, closed_loops
    from orchestrator.system.naming import SEPARATOR
    from orchestrator.system.power import Positive, PowerPort
    from orchestrator.system.power_names import power_ports
    from orchestrator.system.signals import Signal, signal_of
    from orchestrator.system.source import SOURCES, Backend, Source, SourceKind
    from orchestrator.system.starts import kept_notes, with_starts, without_starts
    from orchestrator.system.system import System
    from orchestrator.system.time import REACH_NS, nanoseconds, out_of_reach, seconds
    from orchestrator.system.transformation import (
        LinearTransformation,
        MappingTransformation,
        Transformation,
    )
    from orchestrator.system.unit_products import is_power, product_in, product_of
    from orchestrator.system.variation import Delivery, Jitter, JitterKind, Newest, Variation
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "orchestrator.system.auto_connect": "AutoConnection",
            "orchestrator.system.bus": "Bus",
            "orchestrator.system.component": "Component",
            "orchestrator.system.connection": (
                "Connection Endpoint Extrapolation Interpolation connection_name"
            ),
            "orchestrator.system.connector": (
                "Causality Connector DataType Enumeration Value Variability"
            ),
            "orchestrator.system.delay": "Provenance TransportDelay",
            "orchestrator.system.delay_trace": "DelayTrace",
            "orchestrator.system.experiment": "DefaultExperiment",
            "orchestrator.system.fault": "Fault FaultKind",
            "orchestrator.system.faulty_lines": "fault_problems lines_of",
            "orchestrator.system.line_factor": "factor_and_offset_of",
            "orchestrator.system.loops": "Loop closed_loops",
            "orchestrator.system.naming": "SEPARATOR",
            "orchestrator.system.power": "Positive PowerPort",
            "orchestrator.system.power_names": "power_ports",
            "orchestrator.system.signals": "Signal signal_of",
            "orchestrator.system.source": "SOURCES Backend Source SourceKind",
            "orchestrator.system.starts": "kept_notes with_starts without_starts",
            "orchestrator.system.system": "System",
            "orchestrator.system.time": "REACH_NS nanoseconds out_of_reach seconds",
            "orchestrator.system.transformation": (
                "LinearTransformation MappingTransformation Transformation"
            ),
            "orchestrator.system.component_options": "ComponentOptions",
            "orchestrator.system.unit_products": "is_power product_in product_of",
            "orchestrator.system.variation": "Delivery Jitter JitterKind Newest Variation",
        },
    )

__all__ = [
    "REACH_NS",
    "SEPARATOR",
    "SOURCES",
    "AutoConnection",
    "Backend",
    "BaseUnit",
    "Bus",
    "Causality",
    "Component",
    "ComponentOptions",
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
    "Provenance",
    "Signal",
    "Source",
    "SourceKind",
    "System",
    "Transformation",
    "TransportDelay",
    "Value",
    "Variability",
    "Variation",
    "closed_loops",
    "connection_name",
    "conversion",
    "conversion_between",
    "factor_and_offset_of",
    "fault_problems",
    "is_power",
    "kept_notes",
    "lines_of",
    "nanoseconds",
    "nearest",
    "out_of_reach",
    "power_ports",
    "product_in",
    "product_of",
    "seconds",
    "signal_of",
    "with_starts",
    "without_starts",
]
