"""The machine that walks the table of transitions: what is latched, armed, refused, written."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.core.diagnostics import Reason
from orchestrator.core.structs import Struct
from orchestrator.rig.supervisor.limits import WatchedLimit
from orchestrator.rig.supervisor.states import (
    FOLLOWING,
    TRANSITIONS,
    Check,
    Event,
    Guard,
    State,
    Transition,
    holds,
)


class FoundCause(Struct):
    """A cause that was found.

    reason: Which.
    location: Device or signal, in words.
    time_ns: When it was found, CLOCK_MONOTONIC.
    figures: What was found, in words.
    """

    reason: Reason
    location: str
    time_ns: int
    figures: str = ""

    def __str__(self) -> str:
        figures = f" ({self.figures})" if self.figures else ""
        return f"{self.location}: {self.reason.text}{figures}"


class Change(Struct):
    """One transition that happened, or a second cause that was latched where it leads nowhere.

    time_ns: When.
    before, after: The states.
    event: What brought it about.
    fault: The cause, if it was one.
    by: Which operator asked for it, if one did.
    """

    time_ns: int
    before: State
    after: State
    event: Event
    fault: FoundCause | None = None
    by: str = ""


class RefusedWish(Exception):  # noqa: N818 # an answer to an operator, not an error of the program
    """An operator's wish that is not granted; its text says why."""


_SECOND = 1_000_000_000


