"""Faults: what goes wrong on connections or at outputs, from when until when; if it can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import combinations
from types import MappingProxyType
from typing import Any

from orchestrator.core.diagnostics import (
    DescriptionError,
    UnknownNameError,
    choices_for,
    with_article,
)
from orchestrator.core.structs import Struct
from orchestrator.core.system.connection import Connection, Endpoint, connection_name
from orchestrator.core.system.naming import is_finite, is_whole
from orchestrator.core.system.ports import Connector, DataType
from orchestrator.core.system.system import System
from orchestrator.core.system.time import nanoseconds, seconds, time_text

_LARGEST_SEED = 2**63 - 1


class FaultKind(StrEnum):
    """Kind of a fault.

    ``drop``: the input keeps the last value that arrived. ``delay-step``: the connection has
    another delay. ``stuck``: the sent value is frozen at the begin of the fault. ``bias``,
    ``drift``, ``scale``, ``noise``: the sent value gets an offset, a growing offset, a factor,
    white Gaussian noise. ``nan``: the sent value is NaN.
    """

    DROP = "drop"
    DELAY_STEP = "delay-step"
    STUCK = "stuck"
    BIAS = "bias"
    DRIFT = "drift"
    SCALE = "scale"
    NOISE = "noise"
    NAN = "nan"

    @property
    def codec(self) -> FaultCodec:
        """Which figures it takes, where it acts, and what it does in words."""
        return FAULTS[self]

    @property
    def is_received(self) -> bool:
        """Whether it happens where the signal arrives; else where it is sent."""
        return self.codec.is_received

    @property
    def needs_real(self) -> bool:
        """Whether it computes with the value, so that only Reals can have it."""
        return self.codec.needs_real


class FaultCodec(Struct):
    """What there is to know of a kind of fault.

    effect: What it does, for the report; ``{amount}`` is the figure with its unit, ``{factor}`` the
        figure without one.
    figure: Name of the number that it needs, with which the value is computed.
    needs, takes: Names of further figures, those without which it is not described and others.
    is_received: Whether it happens where the signal arrives; else where it is sent.
    needs_real: Whether only Reals can have it.
    """

    effect: str
    figure: str = ""
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    is_received: bool = False
    needs_real: bool = False

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of all figures that it takes, the needed ones first."""
        return (*((self.figure,) if self.figure else ()), *self.needs, *self.takes)


FAULTS: Mapping[FaultKind, FaultCodec] = MappingProxyType(
    {
        FaultKind.DROP: FaultCodec(
            "no sample arrives, so the input keeps its value", is_received=True
        ),
        FaultKind.DELAY_STEP: FaultCodec(
            "the delay is {delay:g} ms instead of {declared:g} ms",
            needs=("delay",),
            is_received=True,
        ),
        FaultKind.STUCK: FaultCodec("the sent value is frozen at the begin"),
        FaultKind.BIAS: FaultCodec(
            "{amount} are added to the sent value", "value", needs_real=True
        ),
        FaultKind.DRIFT: FaultCodec(
            "{amount} per second are added to the sent value", "rate", needs_real=True
        ),
        FaultKind.SCALE: FaultCodec(
            "the sent value is multiplied by {factor}", "factor", needs_real=True
        ),
        FaultKind.NOISE: FaultCodec(
            "white noise of the standard deviation {amount} is added to the sent value, seed"
            " {seed}",
            "sigma",
            takes=("seed",),
            needs_real=True,
        ),
        FaultKind.NAN: FaultCodec("the sent value is NaN", needs_real=True),
    }
)


