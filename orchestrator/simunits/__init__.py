"""What a component becomes when it runs: FMUs and Python blocks behind one protocol."""

from orchestrator.simunits.block import Block, Input, Output, Parameter, State
from orchestrator.simunits.block_unit import BlockUnit
from orchestrator.simunits.choice import where
from orchestrator.simunits.declared import as_declared, differences
from orchestrator.simunits.description import Capabilities, StepResult, UnitDescription
from orchestrator.simunits.fmi1_unit import Fmu1Unit
from orchestrator.simunits.fmi2_unit import Fmu2Unit
from orchestrator.simunits.fmi3_unit import Fmu3Unit
from orchestrator.simunits.fmu_description import open_description, read_fmu
from orchestrator.simunits.fmu_unit import FmuUnit
from orchestrator.simunits.isolation import isolate
from orchestrator.simunits.model_exchange_unit import ModelExchangeUnit
from orchestrator.simunits.notice import Notice
from orchestrator.simunits.registry import (
    block,
    block_class,
    block_names,
    capabilities_of,
    component_of,
    description_of,
    fmu,
    make_unit,
    resolve,
)
from orchestrator.simunits.unit import SimulationUnit

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
    "as_declared",
    "block",
    "block_class",
    "block_names",
    "capabilities_of",
    "component_of",
    "description_of",
    "differences",
    "fmu",
    "isolate",
    "make_unit",
    "open_description",
    "read_fmu",
    "resolve",
    "where",
]
