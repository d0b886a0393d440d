"""FMUs from Modelica: front end, residual DAE, explicit ODE, C code, archive."""

from typing import TYPE_CHECKING

from orchestrator.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.export.build import BuildJob as BuildJob, build_all as build_all
    from orchestrator.export.blocks.build_block import block_as_fmu as block_as_fmu
    from orchestrator.export.dae.residual_dae import element_names as element_names
    from orchestrator.export.blocks.build_block import build_block as build_block
    from orchestrator.export.blocks.delay_line import DelayLine as DelayLine
    from orchestrator.export.build import (
        BuildResult as BuildResult,
        build_dae as build_dae,
        build_model as build_model,
        build_recipe as build_recipe,
    )
    from orchestrator.export.dae.events import (
        Assertion as Assertion,
        DiscreteEquation as DiscreteEquation,
        Events as Events,
        Message as Message,
        Reinit as Reinit,
        Relation as Relation,
        Sampler as Sampler,
        Termination as Termination,
    )
    from orchestrator.export.dae.residual_dae import (
        DataType as DataType,
        Kind as Kind,
        Residual as Residual,
        ResidualDae as ResidualDae,
        Variable as Variable,
    )
    from orchestrator.export.modelica.source.text import Experiment as Experiment
    from orchestrator.export.recipe import (
        Recipe as Recipe,
        Solver as Solver,
        find_recipes as find_recipes,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
