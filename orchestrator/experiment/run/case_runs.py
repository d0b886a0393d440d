"""Runs of the cases of an experiment, and what each leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.diagnostics import NeverEngagedError
from orchestrator.experiment.file.experiment import Experiment
from orchestrator.experiment.measure.ledgers import (
    LedgerRequest,
    ledger_of,
    ledger_request,
    with_series,
    with_signals,
)
from orchestrator.experiment.measure.outcome import ExperimentOutcome
from orchestrator.experiment.prepare.prepared_case import PreparedCase
from orchestrator.experiment.prepare.simulate import FailedRunError, InterruptedRun
from orchestrator.experiment.run.case_account import with_account
from orchestrator.experiment.run.case_run import run_case
from orchestrator.experiment.run.emulation import emulating
from orchestrator.experiment.run.pace import is_paced
from orchestrator.experiment.run.recorders import (
    View,
    journal_of,
    replaced_by,
    views,
    write_partial,
    write_views,
)
from orchestrator.experiment.run.supervision import Findings, states_of, supervising
from orchestrator.recording import Draft, Journal, Result

if TYPE_CHECKING:
    from orchestrator.analysis import EnergyLedger
    from orchestrator.linearisation.run_account import RunAccount
    from orchestrator.realtime import RealTime

#: Called with the name of a job and the share of it that is done, 0 to 1.
Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class FinishedCase:
    """What a case left: its result, its energy ledger, and what its schedule does to its loops."""

    result: Result
    ledger: EnergyLedger | None
    account: RunAccount | None


@dataclass(frozen=True, slots=True)
class CaseRuns:
    """Where and how cases are run.

    Parameters
    ----------
    experiment
        Whose cases they are.
    output
        Folder in which files of cases that are not finished stand.
    draft
        Folder that takes its place when all are finished.
    outcome
        Gets the files, and the ledgers that do not close.
    realtime
        How they are kept to real time; ``None``: they are not.
    tell
        See :data:`Progress`.
    findings
        What was found of the devices of cases before, by case.
    """

    experiment: Experiment
    output: Path
    draft: Draft
    outcome: ExperimentOutcome
    realtime: RealTime | None
    tell: Progress
    findings: Mapping[str, Findings] = field(default_factory=dict)

    def run(
        self, cases: Mapping[str, PreparedCase], notes: Mapping[str, Sequence[str]]
    ) -> dict[str, FinishedCase]:
        """Run cases; what they record is seen at once under names that say that more is to come.

        Parameters
        ----------
        cases, notes
            By name; notes stand before those of the run.
        """
        return {name: self._finished(case, notes[name]) for name, case in cases.items()}

    def _finished(self, plain: PreparedCase, notes: Sequence[str]) -> FinishedCase:
        request = ledger_request(plain, self.experiment)
        case = with_signals(plain, request)
        files = views(case)
        self.draft.replaced |= replaced_by(case.name, files)
        journal = journal_of(case, self.output)
        result, account = self._recorded(case, files, journal, notes)
        result, ledger = _with_ledger(request, result, case, self._clock, self.outcome)
        self.outcome.files += write_views(result, files, self.draft.folder, self.output)
        journal.remove()
        return FinishedCase(result, ledger, account)

    @property
    def _clock(self) -> str | None:
        return self.realtime.clock if self.realtime else None

    def _recorded(
        self, case: PreparedCase, files: Sequence[View], journal: Journal, notes: Sequence[str]
    ) -> tuple[Result, RunAccount | None]:
        """Run a case; if that ends early, leave what it has recorded."""
        tell, pace = partial(self.tell, case.name), self.realtime
        if pace is not None and not is_paced(case, pace):
            pace = None
        remarks: list[str] = []
        found = self.findings.get(case.name)
        watched = supervising(case, self.experiment.supervisor, self.output, remarks, found)
        try:
            with watched as (supervised, ends), emulating(supervised, pace):
                result = run_case(
                    supervised,
                    tell,
                    journal,
                    realtime=pace,
                    on_begin=ends.begin,
                    on_end=ends.end,
                )
        except (FailedRunError, InterruptedRun) as failure:
            write_partial(failure.result, files, self.output)
            journal.remove()
            if isinstance(failure.__cause__, NeverEngagedError):
                raise NeverEngagedError(str(failure)) from failure
            if never := self._never_engaged(case):
                if isinstance(failure, FailedRunError):
                    raise NeverEngagedError(f"case '{case.name}': {never}") from failure
                failure.args = (f"{failure}; {never}",)
            raise
        if never := self._never_engaged(case):
            remarks.append(never)
        result = replace(result, notes=(*notes, *result.notes, *remarks))
        try:
            return with_account(case, result)
        except KeyboardInterrupt:
            write_partial(result, files, self.output)  # the run itself had come to its end
            journal.remove()
            raise

    def _never_engaged(self, case: PreparedCase) -> str:
        """Say that a rig was watched and never engaged; empty if that is not so."""
        states = states_of(self.output, case, self.experiment.supervisor)
        return states.never_engaged if states is not None else ""


def _with_ledger(
    request: LedgerRequest | None,
    result: Result,
    case: PreparedCase,
    clock: str | None,
    outcome: ExperimentOutcome,
) -> tuple[Result, EnergyLedger | None]:
    """Add the ledger's totals to a result; an open balance is said, and a problem if asked for.

    Of a rig that missed cycles it is a warning.
    """
    if request is None:
        return result, None
    from orchestrator.experiment.measure.missed_cycles import missed_shares

    missed = missed_shares(case, result, clock)
    ledger, wrong = ledger_of(request, result, case.system, missed)
    if wrong:
        told = f"warning: {wrong}" if missed.any() else wrong
        result = replace(result, notes=(*result.notes, told))
    if wrong and request.name and not missed.any():
        outcome.problems.append(f"case '{result.name}': {wrong}")
    return with_series(result, ledger) if ledger else result, ledger
