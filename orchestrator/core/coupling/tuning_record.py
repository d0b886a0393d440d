"""What was changed while a run went on, and what an operator marked."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.core.system import Value, seconds


@dataclass(frozen=True, slots=True)
class Tuned:
    """A value that was changed between two steps.

    step, time_ns: Communication steps that were done, and the time in nanoseconds; it acts from
        there on.
    name: ``component.connector``, or ``source -> target`` of a connection, whose delay it is, in
        nanoseconds.
    before, value: What it was, and is at the end of the ramp.
    ramp: Communication steps that the way takes, in equal parts; 0: it is there at once.
    by: Who asked for it, and by which margins it was granted; empty: the program.
    """

    step: int
    time_ns: int
    name: str
    before: Value
    value: Value
    ramp: int = 0
    by: str = ""

    def at(self, step: int) -> Value:
        """Return the value that holds in a step: the k-th of the ramp has k parts of the way."""
        done = step - self.step + 1
        if done >= self.ramp:
            return self.value
        if isinstance(self.value, tuple):
            ends = zip(self.before, self.value, strict=True)  # type: ignore[arg-type]
            return tuple(_between(*end, done / self.ramp) for end in ends)
        return _between(self.before, self.value, done / self.ramp)

    def way(self, places: int) -> tuple[Value, ...]:
        """Return values on the way, at most so many, evenly spread and without its ends."""
        parts = {round(self.ramp * number / (places + 1)) for number in range(1, places + 1)}
        return tuple(self.at(self.step + k - 1) for k in sorted(parts) if 0 < k < self.ramp)

    def __str__(self) -> str:
        time, is_delay = seconds(self.time_ns), "->" in self.name
        first, last = (_shown(one, is_delay=is_delay) for one in (self.before, self.value))
        way = f" over {self.ramp} steps" if self.ramp else ""
        by = f", by {self.by}" if self.by else ""
        what = f"the delay of {self.name}" if is_delay else self.name
        return f"tuned at {time:.9g} s (step {self.step}): {what} from {first} to {last}{way}{by}"


@dataclass(frozen=True, slots=True)
class Mark:
    """What somebody marked while a run went on, in words; ``step`` and ``time_ns`` as above."""

    step: int
    time_ns: int
    text: str
    by: str = ""

    def __str__(self) -> str:
        by = f" (by {self.by})" if self.by else ""
        return f"marked at {seconds(self.time_ns):.9g} s (step {self.step}): {self.text}{by}"


def _between(first: object, last: object, share: float) -> float:
    begin, end = float(first), float(last)  # type: ignore[arg-type]
    return begin + (end - begin) * share


def _shown(value: object, *, is_delay: bool) -> str:
    if is_delay:
        return f"{value / 1e6:g} ms"  # type: ignore[operator]
    return f"{value:.9g}" if isinstance(value, float) else f"{value!r}"
