"""The system graph: immutable descriptions of what a user draws, without values of a run."""

from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import nearest as nearest
from orchestrator.core.lazy_names import lazy_names
from orchestrator.core.system.ports import conversion_between as conversion_between
from orchestrator.core.system.units import BaseUnit as BaseUnit, conversion as conversion

if TYPE_CHECKING:
    from orchestrator.core.system.connecting import AutoConnection as AutoConnection
    from orchestrator.core.system.component import Bus as Bus
    from orchestrator.core.system.component import Component as Component
    from orchestrator.core.system.component import ComponentOptions as ComponentOptions
    from orchestrator.core.system.connection import Compensation as Compensation
    from orchestrator.core.system.connection import (
        Connection as Connection,
        Endpoint as Endpoint,
        Extrapolation as Extrapolation,
        Interpolation as Interpolation,
        connection_name as connection_name,
    )
    from orchestrator.core.system.ports import (
        Causality as Causality,
        Connector as Connector,
        DataType as DataType,
        Enumeration as Enumeration,
        Value as Value,
        Variability as Variability,
    )
    from orchestrator.core.system.delay import (
        Provenance as Provenance,
        TransportDelay as TransportDelay,
    )
    from orchestrator.core.system.delay import DelayTrace as DelayTrace
    from orchestrator.core.system.experiment import (
        DefaultExperiment as DefaultExperiment,
        communication_step_ns as communication_step_ns,
        whole_step_ns as whole_step_ns,
    )
    from orchestrator.core.system.fault import Fault as Fault, FaultKind as FaultKind
    from orchestrator.core.system.fault import (
        fault_problems as fault_problems,
        lines_of as lines_of,
    )
    from orchestrator.core.system.connection import (
        factor_and_offset_of as factor_and_offset_of,
    )
    from orchestrator.core.system.loops import (
        Loop as Loop,
        closed_loops as closed_loops,
    )
    from orchestrator.core.system.naming import SEPARATOR as SEPARATOR
    from orchestrator.core.system.ports import Positive as Positive, PowerPort as PowerPort
    from orchestrator.core.system.power_lines import power_ports as power_ports
    from orchestrator.core.system.values import Signal as Signal, signal_of as signal_of
    from orchestrator.core.system.source import (
        SOURCES as SOURCES,
        Backend as Backend,
        Source as Source,
        SourceKind as SourceKind,
    )
    from orchestrator.core.system.values import (
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
    from orchestrator.core.system.connection import (
        LinearTransformation as LinearTransformation,
        MappingTransformation as MappingTransformation,
        Transformation as Transformation,
    )
    from orchestrator.core.system.power_lines import (
        is_power as is_power,
        product_in as product_in,
        product_of as product_of,
    )
    from orchestrator.core.system.delay import (
        Delivery as Delivery,
        Jitter as Jitter,
        JitterKind as JitterKind,
        Newest as Newest,
        Variation as Variation,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
