"""Delays and conversions in words that an engineer reads without a manual."""

from __future__ import annotations

import hashlib
from math import isnan

from orchestrator.core.coupling import LoopDelay
from orchestrator.core.diagnostics import UnitMismatchError
from orchestrator.core.system import (
    Connection,
    Connector,
    DelayTrace,
    JitterKind,
    LinearTransformation,
    Loop,
    PowerPort,
    TransportDelay,
    conversion_between,
)


def milliseconds(ns: float) -> str:
    """Write a time in milliseconds, to the microsecond: ``"16 ms"``, ``"0.5 ms"``."""
    return f"{round(ns / 1e6, 3) + 0.0:.10g} ms"


def is_algebraic(loop: Loop) -> bool:
    """Whether neither a delay nor a state cuts the loop."""
    return all(loop.feedthrough) and not any(line.delay for line in loop.connections)


def sentence(delay: LoopDelay) -> str:
    """Say what a loop's delay is made of; what the steps add may not be known."""
    if isnan(delay.numerical_ns):
        return f"{milliseconds(delay.physical_ns)} declared"
    extra = round(delay.numerical_ns / 1e6, 3)
    if extra == 0:
        added = "the co-simulation adds nothing"
    elif extra > 0:
        added = f"the co-simulation adds {milliseconds(delay.numerical_ns)}"
    else:
        added = f"the co-simulation takes {milliseconds(-delay.numerical_ns)} away"
    return (
        f"{milliseconds(delay.physical_ns)} declared, {added}:"
        f" {milliseconds(delay.total_ns)} in total"
    )


def delay_label(delay: TransportDelay) -> str:
    """A delay in short: ``"16 ms"``, ``"16 ± 2 ms"``, ``"16 ms, 5 % lost"``."""
    nominal, varies = milliseconds(delay.nominal_ns), delay.variation
    if varies is None:
        return nominal
    parts = [nominal]
    if varies.jitter is not None:
        spread = milliseconds(varies.jitter.spread_ns)
        sign = {JitterKind.UNIFORM: "±", JitterKind.NORMAL: "σ", JitterKind.GAMMA: "+ σ"}
        parts = [f"{nominal} {sign[varies.jitter.kind]} {spread}"]
    if varies.trace is not None:
        parts = ["recorded"]
    if varies.loss:
        parts.append(f"{100 * varies.loss:.3g} % lost")
    return ", ".join(parts)


def delay_text(delay: TransportDelay) -> str:
    """A delay with all that is declared of it, to the nanosecond."""
    parts = [f"{delay.nominal_ns / 1e6:.15g} ms", str(delay.provenance)]
    parts += [each for each in (delay.device, delay.date) if each]
    varies = delay.variation
    if varies is None:
        return ", ".join(parts)
    if varies.jitter is not None:
        jitter = varies.jitter
        parts.append(
            f"{jitter.kind} jitter of {jitter.spread_ns / 1e6:.15g} ms, shape {jitter.shape:.15g},"
            f" correlation {jitter.correlation_ns / 1e6:.15g} ms"
        )
    if varies.trace is not None:
        parts.append(f"trace of {len(varies.trace.times_ns)} rows ({_fingerprint(varies.trace)})")
    parts.append(f"{100 * varies.loss:.15g} % lost, seed {varies.seed}")
    parts.append(f"{varies.delivery}, newest {varies.newest}")
    return ", ".join(parts)


def _fingerprint(trace: DelayTrace) -> str:
    text = repr((trace.times_ns, trace.delays_ns, trace.interpolated))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def transformation_label(line: Connection, *, exact: bool = False) -> str:
    """The transformation: ``"× -1"``, ``"table"``; empty without one."""
    own = line.transformation
    if own is None:
        return ""
    if not isinstance(own, LinearTransformation):
        entries = ", ".join(f"{source} → {target}" for source, target in own.entries)
        return f"table {entries}" if exact else "table"
    factor, offset = (own.factor, own.offset) if exact else (f"{own.factor:g}", f"{own.offset:+g}")
    parts = [f"× {factor}"] if own.factor != 1 else []
    parts += [f"{offset}"] if own.offset else []
    return " ".join(parts)


def conversion_of(
    line: Connection, source: Connector | None, target: Connector | None
) -> tuple[float, float] | None:
    """Factor and offset of the unit conversion of a connection; ``None`` if it does nothing."""
    if source is None or target is None or line.suppress_unit_conversion:
        return None
    try:
        found = conversion_between(source, target)
    except UnitMismatchError:
        return None
    return None if found == (1.0, 0.0) else found


def wire_label(line: Connection, source: Connector | None, target: Connector | None) -> str:
    """What stands on a connection: delay, unit conversion, transformation, compensation."""
    parts = [delay_label(line.delay)] if line.delay else []
    if conversion_of(line, source, target) is not None and source and target:
        parts.append(f"{source.unit} → {target.unit}")
    parts += [label] if (label := transformation_label(line)) else []
    parts += [str(line.compensation)] if line.compensation else []
    return ", ".join(parts)


def power_text(port: PowerPort) -> str:
    """A power port: ``"force × velocity, in"``, with what goes along with the flow."""
    pairs = (f"{effort} × {flow}" for effort, flow in zip(port.effort, port.flow, strict=True))
    parts = [" + ".join(pairs), *(f"with {name}" for name in port.displacement)]
    parts += [f"in frame {port.frame}"] if port.frame else []
    return ", ".join([*parts, *([f"positive {port.positive}"] if port.positive else [])])
