"""System Structure and Parameterization (SSP 1.0): systems as .ssd files and .ssp archives."""

from orchestrator.ssp.document import Document
from orchestrator.ssp.package import read_system, variants, write_ssp
from orchestrator.ssp.read import read_ssd
from orchestrator.ssp.write import write_ssd

__all__ = ["Document", "read_ssd", "read_system", "variants", "write_ssd", "write_ssp"]
