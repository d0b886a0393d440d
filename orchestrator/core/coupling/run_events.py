"""Events of a run: faults, values that were tuned while it ran, and marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.core.diagnostics import DescriptionError, Diagnostic, Severity, counted
from orchestrator.core.diagnostics.errors import toml_key
from orchestrator.core.system import (
    Connection,
    Fault,
    FaultKind,
    System,
    Value,
    lines_of,
    seconds,
)
from orchestrator.core.system.time import end_of_steps, whole_steps


@dataclass(frozen=True, slots=True)
class FaultRecord:
    """One fault as a run had it.

    name: What people call it.
    lines: Connections that it acted on.
    begin_ns, until_ns: Communication points from and before which it acted, in nanoseconds;
        ``None``: to the end.
    what: What it did, in words and with units.
    extra_delay_ns: By how much the delay of the connections was longer, in nanoseconds.
    """

    name: str
    lines: tuple[str, ...]
    begin_ns: int
    until_ns: int | None
    what: str
    extra_delay_ns: int = 0

    @property
    def times(self) -> str:
        """From when until when, in words."""
        begin = f"from {seconds(self.begin_ns):.9g} s"
        return begin if self.until_ns is None else f"{begin} until {seconds(self.until_ns):.9g} s"

    def __str__(self) -> str:
        return f"fault '{self.name}' {self.times} on {', '.join(self.lines)}: {self.what}"


def fault_records(
    faults: Sequence[Fault], system: System, start_ns: int, stop_ns: int | None, step_ns: int | None
) -> tuple[FaultRecord, ...]:
    """Say when faults act and what they do."""
    records, problems = [], []
    for fault in faults:
        begin_ns = _point(fault.begin_ns, start_ns, step_ns)
        until_ns = None if fault.until_ns is None else _point(fault.until_ns, start_ns, step_ns)
        if stop_ns is not None and begin_ns >= stop_ns:
            text = (
                f"expected it to begin before the end of the run at {seconds(stop_ns):.9g} s, found"
                f" {seconds(fault.begin_ns):.9g} s"
            )
            problems.append(_fault_problem(fault, text))
        elif until_ns is not None and until_ns <= begin_ns:
            ends = f"{seconds(fault.begin_ns):.9g} s until {seconds(fault.until_ns or 0):.9g} s"
            step = "" if step_ns is None else f" at a step of {step_ns / 1e6:g} ms"
            text = (
                f"from {ends} there is no communication point{step}; expected a longer fault"
                " within the run"
            )
            problems.append(_fault_problem(fault, text))
        lines = lines_of(fault, system)
        names, effect = tuple(map(str, lines)), _effect_text(fault, lines[0], system)
        extra_delay_ns = 0
        if fault.kind is FaultKind.DELAY_STEP:
            extra_delay_ns = fault.delay_ns - (lines[0].delay.nominal_ns if lines[0].delay else 0)
        records.append(FaultRecord(fault.name, names, begin_ns, until_ns, effect, extra_delay_ns))
    if problems:
        raise DescriptionError(*problems)
    return tuple(records)


def _fault_problem(fault: Fault, text: str) -> Diagnostic:
    key, location = toml_key("fault", fault.label or fault.name), f"fault {fault}"
    return Diagnostic("DescriptionError", Severity.ERROR, text, place=location, key=key)


def _point(time_ns: int, start_ns: int, step_ns: int | None) -> int:
    """First communication point that is not before a time."""
    since = max(0, time_ns - start_ns)
    if step_ns is None:
        return start_ns + since
    count, rest_ns = whole_steps(since, step_ns)
    return start_ns + end_of_steps(count + (rest_ns > 0), step_ns)


def _effect_text(fault: Fault, line: Connection, system: System) -> str:
    connector = system.components[line.source.component].connectors[line.source.connector]
    unit = f" {connector.unit}" if connector.unit not in {None, "", "1"} else ""
    amounts = fault.amount if isinstance(fault.amount, tuple) else (fault.amount,)
    amount = ", ".join(f"{a:g}" for a in amounts)
    text = fault.kind.codec.effect.format(
        amount=f"{amount}{unit}",
        factor=amount,
        delay=fault.delay_ns / 1e6,
        declared=line.delay.nominal_ns / 1e6 if line.delay else 0,
        seed=fault.seed,
    )
    return text if fault.element is None else f"{text}, in element {fault.element} only"


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

    def ramp_values(self, count: int) -> tuple[Value, ...]:
        """Return at most `count` values of the ramp, evenly spread and without its ends."""
        parts = {round(self.ramp * number / (count + 1)) for number in range(1, count + 1)}
        return tuple(self.at(self.step + k - 1) for k in sorted(parts) if 0 < k < self.ramp)

    def __str__(self) -> str:
        time, is_delay = seconds(self.time_ns), "->" in self.name
        first, last = (_value_text(value, is_delay=is_delay) for value in (self.before, self.value))
        ramp_text = f" over {counted(self.ramp, 'step')}" if self.ramp else ""
        by = f", by {self.by}" if self.by else ""
        subject = f"the delay of {self.name}" if is_delay else self.name
        moment = f"tuned at {time:.9g} s (step {self.step})"
        return f"{moment}: {subject} from {first} to {last}{ramp_text}{by}"


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


def _value_text(value: object, *, is_delay: bool) -> str:
    if is_delay:
        return f"{value / 1e6:g} ms"  # type: ignore[operator]
    return f"{value:.9g}" if isinstance(value, float) else f"{value!r}"
