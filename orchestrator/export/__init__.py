"""FMUs from Modelica: front end, residual DAE, explicit ODE, C code, archive."""

from orchestrator.export.build import BuildResult, build_model, build_recipe
from orchestrator.export.recipe import Experiment, Recipe, Solver, find_recipes
from orchestrator.export.residual_dae import DataType, Kind, Residual, ResidualDae, Variable

__all__ = [
    "BuildResult",
    "DataType",
    "Experiment",
    "Kind",
    "Recipe",
    "Residual",
    "ResidualDae",
    "Solver",
    "Variable",
    "build_model",
    "build_recipe",
    "find_recipes",
]
