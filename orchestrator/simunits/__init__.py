"""What a component becomes when it runs: FMUs and Python blocks behind one protocol."""

from orchestrator.simunits.block import Block, Input, Output, Parameter, State
from orchestrator.simunits.block_unit import BlockUnit
from orchestrator.simunits.description import Capabilities, StepResult, UnitDescription
from orchestrator.simunits.fmu_description import read_fmu
from orchestrator.simunits.fmu_unit import FmuUnit
from orchestrator.simunits.isolation import isolate
from orchestrator.simunits.registry import (
    block,
    block_names,
    component_of,
    fmu,
    make_unit,
    resolve,
)
from orchestrator.simunits.unit import SimulationUnit

__all__ = [
    "Block",
    "BlockUnit",
    "Capabilities",
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
    "component_of",
    "fmu",
    "isolate",
    "make_unit",
    "read_fmu",
    "resolve",
]
