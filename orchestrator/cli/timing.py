"""What ``softdock run --realtime`` prints."""

from __future__ import annotations

from orchestrator.cli.terminal.console import output as console
from orchestrator.cli.terminal.console import print_table
from orchestrator.experiment.output.timing_files import COLUMNS, timing_rows
from orchestrator.realtime import RealTimeRecord

#: Overruns that are printed; JSON and files have more.
_MOST = 5


def print_timing(case: str, record: RealTimeRecord) -> None:
    """Print how long steps and components took, and the latest overruns."""
    rows = [[_text(cell) for cell in row] for row in timing_rows(record)]
    print_table(f"Timing of {case} [us]", list(COLUMNS), rows)
    for overrun in record.listed[-_MOST:]:
        console.print(f"{case}: {overrun}", markup=False)


def _text(cell: str | float | None) -> str:
    if cell is None:
        return ""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
