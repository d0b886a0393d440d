"""What a component becomes when it runs: FMUs and Python blocks behind one protocol."""

from orchestrator.simunits.block import Block, Input, Output, Parameter, State
from orchestrator.simunits.block_unit import BlockUnit
from orchestrator.simunits.description import Capabilities, StepResult, UnitDescription
from orchestrator.simunits.fmi2_unit import Fmu2Unit
from orchestrator.simunits.fmi3_unit import Fmu3Unit
from orchestrator.simunits.fmu_description import read_fmu
from orchestrator.simunits.fmu_unit import FmuUnit
from orchestrator.simunits.registry import (
    block,
    block_names,
    capabilities_of,
    component_of,
    fmu,
    make_unit,
    refuse_second_instances,
    resolve,
)
from orchestrator.simunits.unit import SimulationUnit

__all__ = [
    "Block",
    "BlockUnit",
    "Capabilities",
    "Fmu2Unit",
    "Fmu3Unit",
    "FmuUnit",
    "Input",
    "Output",
    "Parameter",
    "SimulationUnit",
    "State",
    "StepResult",
    "UnitDescription",
    "block",
    "block_names",
    "capabilities_of",
    "component_of",
    "fmu",
    "make_unit",
    "read_fmu",
    "refuse_second_instances",
    "resolve",
]
