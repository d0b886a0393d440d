"""What a slave says of itself: the description (DCPX) and its archive."""

from orchestrator.dcp.description.dcp_file import archive_of, read_description
from orchestrator.dcp.description.description import (
    Capabilities,
    Ipv4,
    LogTemplate,
    PortRange,
    Resolution,
    ResolutionRange,
    SlaveDescription,
)
from orchestrator.dcp.description.variable import (
    Dependencies,
    StepChoice,
    Variable,
    VariableKind,
)
from orchestrator.dcp.description.dcpx_reader import read_dcpx
from orchestrator.dcp.description.dcpx_writer import write_dcpx

__all__ = [
    "Capabilities",
    "Dependencies",
    "Ipv4",
    "LogTemplate",
    "PortRange",
    "Resolution",
    "ResolutionRange",
    "SlaveDescription",
    "StepChoice",
    "Variable",
    "VariableKind",
    "archive_of",
    "read_dcpx",
    "read_description",
    "write_dcpx",
]
