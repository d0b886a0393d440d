"""Experiments: cases, sweeps and figures of one or more systems, run and written down."""

from typing import TYPE_CHECKING

from orchestrator.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.core.simulation import (
        FailedRunError as FailedRunError,
        simulate as simulate,
    )
    from orchestrator.study.extension import Extension as Extension, Run as Run, Steps as Steps
    from orchestrator.study.experiment import Experiment as Experiment
    from orchestrator.study.measure.outcome import (
        CaseOutcome as CaseOutcome,
        ExperimentOutcome as ExperimentOutcome,
        Measured as Measured,
        SweepOutcome as SweepOutcome,
    )
    from orchestrator.study.prepare.prepare import swap_component as swap_component
    from orchestrator.study.reader import read_experiment as read_experiment
    from orchestrator.study.run.checkpoint_file import (
        read_checkpoint as read_checkpoint,
        write_checkpoint as write_checkpoint,
    )
    from orchestrator.study.runner import run_experiment as run_experiment
    from orchestrator.study.content import Section as Section
    from orchestrator.study.refinement import verify as verify
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
