"""What ``softdock run --verify`` prints."""

from __future__ import annotations

from orchestrator.cli.terminal.console import output as console
from orchestrator.cli.terminal.console import print_table
from orchestrator.experiment.output.verification_files import (
    COLUMNS,
    Cell,
    verification_notes,
    verification_rows,
)
from orchestrator.experiment.verification.verification import Verification

#: Outputs that are printed; the file has all.
_MOST = 20


def print_verification(case: str, verification: Verification) -> None:
    """Print the outputs that differ most, the worst first, and what to know of the comparison."""
    rows = verification_rows(verification)
    if rows:
        printed = [[_text(cell) for cell in row] for row in rows[:_MOST]]
        print_table(f"Verification of {case}", list(COLUMNS), printed)
    if len(rows) > _MOST:
        more = f"{case}: {len(rows) - _MOST} more outputs are in {case}.verification.csv"
        console.print(more, markup=False)
    for note in verification_notes(verification):
        console.print(f"{case}: {note}", markup=False)


def _text(cell: Cell) -> str:
    if cell is None:
        return ""
    return cell if isinstance(cell, str) else f"{cell:.3g}"
