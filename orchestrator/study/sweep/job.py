"""One run of a sweep, what workers need to know of all runs, and what comes of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from orchestrator.core.recording import Result
from orchestrator.study.file.experiment import Measure
from orchestrator.study.file.sweep_table import Sweep
from orchestrator.study.measure.outcome import Measured
from orchestrator.study.prepare.design import Point
from orchestrator.study.prepare.prepared_case import PreparedCase

#: Reads a figure off a result.
Figure = Callable[[Result], float]
#: Status of a run in which a component went to its safe state.
SAFE = "safe state"
Status = Literal["done", "failed", "unmeasured", "diverged", "died", "safe state"]


@dataclass(frozen=True, slots=True)
class JobContext:
    """A sweep with the systems of its cases, prepared: the same for all its jobs.

    Parameters
    ----------
    name, sweep
        The sweep.
    cases
        By name as they are without it: its own, and those that measures compare with.
    measures
        What is read off each case of the sweep.
    functions
        Further figures, which are read off by Python.
    threads
        Of each run; ``None``: what the run takes by itself.
    ends_at_failure
        Whether the first run or measure that fails ends the sweep by its error, instead of
        becoming a record.
    """

    name: str
    sweep: Sweep
    cases: Mapping[str, PreparedCase]
    measures: Mapping[str, Mapping[str, Measure]]
    functions: Mapping[str, Figure] = field(default_factory=dict)
    threads: int | None = 1
    ends_at_failure: bool = False

    def others(self, case: str) -> list[str]:
        """Names of the cases that a case is compared with."""
        found = [m.to for m in self.measures[case].values() if m.to is not None]
        return [name for name in dict.fromkeys(found) if name != case]


@dataclass(frozen=True, slots=True)
class Job:
    """One case at one point, for one seed.

    Parameters
    ----------
    key
        Hash of all that determines what comes of it.
    case, point, seed
        What is run.
    runs
        Hashes of its own run and of those that it is compared with, by case.
    """

    key: str
    case: str
    point: Point
    seed: int | None
    runs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Record:
    """What came of a job.

    Parameters
    ----------
    key, case, point, seed
        Of the job; the point as it is shown.
    status
        ``"done"``; ``"failed"``: the run ended with an error; ``"unmeasured"``: measures could not
        be read off; ``"diverged"``: one is infinite or no number; ``"died"``: its process did;
        ``"safe state"``: a component went to it, and the measures are those of what followed.
    reason
        Why, unless it is done.
    measured
        What could be read off, by the measure's name.
    wall_seconds
        Of the whole run, with loading and initialisation.
    """

    key: str
    case: str
    point: Mapping[str, bool | float | str]
    seed: int | None
    status: str
    reason: str = ""
    measured: Mapping[str, Measured] = field(default_factory=dict)
    wall_seconds: float = 0.0

    @classmethod
    def of(cls, job: Job, status: str, reason: str = "", **rest: Any) -> Record:
        """Make the record of a job."""
        shown = {name: value.shown for name, value in job.point.items()}
        return cls(job.key, job.case, shown, job.seed, status, reason, **rest)

    @property
    def where(self) -> str:
        """Name its case, point and seed."""
        said = [f"{axis} = {value}" for axis, value in self.point.items()]
        said += [] if self.seed is None else [f"seed {self.seed}"]
        return f"{self.case} at {', '.join(said)}" if said else self.case

    @property
    def is_good(self) -> bool:
        """Whether the run did what it was asked for; a safe state is part of that."""
        return self.status in {"done", SAFE}
