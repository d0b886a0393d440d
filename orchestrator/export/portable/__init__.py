"""Systems for other tools: blocks and delays become FMUs of their own."""

from orchestrator.export.portable.package import write_portable_ssp
from orchestrator.export.portable.portable_system import Portable, make_portable

__all__ = ["Portable", "make_portable", "write_portable_ssp"]
