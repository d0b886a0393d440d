"""What the schedule of a case does to its loops, said behind its run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.coupling import DEFAULT_DELAY
from orchestrator.experiment.prepare.prepared_case import PreparedCase
from orchestrator.recording import Result

if TYPE_CHECKING:
    from orchestrator.linearisation.run_account import RunAccount


def with_account(case: PreparedCase, result: Result) -> tuple[Result, RunAccount | None]:
    """Add to the result of a case what its schedule does to its loops; see :func:`.run_account`.

    Returns
    -------
    result
        With the account and its warnings; the signals are the same.
    account
        ``None`` if the case does not want one.
    """
    if case.options.linearise is False:
        return result, None
    from orchestrator.linearisation.run_account import run_account

    options = case.options
    account = run_account(
        case.system,
        step=options.step,
        start=options.start,
        algorithm=options.algorithm,
        delay=options.delay or DEFAULT_DELAY,
        algorithm_options=options.algorithm_options,
        rates=options.rates,
    )
    notes = (*result.notes, account.notice) if account.notice else result.notes
    warnings, found = tuple(account.warnings()), account.as_json()
    return replace(result, notes=notes, warnings=warnings, linearised=found), account
