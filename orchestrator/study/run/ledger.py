"""What becomes of the energy of a case."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from orchestrator.core.recording import Result
from orchestrator.study.extension import Extension, Run
from orchestrator.study.measure.ledgers import (
    LedgerRequest,
    ledger_of,
    ledger_request,
    with_series,
    with_signals,
)
from orchestrator.study.measure.missed_cycles import missed_shares
from orchestrator.study.output.ledger_files import ledger_section, write_ledger
from orchestrator.study.prepare.prepared_case import PreparedCase


class Ledger(Extension):
    """Draws up the energy ledger of cases that have power ports, or a table."""

    follows = ("account", "realtime")

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._requests: dict[str, LedgerRequest] = {}

    def prepare(self, run: Run, case: PreparedCase) -> PreparedCase:
        """Record what it needs, too."""
        request = ledger_request(case, run.experiment)
        if request is not None:
            self._requests[case.name] = request
        return with_signals(case, request)

    def after(self, run: Run, case: PreparedCase, result: Result) -> Result:
        """Add its totals; an open balance is said, and a problem if its table asks for that.

        Of a rig that missed cycles it is a warning.
        """
        request = self._requests.get(case.name)
        if request is None:
            return result
        missed = missed_shares(case, result, run.realtime.clock if run.realtime else None)
        ledger, wrong = ledger_of(request, result, case.system, missed)
        if wrong:
            told = f"warning: {wrong}" if missed.any() else wrong
            result = replace(result, notes=(*result.notes, told))
        if wrong and request.name and not missed.any():
            run.outcome.problems.append(f"case '{result.name}': {wrong}")
        if ledger is None:
            return result
        run.add(case.name, ledger_section(case.name, ledger))
        run.write(f"{case.name}.ledger.csv", partial(write_ledger, ledger))
        return with_series(result, ledger, request.window_ns)
