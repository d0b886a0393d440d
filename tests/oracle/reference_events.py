"""Event mode in plain Python: see event_phase.cpp and event_steps.cpp of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.core.master.schedule.events import LineKind

if TYPE_CHECKING:
    from oracle.reference import Reference

    from orchestrator.core.master.schedule.schedule import EventTable

_MOST_ROUNDS = 100


class EarlyReturnError(Exception):
    """A unit returned before the end of a step.

    Parameters
    ----------
    member
        Its number.
    time_ns
        Where it stands.
    """

    def __init__(self, member: int, time_ns: int) -> None:
        super().__init__(member, time_ns)
        self.member = member
        self.time_ns = time_ns


class ReferenceEvents:
    """Steps of a reference with all events that belong to them."""

    def __init__(self, reference: Reference, table: EventTable) -> None:
        self._reference = reference
        self._table = table
        self._units = [reference.units[number] for number in table.members]
        self._members = [reference.plan.members[number] for number in table.members]
        self._active: set[int] = set()
        self._held = -1
        self._ticked: set[int] = set()
        self._entry = reference.signals.copy()

    def step(self, time_ns: int, goal_ns: int | None) -> int:
        """Do one communication step, and return its length in nanoseconds."""
        reference = self._reference
        if reference.plan.varies:
            taken = reference.chooser.step(time_ns, self._next(time_ns, goal_ns))
            reference.accept_step()
            self._handle(time_ns + taken, stepped=True)
            return taken
        end = time_ns + reference.steps_ns(reference.done, reference.done + 1)
        now = time_ns
        while now < end:
            stop = self._next(now, end)
            assert stop is not None
            now = self._execute_step(now, stop, end)
            reference.accept_step()
            self._handle(now, stepped=True)
        return end - time_ns

    def _next(self, after_ns: int, end_ns: int | None) -> int | None:
        due = [unit.native.due_ns for unit in self._units] if self._table.splits else []
        times = [time for time in due if time is not None and time > after_ns]
        return min([*times, *([] if end_ns is None else [end_ns])], default=None)

    def _execute_step(self, now: int, stop: int, end: int) -> int:
        reference = self._reference
        for _ in range(_MOST_ROUNDS + 1):
            saved = reference.save() if self._table.early_return else None
            reference.on_grid = stop == end
            try:
                reference.execute_step(now, stop - now)
            except EarlyReturnError as error:
                assert saved is not None
                member = reference.plan.members[error.member]
                inputs = reference.signals[member.input_offset :][: member.input_size].copy()
                if error.time_ns > now:
                    reference.restore(saved)
                    stop = error.time_ns
                    continue
                reference.restore(saved, but=error.member)
                reference.on_grid = now == end
                reference.signals[member.input_offset :][: member.input_size] = inputs
                self._handle(now, stepped=False, forced=error.member)
            else:
                return stop
        raise RuntimeError("a unit returns early again and again from the same step")

    def _handle(self, now_ns: int, *, stepped: bool, forced: int = -1) -> None:
        reference = self._reference
        called, rounds = self._called(now_ns, forced, stepped=stepped), 0
        while called:
            if rounds == _MOST_ROUNDS:
                raise RuntimeError("events do not come to an end")
            self._held = forced if rounds == 0 else -1
            self._instant(called)
            rounds += 1
            self._held = -1
            called = self._called(now_ns, -1, stepped=False)
        for slot in self._ticked:
            reference.signals[slot] = 1.0
        self._ticked.clear()
        if rounds:
            reference.reset_extrapolation()

    def _called(self, now_ns: int, forced: int, *, stepped: bool) -> set[int]:
        called = set()
        for i, unit in enumerate(self._units):
            due = unit.native.due_ns
            if (
                (due is not None and due <= now_ns)
                or (stepped and unit.native.reached[2])
                or self._table.members[i] == forced
            ):
                called.add(i)
        for row, target, kind in self._table.lines:
            slot, value = self._value(row)
            if kind == LineKind.DISCRETE and value != self._reference.signals[slot]:
                called.add(target)
        return called

    def _value(self, row: int) -> tuple[int, float]:
        source, target, factor, offset = self._reference.plan.copies[row]
        return target, factor * float(self._reference.signals[source]) + offset

    def _instant(self, called: set[int]) -> None:
        signals = self._reference.signals
        for slot, _ in self._table.clocks:
            signals[slot] = 0.0
        self._entry = signals.copy()
        dirty: set[int] = set()
        for _ in range(_MOST_ROUNDS):
            self._exchange(called, dirty)
            again = self._update()
            self._collect()
            if not self._copy(called, dirty) and not again:
                break
        else:
            raise RuntimeError("events do not come to an end")
        for i in self._active:
            self._expect(self._units[i].native.enter_step_mode())
        self._active.clear()
        called.clear()

    @staticmethod
    def _expect(status: int) -> None:
        if status > 1:
            raise RuntimeError("a unit failed in event mode")

    def _enter(self, called: set[int], dirty: set[int]) -> None:
        for i in sorted(called - self._active):
            self._expect(self._units[i].native.enter_event_mode())
            self._active.add(i)
            dirty.add(i)

    def _exchange(self, called: set[int], dirty: set[int]) -> None:
        self._enter(called, dirty)
        for _ in range(_MOST_ROUNDS + 1):
            self._collect()
            self._copy(called, dirty)
            self._enter(called, dirty)
            if not dirty:
                return
            for i in sorted(dirty):
                member = self._members[i]
                self._units[i].set(
                    self._reference.signals[member.input_offset :][: member.input_size]
                )
            dirty.clear()
        raise RuntimeError("events do not come to an end")

    def _collect(self) -> None:
        signals = self._reference.signals
        for i in sorted(self._active):
            member = self._members[i]
            self._units[i].get(signals[member.output_offset :][: member.output_size])
        self._ticked |= {s for s, i in self._table.clocks if i in self._active and signals[s] != 0}

    def _copy(self, called: set[int], dirty: set[int]) -> bool:
        signals, changed = self._reference.signals, False
        for row, target, kind in self._table.lines:
            source = self._reference.plan.copies[row][0]
            slot, value = self._value(row)
            jumps = kind != LineKind.CLOCKED
            if kind == LineKind.CONTINUOUS:
                jumps = bool(signals[source] != self._entry[source])
            takes = target in self._active
            if kind == LineKind.CONTINUOUS and self._table.members[target] == self._held:
                takes = False  # it goes on with what made it return at once
            if not (takes or jumps):
                continue
            stays = value == signals[slot]
            signals[slot] = value
            if stays:
                continue
            called.add(target)
            dirty.add(target)
            changed = True
        return changed

    def _update(self) -> bool:
        again = False
        for i in sorted(self._active):
            status, more, _, _, _ = self._units[i].native.update_discrete()
            self._expect(status)
            again |= more
        for row, _, kind in self._table.lines:
            if kind == LineKind.CLOCK:
                self._reference.signals[self._reference.plan.copies[row][1]] = 0.0
        return again