class Fault(Struct):
    """One fault of a scenario.

    Parameters
    ----------
    kind
        See :class:`FaultKind`.
    on
        A connection, ``"sensor.force -> contact.force"``, or an output, ``"sensor.force"``, which
        means all its connections.
    begin_ns, until_ns
        It acts at communication points from ``begin_ns`` on and before ``until_ns``, in
        nanoseconds; ``None``: to the end.
    amount
        Offset, its growth per second, factor or standard deviation, in the unit of the output
        where it has one; by element for an array, if it is a tuple.
    delay_ns
        The other delay in nanoseconds, >= 0.
    seed
        Seed of the noise. Draws depend only on the seed, the name of the output and the time.
    element
        Affected element of an array; ``None``: all.
    label
        Name in figures and tables; the kind if empty.

    Raises
    ------
    DescriptionError
        If a value is out of range; all problems together.

    Examples
    --------
    ::

        lost = Fault.of("drop", "sensor.force -> contact.force", "2 s", until="2.1 s")
        result = simulate(system, step="1 ms", stop="5 s", faults=[lost])
    """

    kind: FaultKind
    on: str
    begin_ns: int
    until_ns: int | None = None
    amount: float | tuple[float, ...] = 0.0
    delay_ns: int = 0
    seed: int = 0
    element: int | None = None
    label: str = ""

    def __post_init__(self) -> None:
        problems = []
        if self.until_ns is not None and self.until_ns <= self.begin_ns:
            problems.append(
                f"until: expected later than its begin at {seconds(self.begin_ns):.9g} s, found"
                f" {seconds(self.until_ns):.9g} s"
            )
        figure = self.kind.codec.figure or "value"
        amounts = self.amount if isinstance(self.amount, tuple) else (self.amount,)
        if not amounts or not all(map(is_finite, amounts)):
            problems.append(f"{figure}: expected finite numbers, found {self.amount!r}")
        elif self.kind is FaultKind.NOISE and min(amounts) < 0:
            problems.append(f"sigma: expected >= 0, found {self.amount!r}")
        if self.delay_ns < 0:
            problems.append(f"delay: expected >= 0 s, found {seconds(self.delay_ns):.9g} s")
        if not is_whole(self.seed) or not 0 <= self.seed <= _LARGEST_SEED:
            problems.append(
                f"seed: expected a whole number, 0 to {_LARGEST_SEED}, found {self.seed!r}"
            )
        if self.element is not None and (not is_whole(self.element) or self.element < 0):
            problems.append(f"element: expected a whole number >= 0, found {self.element!r}")
        if problems:
            raise DescriptionError(*(f"fault {self}: {text}" for text in problems))

    @classmethod
    def of(
        cls,
        kind: FaultKind | str,
        on: str,
        begin: str | float,
        until: str | float | None = None,
        *,
        label: str = "",
        element: int | None = None,
        **figures: Any,
    ) -> Fault:
        """Make a fault from what people write.

        ``Fault.of("bias", "sensor.force", "2 s", "2.5 s", value=3.0)``

        Parameters
        ----------
        kind, on, label, element
            As above.
        begin, until
            Seconds or text.
        **figures
            What the kind needs: ``value`` of a bias, ``rate`` of a drift (per second), ``factor``
            of a scale, ``sigma`` and ``seed`` of noise, ``delay`` of a step of the delay.

        Raises
        ------
        DescriptionError
            If the kind is none, or figures are missing, too many or out of range; all together.
        """
        if kind not in set(FaultKind):
            raise DescriptionError(
                f"fault '{label or kind}' on '{on}': no kind '{kind}'"
                f"{choices_for(str(kind), FaultKind, 'kind')}"
            )
        kind = FaultKind(kind)
        problems = _wrong_figures(kind, figures)
        times: dict[str, int] = {}
        times_text = {"from": begin, "until": until, "delay": figures.get("delay")}
        for name, time in times_text.items():
            if time is None:
                continue
            try:
                times[name] = nanoseconds(time, name)
            except DescriptionError as error:
                problems += error.problems
        if problems:
            raise DescriptionError(*(f"fault '{label or kind}' on '{on}': {p}" for p in problems))
        amount = figures.get(kind.codec.figure, 0.0)
        return cls(
            kind,
            on,
            times["from"],
            times.get("until"),
            tuple(amount) if isinstance(amount, (list, tuple)) else amount,
            times.get("delay", 0),
            figures.get("seed", 0),
            element,
            label,
        )

    @property
    def name(self) -> str:
        """What people call it."""
        return self.label or str(self.kind)

    def amount_of(self, element: int) -> float:
        """Amount for one element of an array."""
        return float(self.amount[element] if isinstance(self.amount, tuple) else self.amount)

    def touches(self, element: int) -> bool:
        """Whether it acts on one element of an array."""
        return self.element is None or self.element == element

    def __str__(self) -> str:
        return f"'{self.name}' on '{self.on}'"

    def __repr__(self) -> str:
        until = "" if self.until_ns is None else f" until {seconds(self.until_ns):.9g} s"
        figure = self.kind.codec.figure
        amount = f", {figure} {self.amount}" if figure else ""
        delay = f", delay {time_text(self.delay_ns)}" if "delay" in self.kind.codec.figures else ""
        return (
            f"Fault {self}: {self.kind} from {seconds(self.begin_ns):.9g} s{until}{amount}{delay}"
        )


