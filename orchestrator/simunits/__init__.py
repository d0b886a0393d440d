"""What a component becomes when it runs: FMUs and Python blocks behind one protocol."""

from typing import TYPE_CHECKING

from orchestrator.lazy_names import lazy_names
from orchestrator.simunits.blocks.block import Block
from orchestrator.simunits.blocks.block_place import files_at
from orchestrator.simunits.blocks.block_unit import BlockUnit
from orchestrator.simunits.blocks.choice import where
from orchestrator.simunits.blocks.compile_watch import watch_compiling
from orchestrator.simunits.blocks.declaration import Input, Output, Parameter, State
from orchestrator.simunits.declared import as_declared, differences
from orchestrator.simunits.fmi.fmi1_unit import Fmu1Unit
from orchestrator.simunits.fmi.fmi2_unit import Fmu2Unit
from orchestrator.simunits.fmi.fmi3_unit import Fmu3Unit
from orchestrator.simunits.fmi.fmu_description import flaws_of, open_description, read_fmu
from orchestrator.simunits.fmi.fmu_unit import FmuUnit
from orchestrator.simunits.fmi.model_exchange_unit import ModelExchangeUnit
from orchestrator.simunits.instantiation import make_unit
from orchestrator.simunits.protocol.description import Capabilities, StepResult, UnitDescription
from orchestrator.simunits.protocol.notice import Notice
from orchestrator.simunits.protocol.unit import SimulationUnit, changed_note
from orchestrator.simunits.registry import (
    block,
    block_class,
    block_names,
    capabilities_of,
    class_of,
    component_of,
    description_of,
    fmu,
    resolve,
)
from orchestrator.simunits.strictness import expect_flawless, flaw_notes

if TYPE_CHECKING:
    from orchestrator.simunits.isolation.isolated import isolate
    from orchestrator.simunits.isolation.worker_process import WorkerProcess
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "orchestrator.simunits.isolation.isolated": "isolate",
            "orchestrator.simunits.isolation.worker_process": "WorkerProcess",
        },
    )

__all__ = [
    "Block",
    "BlockUnit",
    "Capabilities",
    "Fmu1Unit",
    "Fmu2Unit",
    "Fmu3Unit",
    "FmuUnit",
    "Input",
    "ModelExchangeUnit",
    "Notice",
    "Output",
    "Parameter",
    "SimulationUnit",
    "State",
    "StepResult",
    "UnitDescription",
    "WorkerProcess",
    "as_declared",
    "block",
    "block_class",
    "block_names",
    "capabilities_of",
    "changed_note",
    "class_of",
    "component_of",
    "description_of",
    "differences",
    "expect_flawless",
    "files_at",
    "flaw_notes",
    "flaws_of",
    "fmu",
    "isolate",
    "make_unit",
    "open_description",
    "read_fmu",
    "resolve",
    "watch_compiling",
    "where",
]
