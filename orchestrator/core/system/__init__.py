"""The system graph: immutable descriptions of what a user draws, without values of a run."""

from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import nearest as nearest
from orchestrator.core.lazy_names import lazy_names
from orchestrator.core.system.ports.conversion import conversion_between as conversion_between
from orchestrator.core.system.units.unit import BaseUnit as BaseUnit, conversion as conversion

if TYPE_CHECKING:
    from orchestrator.core.system.auto_connect import AutoConnection as AutoConnection
    from orchestrator.core.system.components.bus import Bus as Bus
    from orchestrator.core.system.components.component import Component as Component
    from orchestrator.core.system.components.component import (
        ComponentOptions as ComponentOptions,
    )
    from orchestrator.core.system.lines.compensation import Compensation as Compensation
    from orchestrator.core.system.lines.connection import (
        Connection as Connection,
        Endpoint as Endpoint,
        Extrapolation as Extrapolation,
        Interpolation as Interpolation,
        connection_name as connection_name,
    )
    from orchestrator.core.system.ports.connector import (
        Causality as Causality,
        Connector as Connector,
        DataType as DataType,
        Enumeration as Enumeration,
        Value as Value,
        Variability as Variability,
    )
    from orchestrator.core.system.lines.delay import (
        Provenance as Provenance,
        TransportDelay as TransportDelay,
    )
    from orchestrator.core.system.lines.delay_trace import DelayTrace as DelayTrace
    from orchestrator.core.system.experiment import (
        DefaultExperiment as DefaultExperiment,
        communication_step_ns as communication_step_ns,
        whole_step_ns as whole_step_ns,
    )
    from orchestrator.core.system.lines.fault import Fault as Fault, FaultKind as FaultKind
    from orchestrator.core.system.faulty_lines import (
        fault_problems as fault_problems,
        lines_of as lines_of,
    )
    from orchestrator.core.system.lines.line_factor import (
        factor_and_offset_of as factor_and_offset_of,
    )
    from orchestrator.core.system.loops.closed_loops import (
        Loop as Loop,
        closed_loops as closed_loops,
    )
    from orchestrator.core.system.naming import SEPARATOR as SEPARATOR
    from orchestrator.core.system.power.power_port import (
        Positive as Positive,
        PowerPort as PowerPort,
    )
    from orchestrator.core.system.power.power_names import power_ports as power_ports
    from orchestrator.core.system.signals import Signal as Signal, signal_of as signal_of
    from orchestrator.core.system.components.source import (
        SOURCES as SOURCES,
        Backend as Backend,
        Source as Source,
        SourceKind as SourceKind,
    )
    from orchestrator.core.system.starts import (
        kept_notes as kept_notes,
        with_starts as with_starts,
        without_starts as without_starts,
    )
    from orchestrator.core.system.system import System as System
    from orchestrator.core.system.time import (
        REACH_NS as REACH_NS,
        nanoseconds as nanoseconds,
        out_of_reach as out_of_reach,
        seconds as seconds,
    )
    from orchestrator.core.system.lines.transformation import (
        LinearTransformation as LinearTransformation,
        MappingTransformation as MappingTransformation,
        Transformation as Transformation,
    )
    from orchestrator.core.system.power.unit_products import (
        is_power as is_power,
        product_in as product_in,
        product_of as product_of,
    )
    from orchestrator.core.system.lines.variation import (
        Delivery as Delivery,
        Jitter as Jitter,
        JitterKind as JitterKind,
        Newest as Newest,
        Variation as Variation,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
