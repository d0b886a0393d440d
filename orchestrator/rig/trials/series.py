"""A series of trials: what it will take, what was done before, several of them at a time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from orchestrator.rig.trials.runner import TrialRig
from orchestrator.rig.trials.table import COLUMNS, row_of
from orchestrator.rig.trials.trial import Trial

#: What start and end of a trial take beside its run on a quiet machine, s: four to six
#: interpreters, and the FMUs of the system.
_BESIDE_S = 5.0
_NAME = "outcome.json"


class Series:
    """Trials of a rig, of which some may have been done before.

    Parameters
    ----------
    rig
        Runs them.
    trials
        In their order.
    mark
        What the trials depend on: rows with another mark are not read back.
    """

    def __init__(self, rig: TrialRig, trials: Sequence[Trial], mark: str) -> None:
        self._rig, self._trials, self._mark = rig, trials, mark
        known = {trial.name: self._read(trial) for trial in trials}
        #: Cells of the trials that are done, by name.
        self.rows = {name: row for name, row in known.items() if row is not None}

    @property
    def left(self) -> list[Trial]:
        """Those that are not done."""
        return [trial for trial in self._trials if trial.name not in self.rows]

    def seconds(self, jobs: int) -> float:
        """Return what the rest will take on a quiet machine, so many at a time."""
        each = [self._rig.seconds(trial) + _BESIDE_S for trial in self.left]
        return max(sum(each) / jobs, max(each, default=0.0))

    def run(self, jobs: int, tell: Callable[[list[str]], None]) -> Iterator[list[str]]:
        """Run the rest; return the cells of all in their order."""
        with ThreadPoolExecutor(jobs) as pool:
            going = {pool.submit(self._run, trial): trial for trial in self.left}
            try:
                for done in as_completed(going):
                    self.rows[going[done].name] = done.result()
                    tell(done.result())
            except BaseException:
                pool.shutdown(cancel_futures=True)  # those that go on come to their end
                raise
        return (self.rows[trial.name] for trial in self._trials)

    def _run(self, trial: Trial) -> list[str]:
        row = row_of(self._rig.run(trial))
        told = {"mark": self._mark, "row": dict(zip(COLUMNS, row, strict=True))}
        text = json.dumps(told, indent=2)
        file = self._rig.folder(trial) / _NAME
        file.with_suffix(".new").write_text(text, encoding="utf-8")
        file.with_suffix(".new").rename(file)
        return row

    def _read(self, trial: Trial) -> list[str] | None:
        try:
            told = json.loads((self._rig.folder(trial) / _NAME).read_text(encoding="utf-8"))
            return [str(told["row"][c]) for c in COLUMNS] if told["mark"] == self._mark else None
        except (OSError, ValueError, KeyError, TypeError):
            return None


def mark_of(experiment: Path, case: str, lead_s: float) -> str:
    """Return what stands for the rig of a series: its file, the case, when the faults come."""
    found = hashlib.sha256(experiment.read_bytes())
    found.update(f"{case} {lead_s!r} {COLUMNS}".encode())
    return found.hexdigest()
