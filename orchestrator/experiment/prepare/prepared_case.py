"""A case that is ready to run."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.experiment.file.experiment import Case, RunOptions
from orchestrator.system import System


@dataclass(frozen=True, slots=True)
class PreparedCase:
    """A case, its options completed by the defaults, and its system: read, changed and flat."""

    name: str
    case: Case
    options: RunOptions
    system: System
