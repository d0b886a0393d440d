"""What ``softdock run`` prints of the modes of loops."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.cli.terminal.console import print_table
from orchestrator.experiment.output.account_table import COLUMNS, account_rows
from orchestrator.linearisation.run_account import RunAccount

_PATTERNS = ("{}", "{:.6g}", "{:+.3g}", "{:+.7g}", "{:+.7g}", "{:+.2e}")


def print_accounts(accounts: Mapping[str, RunAccount | None]) -> None:
    """Print the least damped modes of each loop of some cases, by name, where they are known."""
    for case, account in accounts.items():
        if account is None or not account.accounts:
            continue
        rows = [
            ["-" if cell is None else _PATTERNS[i].format(cell) for i, cell in enumerate(row)]
            for row in account_rows(account)
        ]
        print_table(f"Loops of {case}", list(COLUMNS), rows)
