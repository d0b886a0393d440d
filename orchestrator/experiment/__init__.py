"""Experiments: cases, sweeps and figures of one or more systems, run and written down."""

from typing import TYPE_CHECKING

from orchestrator.experiment.prepare.simulate import FailedRunError, simulate
from orchestrator.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.experiment.file.experiment import Experiment
    from orchestrator.experiment.measure.outcome import (
        CaseOutcome,
        ExperimentOutcome,
        Measured,
        SweepOutcome,
    )
    from orchestrator.experiment.prepare.swap import swap_component
    from orchestrator.experiment.reader import read_experiment
    from orchestrator.experiment.run.checkpoint_file import read_checkpoint, write_checkpoint
    from orchestrator.experiment.runner import run_experiment
    from orchestrator.experiment.verification.verify import verify
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "orchestrator.experiment.run.checkpoint_file": "read_checkpoint write_checkpoint",
            "orchestrator.experiment.file.experiment": "Experiment",
            "orchestrator.experiment.measure.outcome": (
                "CaseOutcome ExperimentOutcome Measured SweepOutcome"
            ),
            "orchestrator.experiment.reader": "read_experiment",
            "orchestrator.experiment.runner": "run_experiment",
            "orchestrator.experiment.prepare.swap": "swap_component",
            "orchestrator.experiment.verification.verify": "verify",
        },
    )

__all__ = [
    "CaseOutcome",
    "Experiment",
    "ExperimentOutcome",
    "FailedRunError",
    "Measured",
    "SweepOutcome",
    "read_checkpoint",
    "read_experiment",
    "run_experiment",
    "simulate",
    "swap_component",
    "verify",
    "write_checkpoint",
]
