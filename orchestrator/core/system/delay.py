"""A transport delay: how late a signal arrives, how that varies, and which samples are lost.

With how it is written: as plain data (system files), and in words.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any

from orchestrator.core.diagnostics import DescriptionError, LoadError, counted
from orchestrator.core.diagnostics.reading import reads
from orchestrator.core.structs import Struct, force_setattr
from orchestrator.core.system.naming import is_whole, member_of
from orchestrator.core.system.time import in_seconds, nanoseconds, time_text

#: Rows; more are a mistake rather than a recording of a delay.
_MOST_ROWS = 10_000_000


class DelayTrace(Struct):
    """Delay of samples by the time at which they are sent.

    Before the first row its delay holds, after the last one that of the last.

    times_ns: Times of the simulation in nanoseconds, increasing.
    delays_ns: Delays in nanoseconds, >= 0; ``None``: samples are lost from this time to the next.
    interpolated: Whether delays change linearly from row to row; else each holds until the next.
    Raises DescriptionError: if the rows are not as described.
    """

    times_ns: tuple[int, ...]
    delays_ns: tuple[int | None, ...]
    interpolated: bool = False

    def __post_init__(self) -> None:
        if not self.times_ns or len(self.times_ns) != len(self.delays_ns):
            raise DescriptionError(
                "trace of a delay: expected as many delays as times, at least one; found"
                f" {len(self.delays_ns)} delays and {len(self.times_ns)} times"
            )
        for number, (earlier, later) in enumerate(pairwise(self.times_ns), start=2):
            if later <= earlier:
                raise DescriptionError(
                    f"trace of a delay, row {number}: expected a time after {earlier / 1e9:.9g} s,"
                    f" found {later / 1e9:.9g} s"
                )
        for number, delay in enumerate(self.delays_ns, start=1):
            if delay is not None and delay < 0:
                raise DescriptionError(
                    f"trace of a delay, row {number}: expected a delay >= 0 s, found"
                    f" {delay / 1e9:.9g} s; leave it out where samples are lost"
                )

    @property
    def longest_ns(self) -> int:
        """Longest delay in nanoseconds."""
        return max((delay for delay in self.delays_ns if delay is not None), default=0)

    @classmethod
    def of(cls, rows: Iterable[tuple[str, str]], *, interpolated: bool = False) -> DelayTrace:
        """Make a trace of texts: times and delays in seconds, or with a unit.

        An empty delay means that samples are lost.
        """
        times: list[int] = []
        delays: list[int | None] = []
        for number, (time, delay) in enumerate(rows, start=1):
            if number > _MOST_ROWS:
                raise DescriptionError(f"trace of a delay: expected at most {_MOST_ROWS} rows")
            times.append(nanoseconds(in_seconds(time), f"trace of a delay, row {number}: time"))
            label = f"trace of a delay, row {number}: delay"
            delays.append(nanoseconds(in_seconds(delay), label) if delay.strip() else None)
        return cls(tuple(times), tuple(delays), interpolated)

    @classmethod
    @reads("expected a trace of delays")
    def read(cls, path: str | Path, *, interpolated: bool = False) -> DelayTrace:
        """Read a CSV file with the columns time and delay, in seconds, below one line of titles."""
        try:
            with Path(path).open(newline="", encoding="utf-8-sig") as file:
                rows = list(csv.reader(file))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise LoadError.in_file(path, f"cannot be read as CSV: {error}") from None
        if not rows or [cell.strip() for cell in rows[0]] != ["time", "delay"]:
            titles = ", ".join(rows[0]) if rows else "nothing"
            raise LoadError.in_file(path, f"expected the titles time, delay; found {titles}")
        pairs = []
        for number, row in enumerate(rows[1:], start=2):
            if len(row) != 2:
                raise LoadError(f"{path}, line {number}: expected 2 cells, found {len(row)}")
            pairs.append((row[0], row[1]))
        try:
            return cls.of(pairs, interpolated=interpolated)
        except DescriptionError as error:
            raise DescriptionError(*(f"{path}: {text}" for text in error.problems)) from None


#: A gamma distribution is shaped by this unless it says otherwise.
_SHAPE = 2.0
_LARGEST_SEED = 2**63 - 1


class JitterKind(StrEnum):
    """Distribution of a jitter."""

    UNIFORM = "uniform"
    NORMAL = "normal"
    GAMMA = "gamma"


class Delivery(StrEnum):
    """Whether a sample may overtake samples that were sent before it."""

    IN_ORDER = "in-order"
    REORDERED = "reordered"


class Newest(StrEnum):
    """Sample that a holding receiver uses: the last sent that arrived, or the last to arrive."""

    SENT = "sent"
    ARRIVED = "arrived"


def _expect_whole(label: str, value: object) -> None:
    if not is_whole(value):
        raise DescriptionError(f"{label}: expected a whole number, found {value!r}")


class Jitter(Struct):
    """Random part of a delay.

    Parameters
    ----------
    kind
        ``uniform``: the nominal delay plus or minus ``spread_ns``. ``normal``: with the standard
        deviation ``spread_ns`` about the nominal delay, cut at three of them. ``gamma``: the
        nominal delay is the shortest, and ``spread_ns`` the standard deviation of what comes on
        top, cut at the quantile 0.9999.
    spread_ns
        In nanoseconds, > 0.
    shape
        Of the gamma distribution, > 0: 1 is exponential, large is nearly normal.
    correlation_ns
        Time constant in nanoseconds of the first-order filter that makes neighbouring delays
        alike; 0: every sample has its own. The distribution of the single delay stays.

    Raises
    ------
    DescriptionError
        If a figure is out of range.
    """

    kind: JitterKind
    spread_ns: int
    shape: float = _SHAPE
    correlation_ns: int = 0

    def __post_init__(self) -> None:
        force_setattr(self, "kind", member_of(JitterKind, self.kind, "kind of a jitter"))
        for name in ("spread_ns", "correlation_ns"):
            _expect_whole(f"{name} of a jitter, in nanoseconds", getattr(self, name))
        if self.spread_ns <= 0:
            raise DescriptionError(
                f"spread of a jitter: expected > 0 s, found {self.spread_ns / 1e9:g} s"
            )
        if not 0.05 <= self.shape <= 1e6:
            raise DescriptionError(
                f"shape of a gamma jitter: expected 0.05 to 1e6, found {self.shape:g}"
            )
        if self.kind is not JitterKind.GAMMA and self.shape != _SHAPE:
            raise DescriptionError(f"a {self.kind} jitter has no shape, found {self.shape:g}")
        if self.correlation_ns < 0:
            raise DescriptionError(
                "correlation of a jitter: expected a time constant >= 0 s, found"
                f" {self.correlation_ns / 1e9:g} s"
            )

    def lowest_ns(self, nominal_ns: int) -> int:
        """Shortest delay that is drawn, in nanoseconds."""
        below = {JitterKind.UNIFORM: 1, JitterKind.NORMAL: 3, JitterKind.GAMMA: 0}
        return nominal_ns - below[self.kind] * self.spread_ns


class Variation(Struct):
    """What makes a delay differ from sample to sample.

    Parameters
    ----------
    jitter, trace
        A random delay or a recorded one; not both. Without either every sample that is not lost
        has the nominal delay.
    loss
        Probability that a sample never arrives, 0 to below 1.
    seed
        Seed of the draws, which depend only on it and on the names at the two ends of the
        connection.
    delivery
        Whether samples keep their order.
    newest
        Sample that a holding receiver uses as the newest one.

    Raises
    ------
    DescriptionError
        If a value is out of range, or nothing varies.
    """

    jitter: Jitter | None = None
    trace: DelayTrace | None = None
    loss: float = 0.0
    seed: int = 0
    delivery: Delivery = Delivery.REORDERED
    newest: Newest = Newest.SENT

    def __post_init__(self) -> None:
        force_setattr(self, "delivery", member_of(Delivery, self.delivery, "delivery"))
        force_setattr(self, "newest", member_of(Newest, self.newest, "newest"))
        if self.jitter is not None and self.trace is not None:
            raise DescriptionError("a delay varies by a jitter or by a trace; expected one of them")
        if not 0.0 <= self.loss < 1.0:
            raise DescriptionError(
                f"loss of samples: expected a probability of 0 to below 1, found {self.loss:g}"
            )
        if self.jitter is None and self.trace is None and not self.loss:
            raise DescriptionError(
                "a varying delay: expected a jitter, a trace or a loss above 0; found neither"
            )
        _expect_whole("seed of a varying delay", self.seed)
        if not 0 <= self.seed <= _LARGEST_SEED:
            raise DescriptionError(
                f"seed of a varying delay: expected 0 to {_LARGEST_SEED}, found {self.seed}"
            )


class Provenance(StrEnum):
    """Where the figure of a delay comes from."""

    ASSUMED = "assumed"
    IDENTIFIED = "identified"
    MEASURED = "measured"


class TransportDelay(Struct):
    """Delay of a connection.

    Parameters
    ----------
    nominal_ns
        Delay in nanoseconds, >= 0. Zero declares no delay at all, so that an exact master
        compensates its own numerical delay by extrapolation.
    provenance
        Where the figure comes from.
    variation
        Variation from sample to sample and loss of samples; ``None``: none.
    device, date
        Device of which it was identified or measured, and date (ISO 8601); empty: unknown.

    Raises
    ------
    DescriptionError
        If the delay is negative, or a jitter could make it so.
    """

    nominal_ns: int
    provenance: Provenance = Provenance.ASSUMED
    variation: Variation | None = None
    device: str = ""
    date: str = ""

    def __post_init__(self) -> None:
        if self.nominal_ns < 0:
            raise DescriptionError(
                f"a delay cannot be negative: expected >= 0 s, found {self.nominal_ns / 1e9:g} s"
            )

        jitter = self.variation.jitter if self.variation else None
        if jitter is not None and jitter.lowest_ns(self.nominal_ns) < 0:
            raise DescriptionError(
                f"a {jitter.kind} jitter of {jitter.spread_ns / 1e9:g} s makes a delay of"
                f" {self.nominal_ns / 1e9:g} s negative; expected a smaller spread"
            )

    def __repr__(self) -> str:
        return f"TransportDelay {delay_text(self)}"

    @classmethod
    def of(
        cls,
        nominal: str | float,
        provenance: Provenance | str = Provenance.ASSUMED,
        *,
        variation: Variation | None = None,
        device: str = "",
        date: str = "",
    ) -> TransportDelay:
        """Make a delay from seconds or text: ``TransportDelay.of("16 ms", "measured")``."""
        source = member_of(Provenance, provenance, "provenance of a delay")
        return cls(nanoseconds(nominal, "delay"), source, variation, device, date)


def delay_of(delay: TransportDelay | str | float | None) -> TransportDelay | None:
    """Return a delay that is given as one, in seconds, as text, or not at all."""
    return delay if delay is None or isinstance(delay, TransportDelay) else TransportDelay.of(delay)


_USUAL_VARIATION = Variation(loss=0.5)
#: Keys of the plain data of a delay that belong to its variation.
_VARIATION_KEYS = ("jitter", "trace", "interpolated", "loss", "seed", "delivery", "newest")


def delay_of_data(data: Mapping[str, Any], folder: Path) -> TransportDelay:
    """Make a delay of the plain data of a table whose keys and types have been checked.

    Parameters
    ----------
    data
        ``nominal``, ``provenance``, ``device``, ``date``, ``jitter`` (a table), ``trace`` (rows, or
        the path of a file), ``interpolated``, ``loss``, ``seed``, ``delivery``, ``newest``.
    folder
        What the path of a trace is relative to.
    """
    varies = {key: data[key] for key in _VARIATION_KEYS if data.get(key) is not None}
    return TransportDelay.of(
        data["nominal"],
        data.get("provenance", Provenance.ASSUMED),
        variation=_variation_of_data(varies, folder) if varies else None,
        device=data.get("device", ""),
        date=data.get("date", ""),
    )


def _variation_of_data(data: Mapping[str, Any], folder: Path) -> Variation:
    fields = {key: data[key] for key in ("loss", "seed", "delivery", "newest") if key in data}
    if "jitter" in data:
        jitter = data["jitter"]
        shape = jitter.get("shape")
        fields["jitter"] = Jitter(
            jitter["kind"],
            nanoseconds(jitter["spread"], "spread"),
            _SHAPE if shape is None else float(shape),
            nanoseconds(jitter.get("correlation", 0), "correlation"),
        )
    trace, interpolated = data.get("trace"), data.get("interpolated", False)
    if isinstance(trace, str):
        fields["trace"] = DelayTrace.read(folder / trace, interpolated=interpolated)
    elif trace is not None:
        fields["trace"] = DelayTrace.of(trace, interpolated=interpolated)
    return Variation(**fields)


def delay_data(delay: TransportDelay) -> str | dict[str, Any]:
    """Return the plain data of a delay: a time, or a table if more is declared of it."""
    nominal = time_text(delay.nominal_ns)
    data: dict[str, Any] = {"nominal": nominal}
    if delay.provenance is not Provenance.ASSUMED:
        data["provenance"] = str(delay.provenance)
    data |= {key: text for key in ("device", "date") if (text := getattr(delay, key))}
    if delay.variation is not None:
        data |= _variation_data(delay.variation)
    return nominal if len(data) == 1 else data


def _variation_data(variation: Variation) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if (jitter := variation.jitter) is not None:
        data["jitter"] = {"kind": str(jitter.kind), "spread": time_text(jitter.spread_ns)}
        if jitter.shape != _SHAPE:
            data["jitter"]["shape"] = jitter.shape
        if jitter.correlation_ns:
            data["jitter"]["correlation"] = time_text(jitter.correlation_ns)
    if (trace := variation.trace) is not None:
        data["trace"] = [
            [time_text(time), "" if delay is None else time_text(delay)]
            for time, delay in zip(trace.times_ns, trace.delays_ns, strict=True)
        ]
        data |= {"interpolated": True} if trace.interpolated else {}
    for key in ("loss", "seed", "delivery", "newest"):
        value = getattr(variation, key)
        if value != getattr(_USUAL_VARIATION, key) or (key == "loss" and value):
            data[key] = str(value) if isinstance(value, StrEnum) else value
    return data


def delay_text(delay: TransportDelay) -> str:
    """Write a delay with all that is declared of it, to the nanosecond."""
    parts = [f"{delay.nominal_ns / 1e6:.15g} ms", str(delay.provenance)]
    parts += [text for text in (delay.device, delay.date) if text]
    variation = delay.variation
    if variation is None:
        return ", ".join(parts)
    if (jitter := variation.jitter) is not None:
        parts.append(
            f"{jitter.kind} jitter of {jitter.spread_ns / 1e6:.15g} ms, shape {jitter.shape:.15g},"
            f" correlation {jitter.correlation_ns / 1e6:.15g} ms"
        )
    if (trace := variation.trace) is not None:
        from hashlib import sha256

        text = repr((trace.times_ns, trace.delays_ns, trace.interpolated))
        fingerprint = sha256(text.encode()).hexdigest()[:12]
        parts.append(f"trace of {counted(len(trace.times_ns), 'row')} ({fingerprint})")
    parts.append(f"{100 * variation.loss:.15g} % lost, seed {variation.seed}")
    parts.append(f"{variation.delivery}, newest {variation.newest}")
    return ", ".join(parts)
