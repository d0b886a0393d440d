"""System Structure and Parameterization (SSP 1.0 and 2.0): systems as .ssd and .ssp files."""

from orchestrator.ssp.archive.sources import Place
from orchestrator.ssp.archive.unpacking import variants
from orchestrator.ssp.edit.document import Document
from orchestrator.ssp.read.package import diagnose, read_system
from orchestrator.ssp.read.parameter_set import apply_parameter_set
from orchestrator.ssp.read.ssd import read_document, read_ssd
from orchestrator.ssp.write.packing import write_ssp
from orchestrator.ssp.write.parameters import (
    Mapped,
    write_parameter_mapping,
    write_parameter_set,
)
from orchestrator.ssp.write.ssd import write_ssd

__all__ = [
    "Document",
    "Mapped",
    "Place",
    "apply_parameter_set",
    "diagnose",
    "read_document",
    "read_ssd",
    "read_system",
    "variants",
    "write_parameter_mapping",
    "write_parameter_set",
    "write_ssd",
    "write_ssp",
]
