"""One measurement: which chain, how many steps, what is recorded."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

#: Steps after which all peers are compared. The first of them belongs to the start-up.
CHECK_STEPS = 300


@dataclass(frozen=True)
class Job:
    """A chain of ``n`` instances of one FMU, each one's output on the next one's input.

    The first input is held at 1.

    Parameters
    ----------
    fmu, folder
        The archive, and where it is unpacked for those who want a folder.
    guid, library
        From the model description; ``library`` is relative to ``folder``.
    input_name, output_name, input_reference, output_reference
        The two connected variables.
    floor
        The bare C loop as a shared library.
    work
        A folder of the measurement's own.
    n
        Number of units.
    step_ns
        Communication step in nanoseconds.
    record
        Record every unit's output after every step.
    budget
        Seconds that the measured steps may take together, roughly.
    """

    fmu: str
    folder: str
    guid: str
    library: str
    input_name: str
    output_name: str
    input_reference: int
    output_reference: int
    floor: str
    work: str
    n: int
    step_ns: int
    record: bool
    budget: float

    @property
    def h(self) -> float:
        """Communication step in seconds."""
        return self.step_ns / 1e9

    @property
    def units(self) -> list[str]:
        """Names of the units."""
        return [f"axis{i}" for i in range(self.n)]

    def at(self, n: int, work: Path, *, record: bool) -> Job:
        """The same for another chain."""
        return replace(self, n=n, work=str(work), record=record)

    def write(self, path: Path) -> None:
        """Write a file for a child process."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Job:
        """Read what :meth:`write` wrote."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))
