"""The states of a supervised rig, as a report shows them."""

from __future__ import annotations

from orchestrator.recording import TableItem
from orchestrator.supervisor.change_record import ChangeRecord

COLUMNS = ("time [s]", "state", "event", "next state", "reason", "where")


def states_table(case: str, record: ChangeRecord) -> TableItem:
    """Return the table of a report: all states of a case's rig, and what led to them."""
    rows = tuple(
        (f"{one.time_s:.3f}", one.before, one.event, one.after, one.reason, one.where)
        for one in record.changes
    )
    note = record.never_engaged or "Times are of the wall, since the rig was engaged."
    return TableItem(f"States of the rig '{record.rig}' in {case}", COLUMNS, rows, note)
