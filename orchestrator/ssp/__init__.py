"""System Structure and Parameterization (SSP 1.0 and 2.0): systems as .ssd and .ssp files."""

from orchestrator.ssp.document import Document
from orchestrator.ssp.package import diagnose, read_system
from orchestrator.ssp.packing import write_ssp
from orchestrator.ssp.parameter_set import apply_parameter_set
from orchestrator.ssp.read import read_document, read_ssd
from orchestrator.ssp.sources import Place
from orchestrator.ssp.unpacking import variants
from orchestrator.ssp.write import write_ssd

__all__ = [
    "Document",
    "Place",
    "apply_parameter_set",
    "diagnose",
    "read_document",
    "read_ssd",
    "read_system",
    "variants",
    "write_ssd",
    "write_ssp",
]
