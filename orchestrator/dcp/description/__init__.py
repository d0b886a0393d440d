"""What a slave says of itself: the description (DCPX) and its archive."""

from orchestrator.dcp.description.dcp_file import archive_of, read_description
from orchestrator.dcp.description.description import (
    SlaveCapabilities,
    Ipv4,
    LogTemplate,
    PortRange,
    Resolution,
    ResolutionRange,
    SlaveDescription,
)
from orchestrator.dcp.description.description import (
    Dependencies,
    PduSteps,
    SlaveVariable,
    VariableKind,
)
from orchestrator.dcp.description.dcpx_reader import read_dcpx
from orchestrator.dcp.description.dcp_file import write_dcpx

__all__ = [
    "Dependencies",
    "Ipv4",
    "LogTemplate",
    "PduSteps",
    "PortRange",
    "Resolution",
    "ResolutionRange",
    "SlaveCapabilities",
    "SlaveDescription",
    "SlaveVariable",
    "VariableKind",
    "archive_of",
    "read_dcpx",
    "read_description",
    "write_dcpx",
]
