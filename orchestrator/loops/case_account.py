"""What the schedule of a case does to its loops: the table of their modes."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.core.recording import Result
from orchestrator.loops import LoopAccount
from orchestrator.loops.run_account import RunAccount, run_account
from orchestrator.study import Extension, Run, Section
from orchestrator.study.content import Cell
from orchestrator.study.prepare.prepared_case import PreparedCase


class AccountOfLoops(Extension):
    """Linearises a case at its start, in continuous time and as it is stepped."""

    def after(self, run: Run, case: PreparedCase, result: Result) -> Result:
        """Say it, with its warnings."""
        options = case.options
        if options.linearise is False:
            return result
        account = run_account(case.system, **options.stepping)
        run.add(case.name, account_section(case.name, account))
        notes = (*result.notes, account.notice) if account.notice else result.notes
        warnings, record = tuple(account.warnings()), account.as_json()
        return replace(result, notes=notes, warnings=warnings, linearised=record)


COLUMNS = (
    "loop",
    "frequency [Hz]",
    "damping [-]",
    "exact growth [1/s]",
    "as sampled",
    "difference",
)
FORMATS = ("{}", "{:.6g}", "{:+.3g}", "{:+.7g}", "{:+.7g}", "{:+.2e}")
#: Number of reported modes of each loop; ``summary.json`` has more.
_MOST = 2


def mode_rows(loop: LoopAccount, limit: int) -> list[tuple[Cell, ...]]:
    """Return the rows of :data:`COLUMNS` of one loop, the least damped modes first."""
    return [
        (
            ", ".join(loop.components),
            mode.frequency,
            mode.damping,
            None if mode.exact is None else mode.exact.real,
            mode.growth,
            None if mode.exact is None else mode.error,
        )
        for mode in loop.modes[:limit]
    ]


def account_section(name: str, account: RunAccount) -> Section:
    """Return the report section on the loops of a case."""
    if not account.accounts:
        return Section("linearised", data=account.as_json(), value=account)
    note = "Linearised at the start: in continuous time with the declared delays, and as stepped."
    notes = [text for loop in account.accounts for text in loop.notes()]
    sides = account.contact or {"": account.accounts}
    rows = tuple(
        (f"{row[0]} (contact {side})" if side else row[0], *row[1:])
        for side, loops in sides.items()
        for loop in loops
        for row in mode_rows(loop, _MOST)
    )
    return Section(
        "linearised",
        f"Loops of {name}",
        COLUMNS,
        rows,
        note,
        remarks=(*notes, *account.remarks()),
        formats=FORMATS,
        printed=len(rows),
        data=account.as_json(),
        value=account,
    )
