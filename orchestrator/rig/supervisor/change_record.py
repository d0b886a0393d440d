"""What the supervisor of a case wrote of its states, read back."""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from orchestrator.core.diagnostics import LoadError
from orchestrator.rig.supervisor.states import State


@dataclass(frozen=True, slots=True)
class StateChange:
    """One line of ``changes.csv``.

    Parameters
    ----------
    time_s
        CLOCK_MONOTONIC; of a :class:`ChangeRecord` since the rig was engaged.
    before, event, after
        The states by name, and what led from one to the other.
    reason, where
        Of a fault, by name; of a wish of an operator only where it came from.
    """

    time_s: float
    before: str
    event: str
    after: str
    reason: str
    where: str


@dataclass(frozen=True, slots=True)
class ChangeRecord:
    """The states of a rig in one case.

    Parameters
    ----------
    rig
        Its name.
    changes
        In their order; times are since it was first engaged, else since the first of them.
    """

    rig: str
    changes: tuple[StateChange, ...]

    @property
    def engaged(self) -> bool:
        """Whether its devices ever followed the simulation."""
        return any(change.after == State.BLEND.name for change in self.changes)

    @property
    def never_engaged(self) -> str:
        """Say that it was not, and why, as far as that was found; empty if it was."""
        if self.engaged:
            return ""
        found = [f"{one.where}: {one.reason}" for one in self.changes if one.reason]
        return f"rig '{self.rig}' was never engaged{': ' if found else ''}{'; '.join(found)}"

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        states = [asdict(change) for change in self.changes]
        return {"rig": self.rig, "engaged": self.engaged, "states": states}


def read_changes(path: Path) -> tuple[StateChange, ...]:
    """Read what a :class:`~orchestrator.rig.supervisor.ring_file.ChangeFile` wrote."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        return tuple(StateChange(float(row.pop("time_s")), **row) for row in rows)
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise LoadError.in_file(path, f"expected a file of a rig's states: {error}") from None


def change_record(rig: str, path: Path) -> ChangeRecord:
    """Read the states of a rig; see :func:`read_changes`."""
    changes = read_changes(path)
    begun = next((one.time_s for one in changes if one.after == State.BLEND.name), None)
    if begun is None:
        begun = changes[0].time_s if changes else 0.0
    moved = (replace(one, time_s=one.time_s - begun) for one in changes)
    return ChangeRecord(rig, tuple(moved))
