"""Verdicts on measures and on signals, while rows come or when all are there, and their tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.diagnostics.validation import Time
from orchestrator.core.recording import Result
from orchestrator.core.structs import Struct
from orchestrator.core.system import seconds
from orchestrator.study.content import Cell, Section
from orchestrator.study.goal import Floats, Goal, signal_goal
from orchestrator.study.measure.outcome import Measured
from orchestrator.study.tables import Expectation

if TYPE_CHECKING:
    from orchestrator.core.master import Recording


class Verdict(Struct):
    """Result of an expectation.

    Parameters
    ----------
    name, requirement
        Of the expectation.
    where
        Case, and the point of a sweep.
    that
        What was expected.
    passed
        Whether it held; ``None``: it was not judged, and ``found`` says why.
    found
        In words.
    value, unit
        The measure; of a signal what lies farthest beyond the bound, or nearest to it. ``None``:
        there was nothing to look at.
    time
        When a signal broke it first, s.
    """

    name: str
    requirement: str
    where: str
    that: str
    passed: bool | None
    found: str
    value: float | None = None
    unit: str = ""
    time: float | None = None

    @property
    def word(self) -> str:
        """``"passed"``, ``"broken"`` or ``"not judged"``."""
        if self.passed is None:
            return "not judged"
        return "passed" if self.passed else "broken"

    def __str__(self) -> str:
        mark = f" [{self.requirement}]" if self.requirement else ""
        location = f", {self.where}" if self.where else ""
        return (
            f"expectation '{self.name}'{mark}{location}: {self.word}: expected {self.that},"
            f" found {self.found}"
        )

    __repr__ = __str__

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def case_section(case: str, verdicts: Sequence[Verdict]) -> Section:
    """Return the report section on the expectations of a case."""
    columns = ("expectation", "requirement", "expected", "found", "verdict")
    rows = tuple((v.name, v.requirement, v.that, v.found, v.word) for v in verdicts)
    data = [verdict.as_json() for verdict in verdicts]
    return Section(
        "expect",
        f"Expectations of {case}",
        columns,
        rows,
        printed=len(rows),
        data=data,
        value=tuple(verdicts),
    )


def sweep_section(name: str, verdicts: Mapping[str, Sequence[Verdict]]) -> Section:
    """Return the table of verdicts on the runs of a sweep, by their points."""
    columns = ("run", *dict.fromkeys(verdict.that for row in verdicts.values() for verdict in row))
    rows: list[tuple[Cell, ...]] = []
    for point, row in verdicts.items():
        words = {verdict.that: f"{verdict.word}: {verdict.found}" for verdict in row}
        rows.append((point, *(words.get(column) for column in columns[1:])))
    everything = [verdict for row in verdicts.values() for verdict in row]
    return Section(
        f"expect-sweep-{name}",
        f"Expectations of sweep {name}",
        columns,
        tuple(rows),
        printed=len(rows),
        data=[verdict.as_json() for verdict in everything],
        value=tuple(everything),
    )


def not_judged(goal: Goal, location: str, reason: str) -> Verdict:
    """Return the verdict on what could not be looked at, for some reason."""
    return Verdict(goal.name, goal.table.requirement, location, goal.that, None, reason)


def judge_measure(
    goal: Goal, measured: Measured | None, location: str, reason: str = ""
) -> Verdict:
    """Return the verdict on a measure; ``None``: it could not be read off, for some reason."""
    verdict = partial(Verdict, goal.name, goal.table.requirement, location, goal.that)
    if measured is None:
        return verdict(passed=False, found=f"none: {reason or 'it could not be evaluated'}")
    value, unit = np.array([measured.value]), goal.bound.unit
    return verdict(
        passed=bool(goal.bound.holds(value, goal.bound.centre)[0]),
        found=_text(measured.value, unit),
        value=measured.value if np.isfinite(measured.value) else None,
        unit=unit,
    )


@dataclass(slots=True)
class SignalJudge:
    """Compares a signal with its expectation, row by row.

    goal: Of a signal.
    broken_ns: Time of the first row that breaks it.
    """

    goal: Goal
    broken_ns: int | None = None
    _first: float = 0.0
    _worst: tuple[float, float, int] | None = None
    _begins_ns: int | None = field(init=False)
    _uncovered: bool = False

    def __post_init__(self) -> None:
        self._begins_ns = None if self.goal.after else np.iinfo(np.int64).min
        if self.goal.begin_ns is not None and self.goal.after is None:
            self._begins_ns = self.goal.begin_ns

    def add(self, rows: Result | Recording) -> None:
        """Look at further rows."""
        goal, bound, times_ns = self.goal, self.goal.bound, rows.time_ns
        if self._begins_ns is None:
            self._begins_ns = self._triggered(rows)
        if self._begins_ns is None or not len(times_ns):
            return
        if self._begins_ns == np.iinfo(np.int64).min:
            self._begins_ns = int(times_ns[0])
        inside = times_ns >= self._begins_ns + goal.settles_ns
        if goal.until_ns is not None:
            inside &= times_ns <= goal.until_ns
        if not inside.any():
            return
        times_ns, values = times_ns[inside], _column(rows, bound.name)[inside]
        centre: Floats | float = bound.centre
        if goal.reference is not None:
            covered = goal.reference.times_ns
            self._uncovered |= bool(times_ns[0] < covered[0] or times_ns[-1] > covered[-1])
            centre = np.interp(times_ns, covered, goal.reference.values)
        broken = ~bound.holds(values, centre)
        if broken.any() and self.broken_ns is None:
            row = int(np.argmax(broken))
            self.broken_ns, self._first = int(times_ns[row]), float(values[row])
        excess = bound.excess(values, centre)
        row = int(np.argmax(np.where(np.isnan(excess), np.inf, excess)))
        if self._worst is None or not excess[row] <= self._worst[0]:
            self._worst = float(excess[row]), float(values[row]), int(times_ns[row])

    def _triggered(self, rows: Result | Recording) -> int | None:
        """Return the time of the first row in which what begins the window holds."""
        after = self.goal.after
        assert after is not None  # noqa: S101 - else the window has begun
        holds = after.holds(_column(rows, after.name), after.centre)
        if self.goal.begin_ns is not None:
            holds &= rows.time_ns >= self.goal.begin_ns
        return int(rows.time_ns[int(np.argmax(holds))]) if holds.any() else None

    def verdict(self, location: str) -> Verdict:
        """Return what is known by now; a window without rows shows nothing, and is broken."""
        goal, unit, table = self.goal, self.goal.bound.unit, self.goal.table
        verdict = partial(Verdict, goal.name, table.requirement, location, goal.that)
        if self._worst is None:
            reason = "no recorded row in its window"
            if self._begins_ns is None:
                reason = f"'{table.after}' in no row"
            return verdict(passed=False, found=reason)
        _, value, at_ns = self._worst
        worst = f"at worst {_text(value, unit)} at {seconds(at_ns):.9g} s"
        if self.broken_ns is not None:
            first = f"{_text(self._first, unit)} at {seconds(self.broken_ns):.9g} s"
            worst = first if at_ns == self.broken_ns else f"{first}, {worst}"
        elif self._uncovered:
            worst = f"rows of which {table.reference} has no values"
        return verdict(
            passed=self.broken_ns is None and not self._uncovered,
            found=worst,
            value=value if np.isfinite(value) else None,
            unit=unit,
            time=None if self.broken_ns is None else seconds(self.broken_ns),
        )


def judge(
    result: Result,
    that: str,
    *,
    begin: Time | None = None,
    until: Time | None = None,
    after: str | None = None,
    settles: Time | None = None,
    reference: str | Path | None = None,
    name: str = "",
    requirement: str = "",
) -> Verdict:
    """Judge a recorded signal by an expectation, in all rows of a window.

    Parameters
    ----------
    result
        Result of a run.
    that
        ``"contact.force < 50 N"``, with ``<``, ``<=``, ``>`` or ``>=``; ``"body.x within 1 mm of
        3 cm"``; or ``"body.x within 1 mm"`` with a reference. Units are converted.
    begin, until
        Ends of the window: seconds, or text with a unit.
    after
        A statement on another signal; the window begins with the first row in which it holds.
    settles
        Time by which the begin of the window is delayed.
    reference
        A file of signals (CSV or Parquet); its column with the name of the signal is the reference.
    name, requirement
        Name and requirement that the verdict shows.

    Returns
    -------
    Verdict
        ``passed`` (``None``: not judged) and ``found``, the deciding value in words.

    Raises
    ------
    DescriptionError
        If a signal was not recorded, a statement cannot be read, or a unit does not fit.
    """
    from pydantic import ValidationError

    settings = {"begin": begin, "until": until, "after": after, "settles": settles}
    try:
        table = Expectation(
            that=that,
            requirement=requirement,
            reference=None if reference is None else str(reference),
            **settings,
        )
    except ValidationError as error:
        raise DescriptionError(*(str(detail["msg"]) for detail in error.errors())) from None

    def unit_of(signal: str) -> str:
        result[signal]  # expects that it was recorded
        return result.units.get(signal, "")

    judged = SignalJudge(signal_goal(name or that, table, that, unit_of, Path()))
    judged.add(result)
    return judged.verdict(f"case '{result.name}'")


def _column(rows: Result | Recording, name: str) -> Floats:
    return rows.values[:, rows.names.index(name)]


def _text(value: float, unit: str) -> str:
    return f"{value:.9g} {unit}".rstrip() if unit != "1" else f"{value:.9g}"
