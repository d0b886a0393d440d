"""When a fault acts in a run, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from orchestrator.core.diagnostics import DescriptionError, Diagnostic, Severity
from orchestrator.core.diagnostics.toml_key import toml_key
from orchestrator.core.system import Fault, FaultKind, System, lines_of, seconds
from orchestrator.core.system.step_length import end_of_steps, whole_steps


@dataclass(frozen=True, slots=True)
class FaultRecord:
    """One fault as a run had it.

    Parameters
    ----------
    name
        What people call it.
    lines
        Connections that it acted on.
    begin_ns, until_ns
        Communication points from and before which it acted, in nanoseconds; ``None``: to the end.
    what
        What it did, in words and with units.
    later_ns
        By how much the delay of the connections was longer, in nanoseconds.
    """

    name: str
    lines: tuple[str, ...]
    begin_ns: int
    until_ns: int | None
    what: str
    later_ns: int = 0

    @property
    def times(self) -> str:
        """From when until when, in words."""
        begin = f"from {seconds(self.begin_ns):.9g} s"
        return begin if self.until_ns is None else f"{begin} until {seconds(self.until_ns):.9g} s"

    def __str__(self) -> str:
        return f"fault '{self.name}' {self.times} on {', '.join(self.lines)}: {self.what}"


def fault_records(
    faults: Sequence[Fault],
    system: System,
    start_ns: int,
    stop_ns: int | None,
    step_ns: int | None,
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
        names = tuple(str(line) for line in lines_of(fault, system))
        record = FaultRecord(fault.name, names, begin_ns, until_ns, _what(fault, system))
        records.append(replace(record, later_ns=_later_ns(fault, system)))
    if problems:
        raise DescriptionError(*problems)
    return tuple(records)


def _wrong(fault: Fault, text: str) -> Diagnostic:
    key, place = toml_key("fault", fault.label or fault.name), f"fault {fault}"
    return Diagnostic("DescriptionError", Severity.ERROR, text, place=place, key=key)


def _point(time_ns: int, start_ns: int, step_ns: int | None) -> int:
    """First communication point that is not before a time."""
    since = max(0, time_ns - start_ns)
    if step_ns is None:
        return start_ns + since
    count, rest_ns = whole_steps(since, step_ns)
    return start_ns + end_of_steps(count + (rest_ns > 0), step_ns)


def _later_ns(fault: Fault, system: System) -> int:
    if fault.kind is not FaultKind.DELAY_STEP:
        return 0
    line = lines_of(fault, system)[0]
    return fault.delay_ns - (line.delay.nominal_ns if line.delay else 0)


def _what(fault: Fault, system: System) -> str:
    line = lines_of(fault, system)[0]
    connector = system.components[line.source.component].connectors[line.source.connector]
    unit = f" {connector.unit}" if connector.unit not in {None, "", "1"} else ""
    amounts = fault.amount if isinstance(fault.amount, tuple) else (fault.amount,)
    amount = ", ".join(f"{a:g}" for a in amounts)
    said = {
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
    return said if fault.element is None else f"{said}, in element {fault.element} only"