def _wrong_figures(kind: FaultKind, figures: Mapping[str, Any]) -> list[str]:
    """What is missing, and what a fault of this kind does not take."""
    codec = kind.codec
    takes = ", ".join(codec.figures) or "nothing but on, from and until"
    problems = [
        f"a fault of kind '{kind}' has no '{name}'; it takes: {takes}"
        for name in figures
        if name not in codec.figures
    ]
    problems += [
        f"missing '{name}', which a fault of kind '{kind}' needs"
        for name in codec.figures
        if name not in codec.takes and name not in figures
    ]
    return problems


def lines_of(fault: Fault, system: System) -> list[Connection]:
    """Find the connections of a flat system that a fault acts on."""
    text = fault.on
    if "->" in text:
        names = [str(line) for line in system.connections]
        name = connection_name(text)
        lines = [line for line in system.connections if str(line) == name]
        kind = "connection"
    else:
        names = list(dict.fromkeys(str(line.source) for line in system.connections))
        lines = [line for line in system.connections if str(line.source) == text.strip()]
        kind = "connected output"
    if lines:
        return lines
    choices = choices_for(text, names, kind, "its")
    raise UnknownNameError(f"fault {fault}: system '{system.name}' has no such {kind}{choices}")


def fault_problems(faults: Sequence[Fault], system: System) -> list[str]:
    """List everything that keeps faults from acting on a flat system."""
    problems: list[str] = []
    delayed: list[tuple[Fault, set[Endpoint]]] = []
    for fault in faults:
        try:
            lines = lines_of(fault, system)
        except DescriptionError as error:
            problems += error.problems
            continue
        source = system.components[lines[0].source.component].connectors[lines[0].source.connector]
        problems += [f"fault {fault}: {text}" for text in _misfits(fault, source)]
        problems += [f"fault {fault}: {text}" for line in lines for text in _held(line, system)]
        if fault.kind is FaultKind.DELAY_STEP:
            delayed.append((fault, {line.target for line in lines}))
    for (first, targets), (second, others) in combinations(delayed, 2):
        if targets & others and _overlap(first, second):
            shared = ", ".join(sorted(map(str, targets & others)))
            problems.append(
                f"faults {first} and {second} give the connection to {shared} two delays at a time:"
                " expected times that do not overlap"
            )
    return problems


def _misfits(fault: Fault, source: Connector) -> list[str]:
    problems = []
    if source.type.is_text:
        problems.append(f"the signal is {with_article(source.type)}; expected numbers")
    elif fault.kind.needs_real and source.type is not DataType.REAL:
        problems.append(
            f"the signal is {with_article(source.type)}; a {fault.kind} needs a Real;"
            " expected one of"
            f" {', '.join(kind for kind in FaultKind if not kind.needs_real)}"
        )
    if fault.element is not None and fault.kind is FaultKind.DELAY_STEP:
        problems.append("element: a connection has one delay; leave it out")
    elif fault.element is not None and fault.element >= source.size:
        problems.append(
            f"element: expected below {source.size}, the size of '{source.name}',"
            f" found {fault.element}"
        )
    if isinstance(fault.amount, tuple) and len(fault.amount) != source.size:
        problems.append(
            f"expected {source.size} numbers, one for each element of '{source.name}', found"
            f" {len(fault.amount)}"
        )
    return problems


def _held(line: Connection, system: System) -> Iterator[str]:
    """Say why values of a connection are not brought once in each step."""
    if line.is_predicted:
        yield (
            f"connection {line} predicts its input ('{line.extrapolation}'): expected one that"
            " holds or delays; leave its extrapolation out"
        )
    if line.compensation is not None:
        yield (
            f"connection {line} has the compensation '{line.compensation}', which would make up for"
            " the fault: leave it out"
        )
    source, target = (system.components[end.component] for end in line.ends)
    at_events = target.shares_events and (
        source.shares_events or target.changes_at_events(line.target.connector)
    )
    if line.delay is None and at_events:
        yield (
            f"connection {line} carries values at events, and faults act at communication points:"
            " give it a delay, or run one of its components in a process of its own"
        )


def _overlap(a: Fault, b: Fault) -> bool:
    first, second = sorted((a, b), key=lambda fault: fault.begin_ns)
    return first.until_ns is None or first.until_ns > second.begin_ns
