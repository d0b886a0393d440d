"""What the schedule of a case does to its loops."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.core.recording import Result
from orchestrator.study import Extension, Run
from orchestrator.study.prepare.prepared_case import PreparedCase


class LoopAccount(Extension):
    """Linearises a case at its start, in continuous time and as it is stepped."""

    def after(self, run: Run, case: PreparedCase, result: Result) -> Result:
        """Say it, with its warnings."""
        options = case.options
        if options.linearise is False:
            return result
        from orchestrator.loops.run.account_table import account_section
        from orchestrator.loops.run_account import run_account

        account = run_account(case.system, **options.way)
        run.add(case.name, account_section(case.name, account))
        notes = (*result.notes, account.notice) if account.notice else result.notes
        warnings, found = tuple(account.warnings()), account.as_json()
        return replace(result, notes=notes, warnings=warnings, linearised=found)
