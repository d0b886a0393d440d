"""The states of a supervised rig, as a report shows them."""

from __future__ import annotations

from orchestrator.rig.supervisor.change_record import ChangeRecord
from orchestrator.study import Section

COLUMNS = ("time [s]", "state", "event", "next state", "reason", "where")


def states_section(case: str, record: ChangeRecord) -> Section:
    """Return what is said of all states of a case's rig, and what led to them."""
    rows = tuple(
        (f"{one.time_s:.3f}", one.before, one.event, one.after, one.reason, one.where)
        for one in record.changes
    )
    note = record.never_engaged or "Times are of the wall, since the rig was engaged."
    heading = f"States of the rig '{record.rig}' in {case}"
    return Section("supervisor", heading, COLUMNS, rows, note, data=record.as_json(), value=record)