class Machine:
    """State, latched faults, and the two steps of arming, by the table and nothing else.

    reactions: Event of each reason; what is not there is a :attr:`Event.FAULT`.
    confirm_ns: How long the first step of arming holds.
    rest_ns: After how long a stop is overdue.
    """

    def __init__(self, reactions: Mapping[Reason, Event], confirm_ns: int, rest_ns: int) -> None:
        self.state = State.OFF
        self.since_ns = 0
        #: Causes in the order in which they were found, until a reset.
        self.latched: list[FoundCause] = []
        #: Causes that are there now, by where they are; they refuse a reset.
        self.present: dict[tuple[Reason, str], FoundCause] = {}
        #: Alarms without a reaction, in the order of their detection.
        self.alarms: list[FoundCause] = []
        self.changes: list[Change] = []
        self._reactions = dict(reactions)
        self._confirm_ns = confirm_ns
        #: How long a stop may take, and takes.
        self.rest = WatchedLimit(
            "rig", "time to come to rest", "ms", Reason.OVERDUE, maximum=rest_ns, scale=1e-6
        )
        self._armed_ns: int | None = None
        #: Which operator armed it last; empty: none, or it did so itself.
        self.armed_by = ""
        self._alarmed: set[tuple[Reason, str]] = set()

    @property
    def follows(self) -> bool:
        """Whether devices follow the simulation, wholly or in part."""
        return self.state in FOLLOWING

    def armed_left(self, now_ns: int) -> int:
        """Return for how long the first step of arming still holds, ns; 0: it does not."""
        if self._armed_ns is None:
            return 0
        return max(0, self._armed_ns + self._confirm_ns - now_ns)

    def apply(
        self, event: Event, now_ns: int, fault: FoundCause | None = None, *, by: str = ""
    ) -> bool:
        """Take the way of the table for an event; return whether there is one."""
        row = next(
            (
                transition
                for transition in self._ways(event)
                if self._holds(transition.guard, now_ns)
            ),
            None,
        )
        if row is None:
            return False
        self.changes.append(Change(now_ns, row.state, row.target, event, fault, by))
        self._armed_ns = now_ns if event is Event.ARM else None
        self.armed_by = by if event is Event.ARM else ""
        if event is Event.RESET and row.target is State.SHADOW:
            self.latched.clear()
        if row.target is not row.state:
            self.state, self.since_ns = row.target, now_ns
        return True

    def find(self, fault: FoundCause) -> None:
        """Latch a cause that is there, once as long as it stays, and react to it."""
        key = (fault.reason, fault.location)
        if key in self.present or key in self._alarmed:
            return
        if self._event(fault) is Event.ALARM:
            self._alarmed.add(key)
        else:
            self.present[key] = fault
        self.strike(fault)

    def strike(self, fault: FoundCause) -> None:
        """Latch a cause of a moment, such as an operator's stop, and react to it."""
        if self._event(fault) is Event.ALARM:
            self.alarms.append(fault)
            self._react(fault)
        else:
            self._latch(fault)

    def gone(self, reason: Reason, location: str) -> None:
        """Take note that a cause is no longer there; what it latched stays."""
        self.present.pop((reason, location), None)
        self._alarmed.discard((reason, location))

    @property
    def confirm_ns(self) -> int:
        """How long the first step of arming holds, ns."""
        return self._confirm_ns

    def ask(self, event: Event, now_ns: int, by: str = "") -> None:
        """Do what an operator wishes."""
        if refusal := self.refusal(event, now_ns, by):
            raise RefusedWish(refusal)
        self.apply(event, now_ns, by=by)

    def refusal(self, event: Event, now_ns: int, by: str = "") -> str:
        """Return why an operator's wish would be refused now; empty: it would be granted."""
        armed = event is Event.ENGAGE and self.armed_left(now_ns) > 0
        if armed and by != self.armed_by:
            return (
                f"'{event}' is refused: {self.armed_by} armed the rig and must engage it; to"
                " engage it yourself, arm it again"
            )
        ways = self._ways(event)
        if any(self._holds(row.guard, now_ns) for row in ways):
            return ""
        if not ways:
            from_ = ", ".join(row.state.name for row in TRANSITIONS if row.event is event)
            return f"'{event}' is possible in {from_}; the rig is in {self.state.name}"
        if self.present:
            causes = "; ".join(str(fault) for fault in self.present.values())
            return f"'{event}' is refused because the cause persists: {causes}"
        held = self._confirm_ns / _SECOND
        return f"'{event}' is refused: arm the rig first, then engage it within {held:g} s"

    def tick(self, now_ns: int, *, blend_ns: int, at_rest: bool) -> None:
        """Let time pass: blending ends, a stop ends or is overdue."""
        spent = now_ns - self.since_ns
        if self.state is State.BLEND and spent >= blend_ns:
            self.apply(Event.BLENDED, now_ns)
        elif not holds(Check.REST, self.state):
            self.rest.forget()
        elif at_rest:
            self.apply(Event.AT_REST, now_ns)
        elif reason := self.rest.take(spent):
            fault = FoundCause(reason, self.state.name, now_ns, self.rest.figures)
            self.latched.append(fault)
            self.apply(Event.OVERDUE, now_ns, fault)

    def _latch(self, fault: FoundCause) -> None:
        if any(
            (latched.reason, latched.location) == (fault.reason, fault.location)
            for latched in self.latched
        ):
            return  # it comes and goes
        self.latched.append(fault)
        self._react(fault)

    def _event(self, fault: FoundCause) -> Event:
        return self._reactions.get(fault.reason, Event.FAULT)

    def _react(self, fault: FoundCause) -> None:
        event = self._event(fault)
        if not self.apply(event, fault.time_ns, fault):
            self.changes.append(Change(fault.time_ns, self.state, self.state, event, fault))

    def _ways(self, event: Event) -> list[Transition]:
        return [row for row in TRANSITIONS if row.state is self.state and row.event is event]

    def _holds(self, guard: Guard, now_ns: int) -> bool:
        if guard is Guard.ALWAYS:
            return True
        if guard is Guard.SOUND:
            return not self.present
        if guard is Guard.ARMED:
            return not self.present and self.armed_left(now_ns) > 0
        return bool(self.latched) is (guard is Guard.LATCHED)


#: File of the transitions and faults of a rig, and its columns.
CHANGES_NAME = "changes.csv"
COLUMNS = ("time_s", "before", "event", "after", "reason", "where", "figures")


def change_row(change: Change) -> tuple[str, ...]:
    """Return a row of that file, behind the time."""
    fault = change.fault
    reason, location = (fault.reason.name.lower(), fault.location) if fault else ("", change.by)
    figures = fault.figures if fault else ""
    return change.before.name, change.event.value, change.after.name, reason, location, figures
