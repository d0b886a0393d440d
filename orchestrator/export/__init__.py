"""FMUs from Modelica: front end, residual DAE, explicit ODE, C code, archive."""

from orchestrator.export.batch import BuildJob, build_all
from orchestrator.export.blocks.block_component import block_as_fmu
from orchestrator.export.blocks.block_memory import element_names
from orchestrator.export.blocks.build_block import build_block
from orchestrator.export.blocks.delay_line import DelayLine
from orchestrator.export.build import BuildResult, build_dae, build_model, build_recipe
from orchestrator.export.dae.events import (
    Assertion,
    DiscreteEquation,
    Events,
    Message,
    Reinit,
    Relation,
    Sampler,
    Termination,
)
from orchestrator.export.dae.residual_dae import DataType, Kind, Residual, ResidualDae, Variable
from orchestrator.export.experiment import Experiment
from orchestrator.export.recipe import Recipe, Solver, find_recipes

__all__ = [
    "Assertion",
    "BuildJob",
    "BuildResult",
    "DataType",
    "DelayLine",
    "DiscreteEquation",
    "Events",
    "Experiment",
    "Kind",
    "Message",
    "Recipe",
    "Reinit",
    "Relation",
    "Residual",
    "ResidualDae",
    "Sampler",
    "Solver",
    "Termination",
    "Variable",
    "block_as_fmu",
    "build_all",
    "build_block",
    "build_dae",
    "build_model",
    "build_recipe",
    "element_names",
    "find_recipes",
]
