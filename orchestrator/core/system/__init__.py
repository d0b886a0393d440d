"""The system graph: immutable descriptions of what a user draws, without values of a run."""

from typing import TYPE_CHECKING

from orchestrator.core.lazy_names import lazy_names
from orchestrator.core.system.ports import conversion_between as conversion_between
from orchestrator.core.units.conversion import BaseUnit as BaseUnit, conversion as conversion

if TYPE_CHECKING:
    from orchestrator.core.system.component import (
        Bus as Bus,
        Component as Component,
        ComponentOptions as ComponentOptions,
    )
    from orchestrator.core.system.connecting import AutoConnection as AutoConnection
    from orchestrator.core.system.connection import (
        Compensation as Compensation,
        Connection as Connection,
        Endpoint as Endpoint,
        Extrapolation as Extrapolation,
        Interpolation as Interpolation,
        LinearTransformation as LinearTransformation,
        MappingTransformation as MappingTransformation,
        Transformation as Transformation,
        connection_name as connection_name,
        factor_and_offset_of as factor_and_offset_of,
    )
    from orchestrator.core.system.delay import (
        DelayTrace as DelayTrace,
        Delivery as Delivery,
        Jitter as Jitter,
        JitterKind as JitterKind,
        Newest as Newest,
        Provenance as Provenance,
        TransportDelay as TransportDelay,
        Variation as Variation,
    )
    from orchestrator.core.system.experiment import (
        DefaultExperiment as DefaultExperiment,
        communication_step_ns as communication_step_ns,
        horizon as horizon,
        whole_step_ns as whole_step_ns,
    )
    from orchestrator.core.system.fault import (
        Fault as Fault,
        FaultKind as FaultKind,
        fault_problems as fault_problems,
        lines_of as lines_of,
    )
    from orchestrator.core.system.loops import Loop as Loop, closed_loops as closed_loops
    from orchestrator.core.system.naming import SEPARATOR as SEPARATOR
    from orchestrator.core.system.ports import (
        Causality as Causality,
        Connector as Connector,
        DataType as DataType,
        Enumeration as Enumeration,
        Positive as Positive,
        PowerPort as PowerPort,
        Value as Value,
        Variability as Variability,
    )
    from orchestrator.core.system.power_lines import (
        is_power as is_power,
        power_ports as power_ports,
        product_in as product_in,
        product_of as product_of,
    )
    from orchestrator.core.system.source import (
        Backend as Backend,
        SOURCES as SOURCES,
        Source as Source,
        SourceKind as SourceKind,
    )
    from orchestrator.core.system.system import System as System
    from orchestrator.core.system.time import (
        REACH_NS as REACH_NS,
        nanoseconds as nanoseconds,
        range_errors as range_errors,
        seconds as seconds,
    )
    from orchestrator.core.system.values import (
        Signal as Signal,
        kept_notes as kept_notes,
        signal_of as signal_of,
        with_starts as with_starts,
        without_starts as without_starts,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
