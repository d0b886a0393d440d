"""System Structure and Parameterization (SSP 1.0 and 2.0): systems as .ssd and .ssp files."""

from typing import TYPE_CHECKING

from orchestrator.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.core.ssp.archive.sources import Place as Place
    from orchestrator.core.ssp.archive.unpacking import variants as variants
    from orchestrator.core.ssp.read.package import diagnose as diagnose, read_system as read_system
    from orchestrator.core.ssp.read.bindings import apply_parameter_set as apply_parameter_set
    from orchestrator.core.ssp.read.ssd import read_document as read_document, read_ssd as read_ssd
    from orchestrator.core.ssp.write.packing import write_ssp as write_ssp
    from orchestrator.core.ssp.write.parameters import (
        Mapped as Mapped,
        write_parameter_mapping as write_parameter_mapping,
        write_parameter_set as write_parameter_set,
    )
    from orchestrator.core.ssp.write.ssd import write_ssd as write_ssd
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
