"""Experiments: cases, sweeps and figures of one or more systems, run and written down."""

from orchestrator.campaign.checkpoint_file import read_checkpoint, write_checkpoint
from orchestrator.campaign.experiment import Experiment
from orchestrator.campaign.outcome import CaseOutcome, ExperimentOutcome, Measured, SweepOutcome
from orchestrator.campaign.reader import read_experiment
from orchestrator.campaign.runner import run_experiment
from orchestrator.campaign.simulate import simulate
from orchestrator.campaign.swap import swap_component

__all__ = [
    "CaseOutcome",
    "Experiment",
    "ExperimentOutcome",
    "Measured",
    "SweepOutcome",
    "read_checkpoint",
    "read_experiment",
    "run_experiment",
    "simulate",
    "swap_component",
    "write_checkpoint",
]
