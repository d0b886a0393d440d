"""How cases of an experiment are repeated with shorter steps."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.diagnostics import DescriptionError, Diagnostic
from orchestrator.experiment.prepare.prepared_case import PreparedCase
from orchestrator.experiment.run.case_run import as_simulated
from orchestrator.experiment.verification.refinement import Refinement


def refinements_of(cases: Mapping[str, PreparedCase]) -> dict[str, Refinement]:
    """Find out how cases are repeated with shorter steps, by name.

    Raises
    ------
    DescriptionError
        Of which cases there are no such runs, and why; all together.
    """
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
