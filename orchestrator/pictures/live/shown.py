"""The run that viewers see: cases with their samples and their data so far."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from orchestrator.core.coupling import LoopDelay, Mark, Tuned
from orchestrator.core.diagnostics import DescriptionError, SoftdockError
from orchestrator.core.recording import Result
from orchestrator.core.structs import MutableStruct, field
from orchestrator.pictures.live.messages import (
    BUCKETS_US,
    CHECK,
    SET,
    WISHES,
    Answered,
    Intervals,
    RecordedRows,
    SampleFinder,
    Times,
    Wish,
)
from orchestrator.pictures.live.rig_view import RigView, operator_of
from orchestrator.pictures.panels import default_plots, panels_of, signal_plot
from orchestrator.pictures.report import PlotData
from orchestrator.study import Section

if TYPE_CHECKING:
    from orchestrator.core.system import System
    from orchestrator.pictures.drawing import Facts

_STEERED = ("running", "standing")
#: Outputs of devices about their samples, besides measurements.
_COUNTS = {
    "sample_age", "lost", "late", "repeated", "malformed", "restarts", "clamped", "valid",
    "samples", "command_taken", "commands_missed",
}  # fmt: skip
#: s, in which a run answers a wish, and in which a value is set: less than a viewer waits.
_ANSWER, _SETTING = 30.0, 80.0


def loops_section(loops: Iterable[LoopDelay]) -> Section:
    """Return the delay of loops, as it is planned."""
    rows = tuple(
        (loop.path, loop.physical_ns / 1e6, loop.numerical_ns / 1e6, loop.total_ns / 1e6)
        for loop in loops
    )
    columns = ("loop", "declared [ms]", "added by the step [ms]", "total [ms]")
    return Section("loops", "Delay of the loops", columns, rows)


def signals_of(result: Result) -> dict[str, Any]:
    """Return names, units and figures of the signals of a run; what devices count comes last."""
    values = result.values[:1]
    short = replace(result, time_ns=result.time_ns[:1], values=values, clock_ns=None)
    counts = [name for name in result.names if name.rpartition(".")[2] in _COUNTS]
    others = [name for name in result.names if name not in set(counts)]
    plots = [plot for plot, _ in default_plots(short.part(others, 1)).values()]
    if counts:
        plots.append(signal_plot(short, "What devices count", panels_of(short, counts)))
    figures = PlotData(plots).as_json()["figures"]
    return {"names": result.names, "units": result.units, "figures": figures}


class ShownCase(MutableStruct):
    """A case as viewers see it.

    name, title: Of the case.
    facts: Plain data for the page: ``diagram``, ``signals``.
    state: ``"prepared"``, ``"running"``, ``"standing"``, ``"ended"`` or ``"recorded"``.
    stop_ns: Time that its steps lead to; ``None``: nobody knows.
    factor: Simulated over wall time, if it keeps to that.
    rig: Rig whose supervisor answers; empty: there is none.
    margin_s: Least delay margin by which the rig was armed, s.
    samples: Its rows, as soon as there are some.
    complete_rows: How many of them will not change any more.
    counts: Of the shared rows.
    intervals, clocks_ns: Between them, and when each was written, in real time.
    is_steered: Whether viewers may let it stand, step and end.
    requested_ns: Of the shared rows: lets a run in real time look for wishes.
    has_devices, again, unknown: Whether it is tuned by the consent of a supervisor; and what
        computes its margins with other values, pickled, or why nothing does.
    granted: What was granted so far, as text by name.
    done: What was changed and marked, with its time, ns.
    sections, remarks: What is known so far; ``version`` counts how often that changed.
    """

    name: str
    title: str
    facts: dict[str, Any]
    state: str = "prepared"
    stop_ns: int | None = None
    factor: float | None = None
    rig: str = ""
    margin_s: float | None = None
    samples: SampleFinder | None = None
    complete_rows: Callable[[], int] = lambda: 0
    counts: Sequence[int] | Times = ()
    intervals: Intervals | None = None
    clocks_ns: Times | None = None
    is_steered: bool = False
    requested_ns: Times | None = None
    has_devices: bool = False
    again: bytes = b""
    unknown: str = ""
    granted: dict[str, str] = field(default_factory=dict)
    done: list[dict[str, Any]] = field(default_factory=list)
    sections: Sequence[Section] = ()
    remarks: Sequence[str] = ()
    version: int = 0

    def complete_samples(self) -> SampleFinder | None:
        """Return its samples, up to the last that is whole."""
        if self.samples is not None:
            complete_rows = self.complete_rows()
            self.samples.grow(complete_rows)
            if self.intervals is not None:
                self.intervals.grow(complete_rows)
        return self.samples

    @property
    def age_s(self) -> float | None:
        """How long ago its newest row was written; ``None``: it is not in real time, or over."""
        if (
            self.clocks_ns is None
            or self.state != "running"
            or (complete_rows := self.complete_rows()) < 1
        ):
            return None
        return (time.monotonic_ns() - int(self.clocks_ns[complete_rows - 1])) / 1e9

    def add(self, event: Tuned | Mark) -> None:
        """Let something that was done to the run be known, and what is so since."""
        kind = "mark" if isinstance(event, Mark) else "set"
        self.done.append({"kind": kind, "text": str(event), **asdict(event)})
        self.version += 1

    def say(self, sections: Sequence[Section], remarks: Sequence[str]) -> None:
        """Let this be all that is known."""
        self.sections, self.remarks = sections, remarks
        self.version += 1


class _Setting(MutableStruct):
    """A value that is being set.

    is_given_up: The viewer was informed that nothing changes.
    is_sent: The run has it, and will answer.
    """

    wish: Wish
    answer: SimpleQueue[Answered] = field(default_factory=SimpleQueue)
    is_given_up: bool = False
    is_sent: bool = False

    def expect_wanted(self) -> None:
        """Expect that somebody still waits for it."""
        if self.is_given_up:
            raise DescriptionError(f"{self.wish.name}: nobody waits for it any more")


def _granted(
    case: ShownCase,
    wish: Wish,
    changed: Mapping[str, str],
    values: Sequence[str],
    setting: _Setting,
) -> str:
    """Return by which margins a rig may be tuned so, by its supervisor's word, or say why not.

    They are those with the least delay margin of the value and of others on the way to it.
    """
    setting_text = f"{wish.name} = {wish.text}"
    if not case.rig:
        raise DescriptionError(
            f"{setting_text} is refused: no supervisor of the devices could consent"
        )
    if not case.again:
        raise DescriptionError(f"{setting_text} is refused: {case.unknown}")
    compute = pickle.loads(case.again)  # noqa: S301 - of the run that started us
    armings = []
    for text in (wish.text, *values):
        setting.expect_wanted()
        armings.append(arming := compute({**changed, wish.name: text}))
        if not arming.is_granted:
            there = "" if text == wish.text else f" on its way, at {text}"
            raise DescriptionError(f"{setting_text} is refused{there}: {arming.refusal()}")
    arming = min(armings, key=lambda table: table.delay_margin)
    margins = {table.line.rpartition("-> ")[2]: table.as_json() for table in arming.tables}
    setting.is_sent = True
    setting.expect_wanted()
    with operator_of(case.rig) as operator:
        answer = operator.wish("tune", what=setting_text, margins=margins)
    if "refused" in answer:
        raise DescriptionError(
            f"{setting_text}: the supervisor of '{case.rig}': {answer['refused']}"
        )
    return f"granted with {arming.smallest_margins}"


class Shown(MutableStruct):
    """All that viewers may ask for; several threads do.

    title: Of the page.
    cases: In their order; the last is the present one.
    recorded: Whether it is a recording, which is played, and not a run that goes on.
    ended: Why nothing more will come; empty while it may.
    grant: Passes a wish of a viewer on to the run.
    """

    title: str
    cases: list[ShownCase] = field(default_factory=list)
    recorded: bool = False
    ended: str = ""
    grant: Callable[[Wish], None] = lambda _wish: None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    rig: RigView = field(default_factory=RigView)
    _number: int = 0
    _waiting: dict[int, SimpleQueue[Answered]] = field(default_factory=dict)
    _asking: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_asked(self) -> bool:
        """Whether somebody waits for an answer of the run."""
        return bool(self._waiting)

    def end(self, reason: str) -> None:
        """Nothing more will come: answer all waiting requests."""
        self.ended = reason
        self._answer_all(f"the run is over: {reason}")

    def state(self, viewer: str = "") -> dict[str, Any]:
        """Return what changes, as a viewer sees it."""
        name = self.cases[-1].rig if self.cases else ""
        rig = self.rig.status(name, viewer) if name else None
        with self._lock:
            return {
                "title": self.title,
                "recorded": self.recorded,
                "ended": self.ended,
                "cases": [self._case(case) for case in self.cases],
                "rig": rig,
            }

    def _case(self, case: ShownCase) -> dict[str, Any]:
        content: dict[str, Any] = {
            "name": case.name,
            "title": case.title,
            "state": case.state,
            "version": case.version,
            "stop_ns": case.stop_ns,
            "factor": case.factor,
            "age_s": case.age_s,
            "margin_s": case.margin_s,
            "steered": case.is_steered and case.state in _STEERED,
            "tuned": case.state in _STEERED and not self.ended,
        }
        if (samples := case.complete_samples()) is not None:
            content |= {"begin_ns": samples.begin_ns, "end_ns": samples.end_ns}
            content["rows"] = samples.count
        if case.factor is not None and len(case.counts):
            names = ("overruns", "late_ns", "computed_ns", "longest_late_ns")
            content["timing"] = dict(zip(names, map(int, case.counts), strict=True))
            if case.intervals is not None:
                content["timing"]["away"] = case.intervals.counts
                content["timing"]["ends_us"] = BUCKETS_US
        return content

    def wish(self, wish: str) -> None:
        """Let the run have what a viewer wishes."""
        with self._lock:
            if wish not in WISHES:
                raise DescriptionError(f"expected one of {', '.join(WISHES)}")
            if not self.cases or not self._case(self.cases[-1])["steered"]:
                raise DescriptionError("this run is not steered by viewers")
            self.grant(Wish(wish, self.cases[-1].name))

    def operate(self, wish: str, viewer: str = "") -> None:
        """Let the supervisor of the present case have a wish of a viewer."""
        rig = self.cases[-1].rig if self.cases else ""  # no lock: a stop waits for nobody
        if not rig:
            raise DescriptionError("this run has no supervisor")
        self.rig.operate(rig, wish, viewer)

    def ask(self, wish: Wish) -> None:
        """Let the run do something between two steps; what it refuses is raised.

        Values are set one at a time, as each is granted by what is so before it. Whoever waits too
        long for another, or for margins, is told so, and nothing is changed.
        """
        with self._lock:
            case = self._steps()
            if case.rig and ((rows := case.complete_samples()) is None or rows.count <= 1):
                raise DescriptionError("the run waits for its rig: engage that first")
        if wish.request != SET:
            self._send(wish, case)
            return
        if not self._asking.acquire(timeout=_ANSWER):
            raise DescriptionError(
                f"{wish.name} = {wish.text}: other values that were asked for before are still"
                " being set: ask again"
            )
        setting = _Setting(wish)
        with self._waits(setting.answer):
            threading.Thread(target=self._set, args=(setting, case), daemon=True).start()
            self._answer_to(setting.answer, _SETTING, setting)

    def _steps(self) -> ShownCase:
        """Return the present case, which is expected to step."""
        case = self.cases[-1] if self.cases else None
        if self.ended or case is None or case.state not in _STEERED:
            over = self.ended or (case is not None and case.state == "ended")
            when = "is over" if over else "has not begun its steps"
            raise DescriptionError(f"the run {when}: it is tuned and marked while it steps")
        return case

    def _set(self, setting: _Setting, case: ShownCase) -> None:
        """Set a value, and answer whoever waits for it."""
        wish, refused = setting.wish, ""
        try:
            if case.has_devices:
                values = self._send(replace(wish, request=CHECK), case)
                changed = {name: text for name, text in case.granted.items() if name != wish.name}
                changed[wish.name] = wish.text
                granted = _granted(case, wish, changed, values, setting)
                self._send(replace(wish, granted=granted), case)
                case.granted = changed
            else:
                self._send(wish, case)
        except SoftdockError as error:
            refused = str(error)
        except Exception as error:  # noqa: BLE001 - whatever it is, the viewer receives the error
            refused = f"{type(error).__name__}: {error}"
        finally:
            self._asking.release()
            setting.answer.put(Answered(0, refused))

    @contextmanager
    def _waits(self, answer: SimpleQueue[Answered]) -> Iterator[int]:
        """Register a waiting request; return the number that its answer repeats."""
        with self._lock:
            self._number += 1
            number = self._number
            self._waiting[number] = answer
        try:
            yield number
        finally:
            del self._waiting[number]

    def _send(self, wish: Wish, case: ShownCase) -> Sequence[str]:
        """Send a wish to the run, and expect that it grants it; return values on the way."""
        answer: SimpleQueue[Answered] = SimpleQueue()
        with self._waits(answer) as number:
            with self._lock:
                if self._steps() is not case:
                    raise DescriptionError(f"case '{case.name}' is over")
                try:
                    self.grant(replace(wish, case=case.name, number=number))
                except OSError:
                    raise DescriptionError("the run is gone") from None
                if case.requested_ns is not None:
                    case.requested_ns[0] += 1
            return self._answer_to(answer, _ANSWER).values

    def _answer_to(
        self, answer: SimpleQueue[Answered], seconds: float, setting: _Setting | None = None
    ) -> Answered:
        try:
            reply = answer.get(timeout=seconds)
        except Empty:
            if setting is not None and setting.is_sent and seconds > _ANSWER:
                return self._answer_to(answer, _ANSWER, setting)
            cause = "a step of it takes that long"
            if setting is not None:
                setting.is_given_up = True
                cause = "the machine is busy, and nothing was changed"
            raise DescriptionError(f"there was no answer within {seconds:g} s: {cause}") from None
        if reply.refused:
            if setting is not None:
                setting.is_given_up = True  # where the run ended meanwhile
            raise DescriptionError(reply.refused)
        return reply

    def answered(self, answer: Answered) -> None:
        """Take what became of a wish."""
        if (waiting := self._waiting.get(answer.number)) is not None:
            waiting.put(answer)

    def over(self, case: str) -> None:
        """Nobody answers any more, as the steps of a case are over."""
        self._answer_all(f"case '{case}' is over")

    def _answer_all(self, reason: str) -> None:
        for number, waiting in list(self._waiting.items()):
            waiting.put(Answered(number, reason))

    def case(self, number: int) -> dict[str, Any]:
        """Return the data of a case besides its samples."""
        with self._lock:
            case = self._numbered(number)
            plots = [plot for section in case.sections for plot, _ in section.plots.values()]
            return case.facts | {
                "version": case.version,
                "sections": [
                    {
                        "heading": section.heading,
                        "columns": section.columns,
                        "rows": section.rows,
                        "note": section.note,
                        "remarks": [*section.remarks, *section.lines],
                    }
                    for section in case.sections
                    if section.columns
                ],
                "plots": PlotData(plots).as_json() if plots else None,
                "captions": [
                    text for section in case.sections for _, text in section.plots.values()
                ],
                "remarks": list(case.remarks),
                "done": case.done,
            }

    @contextmanager
    def samples(self, number: int) -> Iterator[SampleFinder]:
        """Give the samples of a case, while nobody else looks for some."""
        with self._lock:
            case = self._numbered(number)
            if (samples := case.complete_samples()) is None:
                raise DescriptionError(f"case '{case.name}' has no samples yet")
            yield samples

    def columns(self, number: int) -> int:
        """Return how many signals a case has."""
        return len(self._numbered(number).facts["signals"]["names"])

    def _numbered(self, number: int) -> ShownCase:
        if not 0 <= number < len(self.cases):
            raise DescriptionError(f"expected a case from 0 to {len(self.cases) - 1}")
        return self.cases[number]


def replayed(result: Result, diagram_parts: tuple[System, Facts] | None = None) -> Shown:
    """Return what viewers see of a recording, with the diagram of a system if that is known."""
    if not len(result.time_ns):
        raise DescriptionError(f"recording '{result.name}' has no rows: there is nothing to play")
    from orchestrator.pictures.diagram import live_diagram

    rows = RecordedRows(result.time_ns, result.values)
    diagram = None if diagram_parts is None else live_diagram(*diagram_parts, result.name)
    case = ShownCase(
        result.name,
        result.name,
        {"diagram": diagram, "signals": signals_of(result)},
        state="recorded",
        samples=SampleFinder(result.time_ns[:0], result.values[:0], rows),
        complete_rows=lambda: len(result.time_ns),
    )
    loops = loops_section(result.loops if diagram_parts is None else diagram_parts[1].loops)
    events: list[Tuned | Mark] = [*result.tuned, *result.marks]
    for event in sorted(events, key=lambda event: event.step):
        case.add(event)
    case.say([loops] if loops.rows else [], result.remarks)
    return Shown(result.name, [case], recorded=True)
