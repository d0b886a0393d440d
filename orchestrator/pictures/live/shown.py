"""What viewers are shown: cases with their samples, and what is known of them so far."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from orchestrator.core.coupling import LoopDelay
from orchestrator.core.diagnostics import DescriptionError, DeviceError
from orchestrator.core.recording import Result
from orchestrator.core.wings import of_wing
from orchestrator.pictures.default_plots import default_plots
from orchestrator.pictures.live.messages import WISHES
from orchestrator.pictures.live.samples import BUCKETS_US, Intervals, Samples, Stretch, Times
from orchestrator.pictures.report import PlotData
from orchestrator.study import Section

_STEERED = ("running", "standing")
#: s, between two questions to a supervisor.
_ASK = 0.2


def table(section: Section) -> dict[str, Any]:
    """Return a section as plain data."""
    return {
        "heading": section.heading,
        "columns": section.columns,
        "rows": section.rows,
        "note": section.note,
        "remarks": [*section.remarks, *section.lines],
    }


def loops_section(loops: Iterable[LoopDelay]) -> Section:
    """Return the delay of loops, as it is planned."""
    rows = tuple(
        (one.path, one.physical_ns / 1e6, one.numerical_ns / 1e6, one.total_ns / 1e6)
        for one in loops
    )
    columns = ("loop", "declared [ms]", "added by the step [ms]", "total [ms]")
    return Section("loops", "Delay of the loops", columns, rows)


def signals_of(result: Result) -> dict[str, Any]:
    """Return what a page is told of the signals of a run: names, units, and figures of them."""
    values = result.values[:1]
    short = replace(result, time_ns=result.time_ns[:1], values=values, clock_ns=None)
    plots = [plot for plot, _ in default_plots(short).values()]
    figures = PlotData(plots).as_json()["figures"]
    return {"names": result.names, "units": result.units, "figures": figures}


@dataclass(slots=True)
class Case:
    """A case as viewers see it.

    Parameters
    ----------
    name, title
        Of the case.
    about
        Plain data for the page: ``diagram``, ``signals``.
    state
        ``"prepared"``, ``"running"``, ``"standing"``, ``"ended"`` or ``"recorded"``.
    stop_ns
        Time that its steps lead to; ``None``: nobody knows.
    factor
        Simulated over wall time, if it keeps to that.
    rig
        Whose supervisor is asked; empty: there is none.
    samples
        Its rows, as soon as there are some.
    whole
        How many of them will not change any more.
    told
        Of the shared rows.
    intervals
        Between them, in real time.
    is_steered
        Whether viewers may let it stand, step and end.
    sections, remarks
        What is known so far; ``version`` counts how often that changed.
    """

    name: str
    title: str
    about: dict[str, Any]
    state: str = "prepared"
    stop_ns: int | None = None
    factor: float | None = None
    rig: str = ""
    samples: Samples | None = None
    whole: Callable[[], int] = lambda: 0
    told: Sequence[int] | Times = ()
    intervals: Intervals | None = None
    is_steered: bool = False
    sections: Sequence[Section] = ()
    remarks: Sequence[str] = ()
    version: int = 0

    def known(self) -> Samples | None:
        """Return its samples, up to the last that is whole."""
        if self.samples is not None:
            whole = self.whole()
            self.samples.grow(whole)
            if self.intervals is not None:
                self.intervals.grow(whole)
        return self.samples

    def say(self, sections: Sequence[Section], remarks: Sequence[str]) -> None:
        """Let this be all that is known."""
        self.sections, self.remarks = sections, remarks
        self.version += 1


@dataclass(slots=True)
class Shown:
    """All that viewers may ask for; several threads do.

    Parameters
    ----------
    title
        Of the page.
    cases
        In their order; the last is the present one.
    recorded
        Whether it is a recording, which is played, and not a run that goes on.
    ended
        Why nothing more will come; empty while it may.
    grant
        Passes a wish of a viewer on to the run.
    """

    title: str
    cases: list[Case] = field(default_factory=list)
    recorded: bool = False
    ended: str = ""
    grant: Callable[[str], None] = lambda _wish: None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _rig: dict[str, Any] | None = None
    _asked: float = -math.inf
    _operator: Any = None

    def state(self) -> dict[str, Any]:
        """Return what changes."""
        with self._lock:
            return {
                "title": self.title,
                "recorded": self.recorded,
                "ended": self.ended,
                "cases": [self._case(one) for one in self.cases],
                "rig": self._status(),
            }

    def _case(self, case: Case) -> dict[str, Any]:
        found: dict[str, Any] = {
            "name": case.name,
            "title": case.title,
            "state": case.state,
            "version": case.version,
            "stop_ns": case.stop_ns,
            "factor": case.factor,
            "steered": case.is_steered and case.state in _STEERED,
        }
        if (samples := case.known()) is not None:
            found |= {"begin_ns": samples.begin_ns, "end_ns": samples.end_ns}
            found["rows"] = samples.count
        if case.factor is not None and len(case.told):
            names = ("overruns", "late_ns", "computed_ns", "longest_late_ns")
            found["timing"] = dict(zip(names, map(int, case.told), strict=True))
            if case.intervals is not None:
                found["timing"]["away"] = case.intervals.counts
                found["timing"]["ends_us"] = BUCKETS_US
        return found

    def _status(self) -> dict[str, Any] | None:
        """Return what the supervisor of the present case says; nothing if it cannot be reached."""
        rig = self.cases[-1].rig if self.cases else ""
        if not rig:
            return None
        if time.monotonic() - self._asked >= _ASK:
            self._asked = time.monotonic()
            try:
                self._operator = self._operator or of_wing("rig.operator")(rig)
                self._rig = self._operator.wish("status")
            except DeviceError:
                self._rig = self._operator = None
        return self._rig

    def wish(self, wish: str) -> None:
        """Let the run have what a viewer wishes."""
        with self._lock:
            if wish not in WISHES:
                raise DescriptionError(f"expected one of {', '.join(WISHES)}")
            if not self.cases or not self._case(self.cases[-1])["steered"]:
                raise DescriptionError("this run is not steered by viewers")
            self.grant(wish)

    def case(self, number: int) -> dict[str, Any]:
        """Return what is known of a case beside its samples."""
        with self._lock:
            case = self._numbered(number)
            plots = [plot for one in case.sections for plot, _ in one.plots.values()]
            return case.about | {
                "version": case.version,
                "sections": [table(one) for one in case.sections if one.columns],
                "plots": PlotData(plots).as_json() if plots else None,
                "captions": [text for one in case.sections for _, text in one.plots.values()],
                "remarks": list(case.remarks),
            }

    def stretch(
        self, number: int, begin_ns: int, end_ns: int, columns: Sequence[int], most: int
    ) -> Stretch:
        """Return samples of a case; see :meth:`Samples.between`."""
        with self._lock:
            return self._samples(number).between(begin_ns, end_ns, columns, most)

    def row(self, number: int, time_ns: int) -> tuple[int, Any]:
        """Return a row of a case; see :meth:`Samples.at`."""
        with self._lock:
            return self._samples(number).at(time_ns)

    def columns(self, number: int) -> int:
        """Return how many signals a case has."""
        return len(self._numbered(number).about["signals"]["names"])

    def _samples(self, number: int) -> Samples:
        case = self._numbered(number)
        if (samples := case.known()) is None:
            raise DescriptionError(f"case '{case.name}' has no samples yet")
        return samples

    def _numbered(self, number: int) -> Case:
        if not 0 <= number < len(self.cases):
            raise DescriptionError(f"expected a case from 0 to {len(self.cases) - 1}")
        return self.cases[number]
