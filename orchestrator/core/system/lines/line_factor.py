"""Factor and offset of a connection: its unit conversion, then its own transformation."""

from __future__ import annotations

from orchestrator.core.system.lines.connection import Connection
from orchestrator.core.system.lines.transformation import LinearTransformation
from orchestrator.core.system.ports.connector import Connector
from orchestrator.core.system.ports.conversion import conversion_between


def factor_and_offset_of(
    line: Connection, source: Connector, target: Connector
) -> tuple[float, float]:
    """Say what a connection makes of a number, apart from a table of values."""
    factor, offset = (
        (1.0, 0.0) if line.suppress_unit_conversion else conversion_between(source, target)
    )
    own = line.transformation
    if not isinstance(own, LinearTransformation):
        return factor, offset
    return own.factor * factor, own.factor * offset + own.offset
