"""FMUs from Modelica: front end, residual DAE, explicit ODE, C code, archive."""

from orchestrator.export.batch import BuildJob, build_all
from orchestrator.export.block_memory import element_names
from orchestrator.export.build import BuildResult, build_dae, build_model, build_recipe
from orchestrator.export.build_block import build_block
from orchestrator.export.delay_line import DelayLine
from orchestrator.export.experiment import Experiment
from orchestrator.export.recipe import Recipe, Solver, find_recipes
from orchestrator.export.residual_dae import DataType, Kind, Residual, ResidualDae, Variable

__all__ = [
    "BuildJob",
    "BuildResult",
    "DataType",
    "DelayLine",
    "Experiment",
    "Kind",
    "Recipe",
    "Residual",
    "ResidualDae",
    "Solver",
    "Variable",
    "build_all",
    "build_block",
    "build_dae",
    "build_model",
    "build_recipe",
    "element_names",
    "find_recipes",
]
