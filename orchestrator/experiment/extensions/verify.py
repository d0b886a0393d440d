"""Cases that are run again with shorter steps."""

from __future__ import annotations

from functools import partial

from orchestrator.experiment.extension import Extension, Run
from orchestrator.experiment.output.verification_files import (
    verification_section,
    write_verification,
)
from orchestrator.experiment.run.case_verification import refinements_of
from orchestrator.experiment.verification.refinement import Refinement
from orchestrator.experiment.verification.verify import verified


class CaseVerification(Extension):
    """Runs each case with H/2 and H/4, and compares."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._refinements: dict[str, Refinement] = {}

    def begin(self, run: Run) -> None:
        """Find out how they are repeated."""
        self._refinements = refinements_of(run.cases)

    def end(self, run: Run) -> None:
        """Run them, behind all runs that count."""
        for name, refinement in self._refinements.items():
            done = partial(run.tell, f"{name} with H/2 and H/4")
            found = verified(refinement, run.outcome.cases[name].result, progress=done)
            run.add(name, verification_section(name, found))
            run.write(f"{name}.verification.csv", partial(write_verification, found))
