"""Base of all guards: the latch, its notices, and the reset."""

from __future__ import annotations

from typing import ClassVar

from orchestrator import Block, Input, Notice, Output, Parameter, Reason, State

#: For the description of the connector.
REASONS = ", ".join(
    f"{reason.value} {reason.name.lower()}" for reason in Reason if reason <= Reason.ENERGY
)
_MOST = 100  # entries of the log: resets may come again and again
#: Beyond is nothing where a robot could start, in SI units.
LARGEST = 1e9
#: Sums of steps are rounded; times are whole nanoseconds.
ROUNDING = 0.5e-9
_OWN, _WARNING, _RESET = 0, 1, 2


class PartialGuard(Block):
    """Latches the safe state for one of the causes of :class:`~orchestrator.Reason`.

    Connect the guards of one rig in a ring, ``reason`` of one to ``stop`` of the next. When one
    enters its safe state the others follow. Only the guard with the cause gives a notice.

    References
    ----------
    None: a latch with a reset.
    """

    #: Effect of the safe state, for notices.
    reaction: ClassVar[str]

    stop: int = Input(description="Reason of another guard in its safe state; 0: none")
    reset: bool = Input(description="Rising edge: leave the safe state, if resettable")
    safe: bool = Output(description="The guard is in its safe state", depends_on=())
    reason: int = Output(description=f"Reason of the safe state: {REASONS}", depends_on=())
    since: float = Output(
        unit="s", description="Time at which the safe state began; 0: operation", depends_on=()
    )
    persistence: float = Parameter(
        start=0.01,
        unit="s",
        minimum=0.0,
        description="Time for which a flag must be bad to cause the safe state",
    )
    resettable: bool = Parameter(start=False, description="A reset is allowed")
    bad: float = State(start=0.0, description="Time for which a flag has been bad, s")
    armed: bool = State(start=False, description="A reset was requested and is still held")
    pressed: bool = State(start=False, description="Reset at the sample before")
    left: bool = State(start=False, description="The safe state was left in the step before")
    log: list[list[float]] = State(start=[], description="Time, reason and kind of each entry")

    def begin(self) -> None:
        """Begin in operation, without a cause."""
        self.safe, self.reason, self.since = False, 0, 0.0
        self.bad, self.armed, self.pressed, self.left, self.log = 0.0, False, self.reset, False, []

    def latch(self, reason: int, t: float) -> None:
        """Enter the safe state at a time, s."""
        self.safe, self.reason, self.since, self.bad = True, reason, t, 0.0
        if reason != self.stop:
            self._note(t, reason, _OWN)

    def warn(self, reason: int, t: float) -> None:
        """Note a cause that only warns."""
        self._note(t, reason, _WARNING)

    def persists(self, reason: int, h: float) -> int:
        """Return a reason that has lasted for the persistence, else 0."""
        if not reason:
            self.bad = 0.0
            return 0
        self.bad += h
        return reason if self.bad > self.persistence - ROUNDING else 0

    def reset_requested(self) -> bool:
        """Whether a reset was requested since the safe state began, and is still held."""
        self.armed = self.reset and (self.armed or not self.pressed)
        self.pressed = self.reset
        return self.armed and self.resettable

    def leave(self, t: float) -> None:
        """Return to operation at a time, s."""
        self._note(t, self.reason, _RESET)
        self.safe, self.reason, self.since, self.armed, self.left = False, 0, 0.0, False, True

    def notices(self) -> tuple[Notice, ...]:
        """Return notices with cause, time and remedy."""
        return tuple(
            self._notice(t, Reason(int(reason)), int(kind)) for t, reason, kind in self.log
        )

    def _notice(self, t: float, reason: Reason, kind: int) -> Notice:
        time_ns = round(t * 1e9)
        if kind == _RESET:
            return Notice(time_ns, f"it was reset and is in operation again ({reason.text})")
        if kind == _WARNING:
            return Notice(time_ns, reason.warning, reason.advice)
        return Notice(time_ns, f"{reason.text}; {self.reaction}", reason.advice, safe=True)

    def _note(self, t: float, reason: int, kind: int) -> None:
        if len(self.log) < _MOST:
            self.log.append([t, float(reason), float(kind)])
