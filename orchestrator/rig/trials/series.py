"""A series of trials, several of them at a time, and its table."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from orchestrator.rig.trials.judge import Outcome
from orchestrator.rig.trials.runner import TrialRig
from orchestrator.rig.trials.trial import FULL_DISK, Trial

COLUMNS = (
    "fault",
    "detected by",
    "reaction",
    "to detect [ms]",
    "to rest [ms]",
    "path",
    "step",
    "force [N]",
    "velocity [m/s]",
    "within limits",
    "recorded until [s]",
    "exit code",
    "sentence",
)
#: What a small length is told in.
_SMALLER = {"m": (1e3, "mm"), "rad": (1e3, "mrad")}


def row_of(outcome: Outcome) -> list[str]:
    """Return the cells of a trial."""
    reaction = outcome.reaction
    counted = ", ".join(f"{count} {kind}" for kind, count in outcome.counts.items())
    detected = f"{reaction.reason} ({reaction.where})" if reaction.reason else ""
    if not detected and outcome.exit_code > 0:
        detected = "the run"
    return [
        outcome.trial.name,
        detected or (f"counted: {counted}" if counted else "nothing"),
        " > ".join(reaction.states) or reaction.state or _ended(outcome),
        _milliseconds(outcome.detect_s),
        _milliseconds(outcome.rest_s) if _is_stopped(outcome) else "-",
        _lengths(outcome.path),
        _lengths(outcome.step),
        "-" if math.isnan(outcome.force) else f"{outcome.force:.1f}",
        "-" if math.isnan(outcome.velocity) else f"{outcome.velocity:.4f}",
        "yes" if outcome.within else "NO",
        "nothing" if math.isnan(outcome.recorded_s) else f"{outcome.recorded_s:.3f}",
        str(outcome.exit_code),
        outcome.sentence,
    ]


def sound(row: Sequence[str]) -> bool:
    """Whether limits were kept, and what was recorded can be read, by the cells of a trial.

    On a disk that is full before the first part is written nothing can be.
    """
    cells = dict(zip(COLUMNS, row, strict=True))
    kept = cells["recorded until [s]"] != "nothing" or cells["fault"] == FULL_DISK
    return cells["within limits"] == "yes" and kept


def _is_stopped(outcome: Outcome) -> bool:
    return bool(outcome.reaction.reason) or outcome.exit_code != 0


def _ended(outcome: Outcome) -> str:
    if outcome.exit_code < 0:
        return "the run is gone"
    return "the run ends" if outcome.exit_code else "goes on"


def _lengths(found: Mapping[str, float]) -> str:
    """Return lengths by unit in words, the small ones in thousandths."""
    told = []
    for unit, value in found.items():
        factor, name = _SMALLER.get(unit, (1.0, unit))
        told += [f"{value * factor:.3g} {name}"] if value else []
    return ", ".join(told) or ("0" if found else "-")


def _milliseconds(seconds: float) -> str:
    return "-" if math.isnan(seconds) else f"{seconds * 1e3:.0f}"


#: What start and end of a trial take beside its run on a quiet machine, s: four to six
#: interpreters, and the FMUs of the system.
_BESIDE_S = 5.0
_NAME = "outcome.json"


class Series:
    """Trials of a rig, of which some may have been done before.

    rig: Runs them.
    trials: In their order.
    mark: What the trials depend on: rows with another mark are not read back.
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
