"""How cases of an experiment are repeated with shorter steps."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from orchestrator.core.diagnostics import DescriptionError, Diagnostic
from orchestrator.study.extension import Extension, Run
from orchestrator.study.output.verification_files import verification_section, write_verification
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.run.case_run import as_simulated
from orchestrator.study.verification.refinement import Refinement
from orchestrator.study.verification.verify import verified


def refinements_of(cases: Mapping[str, PreparedCase]) -> dict[str, Refinement]:
    """Find out how cases are repeated with shorter steps, by name."""
    found: dict[str, Refinement] = {}
    problems: list[Diagnostic] = []
    for name, case in cases.items():
        try:
            found[name] = Refinement.of(*as_simulated(case))
        except DescriptionError as error:
            problems += error.within(f"case '{name}'")
    if problems:
        raise DescriptionError(*problems)
    return found


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
