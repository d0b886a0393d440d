"""What a user should know of how delays and faults of a run were realised, in sentences."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from orchestrator.core.coupling.delay_plan import LoopDelay
from orchestrator.core.coupling.line_plan import DelayMode, DelayPlan
from orchestrator.core.diagnostics import DescriptionError, Diagnostic, Severity, counted
from orchestrator.core.diagnostics.errors import toml_key
from orchestrator.core.system import (
    Connection,
    Extrapolation,
    Fault,
    FaultKind,
    Interpolation,
    System,
    Value,
    lines_of,
    seconds,
)
from orchestrator.core.system.naming import first_of
from orchestrator.core.system.time import end_of_steps, whole_steps

#: A loop out of plain mode misses its delay by more than this only if its loops cannot all be met.
_MISS_NS = 1.0
_HELD = {Interpolation.HOLD, Interpolation.SLERP}


def remarks(
    plans: Sequence[DelayPlan],
    loops: Sequence[LoopDelay],
    step_ns: int,
    mode: str,
    duration_ns: int | None = None,
) -> list[str]:
    """Say where a delay is no multiple of the step, varies, is extrapolated, held, or missed.

    plans, loops: As :func:`plan_delays` returned them.
    step_ns: Communication step in nanoseconds.
    mode: Of :class:`DelayMode`.
    duration_ns: Of the run in nanoseconds, so that delays which are no shorter are told.
    """
    texts = rounded(plans, step_ns) + _outlasting(plans, duration_ns)
    texts += _ahead([plan for plan in plans if plan.connection.delay])
    texts += _predicted([p for p in plans if not p.connection.delay and not p.order])
    delayed = mode == DelayMode.WAVEFORM and any(plan.connection.delay for plan in plans)
    follows = delayed or any(plan.order for plan in plans)
    texts += _followed(plans, loops) if follows else []
    texts += [
        f"the delay of {plan.connection} varies: {plan.effective_delay_ns / 1e6:g} ms is what its"
        " target sees"
        + (
            " in the mean"
            if plan.interpolation is Interpolation.HOLD
            else " as long as no sample is lost or late"
        )
        for plan in plans
        if plan.connection.delay and plan.connection.delay.variation
    ]
    return texts + missed(plans, loops, mode)


def _outlasting(plans: Sequence[DelayPlan], duration_ns: int | None) -> list[str]:
    """One sentence for each delay of which nothing arrives in the run."""
    return [
        f"the delay of {plan.connection.delay.nominal_ns / 1e6:g} ms of {plan.connection} is not"
        f" shorter than the run of {duration_ns / 1e6:g} ms: its target sees the value of the start"
        " in the whole run"
        for plan in plans
        if duration_ns is not None
        and plan.connection.delay
        and plan.connection.delay.nominal_ns >= duration_ns
    ]


def missed(plans: Sequence[DelayPlan], loops: Sequence[LoopDelay], mode: str) -> list[str]:
    """Say of each loop that is left with another delay than was declared, why.

    Parameters as of :func:`remarks`.
    """
    if mode == DelayMode.PLAIN:
        return []
    stiff = {p.connection for p in plans if p.interpolation in _HELD or p.held_ns}
    return [_miss(loop, stiff) for loop in loops if abs(loop.numerical_ns) > _MISS_NS]


def unsolved(loops: Sequence[LoopDelay]) -> list[str]:
    """Say of each algebraic loop that is passed on from step to step, how late that makes it."""
    texts = []
    for delay in loops:
        rings = [ring for ring in delay.loops if all(ring.feedthrough)]
        if not rings or any(line.delay for ring in rings for line in ring.connections):
            continue
        around = " -> ".join([*delay.components, delay.components[0]])
        texts.append(
            f"the algebraic loop {around} is not solved: its units pass on what came before the"
            f" step, which delays its signals by {delay.numerical_ns / 1e6:g} ms around the loop,"
            " where no delay is declared; at the start it is passed on as often as there are units"
        )
    return texts


def _miss(loop: LoopDelay, stiff: Collection[Connection]) -> str:
    """Say by how much a loop misses its delay, and why; ``stiff`` are lines that are held."""
    if any(line in stiff for line in loop.lines):
        reason = "it holds samples instead of interpolating them"
    elif any(line.delay for line in loop.lines):
        reason = "it shares delayed connections with loops that need another reading"
    else:
        reason = (
            "none of its connections declares a delay from which the step's own could"
            " be taken; declare one, zero if need be"
        )
    return (
        f"the loop {' -> '.join(loop.components)} misses its declared delay of"
        f" {loop.physical_ns / 1e6:g} ms by {loop.numerical_ns / 1e6:+g} ms: {reason}"
    )


def _ahead(plans: Sequence[DelayPlan]) -> list[str]:
    """Delayed lines that would need a sample that is not there yet."""
    texts = []
    ahead = [plan for plan in plans if plan.extrapolation_ns]
    if ahead:
        longest_ns = max(plan.extrapolation_ns for plan in ahead)
        bent = any(plan.extrapolation is Extrapolation.QUADRATIC for plan in ahead)
        texts.append(
            f"{len(ahead)} of {len(plans)} delayed connections are read ahead of their newest"
            f" sample, by up to {longest_ns / 1e6:g} ms: extrapolated along the last"
            f" {'two or three' if bent else 'two'}"
        )
    texts += [
        f"{plan.connection} would have to be read {plan.held_ns / 1e6:g} ms ahead of its newest"
        " sample, which is held instead: it is late by that"
        for plan in plans
        if plan.held_ns
    ]
    return texts


def _predicted(plans: Sequence[DelayPlan]) -> list[str]:
    """Lines without a delay whose targets see a prediction."""
    ways: dict[str, int] = {}
    for plan in plans:
        kind = f"{plan.extrapolation}{' with slopes' if plan.span_ns else ''}"
        ways[kind] = ways.get(kind, 0) + 1
    return [
        f"{counted(count, 'connection')} without a delay predict"
        f"{'' if count > 1 else 's'} the input over each step: {kind}"
        for kind, count in ways.items()
    ]


def _followed(plans: Sequence[DelayPlan], loops: Sequence[LoopDelay]) -> list[str]:
    """Say how many lines are followed over a step, and which ones of the loops are not."""
    followed = {plan.connection for plan in plans if plan.order}
    around = dict.fromkeys(line for loop in loops for line in loop.lines)
    held = [str(line) for line in around if line not in followed]
    text = (
        f"{counted(len(followed), 'connection')} {'is' if len(followed) == 1 else 'are'}"
        " interpolated within each step (waveform)"
    )
    if not held:
        return [text]
    return [f"{text}; held over each step in loops: {first_of(held, 5)}"]


def rounded(plans: Sequence[DelayPlan], step_ns: int) -> list[str]:
    """One sentence for each delay that the step does not divide."""
    return [
        f"the delay of {nominal_ns / 1e6:g} ms of {', '.join(lines)}"
        f" {_rounding(nominal_ns, step_ns, held=held)}"
        for (nominal_ns, held), lines in _indivisible(plans, step_ns).items()
    ]


def rounded_delay(plan: DelayPlan, step_ns: int) -> str:
    """Say of one connection that the step does not divide its delay; nothing if it does."""
    return "".join(
        f"the delay of {nominal_ns / 1e6:g} ms {_rounding(nominal_ns, step_ns, held=held)}"
        for nominal_ns, held in _indivisible([plan], step_ns)
    )


def _indivisible(plans: Sequence[DelayPlan], step_ns: int) -> dict[tuple[int, bool], list[str]]:
    """Connections by their delay, and whether the newest sample is held."""
    lines: dict[tuple[int, bool], list[str]] = {}
    for plan in plans:
        delay = plan.connection.delay
        if delay and delay.nominal_ns % step_ns and not delay.variation and not plan.order:
            held = plan.interpolation is Interpolation.HOLD
            lines.setdefault((delay.nominal_ns, held), []).append(str(plan.connection))
    return lines


def _rounding(nominal_ns: int, step_ns: int, *, held: bool) -> str:
    rounded_ns = -(-nominal_ns // step_ns) * step_ns
    done = (
        f"the newest sample that is old enough is held, {rounded_ns / 1e6:g} ms"
        if held
        else f"it is interpolated between samples and stays {nominal_ns / 1e6:g} ms"
    )
    return f"is no multiple of the step of {step_ns / 1e6:g} ms: {done}"


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
            problems.append(_wrong(fault, text))
        elif until_ns is not None and until_ns <= begin_ns:
            ends = f"{seconds(fault.begin_ns):.9g} s until {seconds(fault.until_ns or 0):.9g} s"
            step = "" if step_ns is None else f" at a step of {step_ns / 1e6:g} ms"
            text = (
                f"from {ends} there is no communication point{step}: expected a longer fault,"
                " within the run"
            )
            problems.append(_wrong(fault, text))
        lines = lines_of(fault, system)
        names, effect = tuple(map(str, lines)), _what(fault, lines[0], system)
        extra_delay_ns = 0
        if fault.kind is FaultKind.DELAY_STEP:
            extra_delay_ns = fault.delay_ns - (lines[0].delay.nominal_ns if lines[0].delay else 0)
        records.append(FaultRecord(fault.name, names, begin_ns, until_ns, effect, extra_delay_ns))
    if problems:
        raise DescriptionError(*problems)
    return tuple(records)


def _wrong(fault: Fault, text: str) -> Diagnostic:
    key, location = toml_key("fault", fault.label or fault.name), f"fault {fault}"
    return Diagnostic("DescriptionError", Severity.ERROR, text, place=location, key=key)


def _point(time_ns: int, start_ns: int, step_ns: int | None) -> int:
    """First communication point that is not before a time."""
    since = max(0, time_ns - start_ns)
    if step_ns is None:
        return start_ns + since
    count, rest_ns = whole_steps(since, step_ns)
    return start_ns + end_of_steps(count + (rest_ns > 0), step_ns)


def _what(fault: Fault, line: Connection, system: System) -> str:
    connector = system.components[line.source.component].connectors[line.source.connector]
    unit = f" {connector.unit}" if connector.unit not in {None, "", "1"} else ""
    amounts = fault.amount if isinstance(fault.amount, tuple) else (fault.amount,)
    amount = ", ".join(f"{a:g}" for a in amounts)
    texts = {
        FaultKind.DROP: "nothing arrives, the input keeps its value",
        FaultKind.DELAY_STEP: f"the delay is {fault.delay_ns / 1e6:g} ms instead of"
        f" {line.delay.nominal_ns / 1e6 if line.delay else 0:g} ms",
        FaultKind.STUCK: "the value that is sent stays what it is at the begin",
        FaultKind.BIAS: f"{amount}{unit} are added to what is sent",
        FaultKind.DRIFT: f"{amount}{unit} for each second since are added to what is sent",
        FaultKind.SCALE: f"what is sent is multiplied by {amount}",
        FaultKind.NOISE: f"white noise of the standard deviation {amount}{unit} is added to what is"
        f" sent, seed {fault.seed}",
        FaultKind.NAN: "what is sent is no number (NaN)",
    }[fault.kind]
    return texts if fault.element is None else f"{texts}, in element {fault.element} only"


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
        first, last = (_shown(value, is_delay=is_delay) for value in (self.before, self.value))
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


def _shown(value: object, *, is_delay: bool) -> str:
    if is_delay:
        return f"{value / 1e6:g} ms"  # type: ignore[operator]
    return f"{value:.9g}" if isinstance(value, float) else f"{value!r}"
