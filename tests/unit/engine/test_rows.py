"""A row of a schedule's table is described once, in the engine: all else agrees with that."""

from dataclasses import fields
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from orchestrator.core.coupling import Channel
from orchestrator.core.master.schedule.rows import (
    CompensationRow,
    CopyRow,
    FaultRow,
    HistoryRow,
    MixRow,
    OperationRow,
    ReadRow,
    ValueTableRow,
)
from orchestrator.core.master.schedule.schedule import EventTable, LoopTable, RuleTable, Schedule
from orchestrator.engine import ROWS
from orchestrator.export.system.package import VERSION

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "system-file.md"
CLASSES = {
    "channels": Channel,
    "loops": LoopTable,
    "rule": RuleTable,
    "faults": FaultRow,
    "compensations": CompensationRow,
}
#: Rows that Python hands over as tuples with names.
TUPLES = {
    "histories": HistoryRow,
    "copies": CopyRow,
    "reads": ReadRow,
    "mixes": MixRow,
    "operations": OperationRow,
    "tables": ValueTableRow,
}
EVENTS = {"event_lines": "lines", "event_clocks": "clocks"}


def names(table):
    return [name for name, _ in ROWS[table]]


@pytest.mark.parametrize("table", CLASSES)
def test_a_class_begins_with_the_fields_of_its_table(table):
    found = [field.name for field in fields(CLASSES[table])]
    assert found[: len(ROWS[table])] == names(table)


@pytest.mark.parametrize("table", TUPLES)
def test_a_named_tuple_has_the_fields_of_its_table(table):
    types = get_type_hints(TUPLES[table])
    assert list(types) == names(table)
    assert list(types.values()) == [float if kind == "f64" else int for _, kind in ROWS[table]]


@pytest.mark.parametrize("table", [table for table in ROWS if table not in {**CLASSES, **TUPLES}])
def test_a_tuple_has_the_fields_of_its_table(table):
    owner, name = (EventTable, EVENTS[table]) if table in EVENTS else (Schedule, table)
    row, _ = get_args(get_type_hints(owner)[name])
    assert get_args(row) == tuple(float if kind == "f64" else int for _, kind in ROWS[table])
    said = " ".join(owner.__doc__.split())
    assert f"``({', '.join(names(table))})``" in said


@pytest.mark.parametrize("table", ROWS)
def test_the_page_of_the_file_tells_the_fields(table):
    told = ", ".join(f"`{kind}` {name}" for name, kind in ROWS[table])
    assert f"| `{table}` | {told} |" in PAGE.read_text(encoding="utf-8").splitlines()


def test_the_page_of_the_file_describes_the_version_that_is_written():
    assert f"version {VERSION} of the format" in PAGE.read_text(encoding="utf-8")
