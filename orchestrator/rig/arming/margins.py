"""The decision whether devices may move: margins at each command, against a reserve."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.master.plan import stepping_order
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import System
from orchestrator.loops import LinearSystem, Margins
from orchestrator.loops.delayed_loop import Complex
from orchestrator.loops.loop_transfer import level, margins_of
from orchestrator.loops.sampled_loop import MultirateLoop, SampledLoop
from orchestrator.loops.state_space import Floats
from orchestrator.rig.hardware.line_delay import LineDelay
from orchestrator.rig.supervisor.rig_tracking import MarginTable


class Reserve(Struct):
    """Margins that a loop must have at least.

    delay: Of a delay that is added at the command, s, > 0.
    gain: Of the loop's gain, a factor > 1.
    own_growth: Modes that grow no faster, 1/s, are the plant's own, and margins are those of
        growing faster: an arm that coasts drifts apart, whatever its joints do.
    """

    delay: float
    gain: float
    own_growth: float = 0.0

    def cut(self, linear: LinearSystem, line: str) -> SampledLoop | MultirateLoop | None:
        """Cut the loop at a line, less its own growth; ``None`` if the line is in none."""
        loop = SampledLoop.of(linear, line)
        if loop is None or not self.own_growth:
            return loop
        if not isinstance(loop, SampledLoop):
            raise CapabilityError(
                f"the line {loop.line} is read several times in a period: expected own_growth = 0"
                f" there, found {self.own_growth:g} 1/s: choose rates by which it is read once"
            )
        return loop.beyond(self.own_growth)

    def lacks(self, margins: Margins) -> list[str]:
        """Say what a loop has too little of; nothing if it has enough."""
        if not margins.is_stable:
            beyond = f" beyond own_growth = {self.own_growth:g} 1/s" if self.own_growth else ""
            return [f"the loop is unstable{beyond}"]
        shortfalls = []
        if margins.delay.value < self.delay:
            shortfalls.append(
                f"the delay margin is {margins.delay.value * 1e3:.4g} ms, below the reserve of"
                f" {self.delay * 1e3:.4g} ms"
            )
        if margins.gain.value < self.gain:
            shortfalls.append(
                f"the gain margin is {margins.gain.value:.4g}, below the reserve of {self.gain:.4g}"
            )
        return shortfalls


#: How far a parameter is turned, as a factor; and how often an interval is halved.
_FARTHEST, _HALVINGS = 64.0, 6


class Knobs(Struct):
    """What a user could turn.

    stiffness, damping: Parameters, ``component.parameter``; ``None``: not known.
    clock: The device that is the clock, whose period no step is shorter than; ``None``: none.
    """

    stiffness: str | None = None
    damping: str | None = None
    clock: str | None = None


def advice_of(linear: LinearSystem, line: str, reserve: Reserve, knobs: Knobs) -> Iterator[str]:
    """Yield what would help, in words; what was tried and does not is left out."""
    loop = reserve.cut(linear, line)
    missing = reserve.delay - loop.margins().delay.value if loop else 0.0
    if 0.0 < missing < math.inf:
        yield f"possible remedies: compensate {missing * 1e3:.4g} ms of the delay of the loop"
    for path, turn, word in ((knobs.stiffness, -1, "lower"), (knobs.damping, 1, "raise")):
        if path is None:
            continue
        component, _, parameter = path.partition(".")
        now = linear.system.components[component].values.get(parameter)
        if not isinstance(now, int | float) or now <= 0.0:
            continue

        def enough(value: float, path: str = path) -> bool:
            loop = reserve.cut(linear.with_value(path, value), line)
            return loop is None or not reserve.lacks(loop.margins())

        enough_value = _turned(enough, float(now), turn)
        if enough_value is not None:
            yield f"or {word} {path} from {now:g} to {enough_value:.4g}"
    if knobs.clock is not None:
        yield f"a step shorter than {linear.step_ns / 1e6:g} ms would take a faster '{knobs.clock}'"
        return
    half = replace(linear, step_ns=linear.step_ns // 2)
    try:
        shorter = reserve.cut(half, line)
    except CapabilityError:
        return  # a component that samples is known for its own steps alone
    if shorter is not None and not reserve.lacks(shorter.margins()):
        yield f"or a step of {half.step_ns / 1e6:g} ms"


def _turned(enough: Callable[[float], bool], now: float, turn: int) -> float | None:
    """Return the value nearest to the present one that is enough, up or down; ``None``: none is."""
    bad, good = now, now * 2.0**turn
    while not enough(good):
        if not 1.0 / _FARTHEST < good / now < _FARTHEST:
            return None
        bad, good = good, good * 2.0**turn
    for _ in range(_HALVINGS):
        middle = math.sqrt(bad * good)
        if enough(middle):
            good = middle
        else:
            bad = middle
    return good


#: Gains of the device that are tabulated, as factors of the one that margins are known with.
_FACTORS = tuple(2.0 ** (k / 8.0) for k in range(-8, 9))
#: Number of added delays up to the delay margin.
_DELAYS = 17
#: What a margin that nothing bounds is taken for: s, and a factor.
_LONGEST, _LARGEST = 1.0, 1e3


def margin_table(linear: LinearSystem, line: str, reserve: Reserve) -> MarginTable | None:
    """Tabulate the margins of the loop through a line; ``None`` if it is in none, or unstable.

    So it is for a line that is read several times in a period: its margins do not follow from what
    comes back of a sine.

    The response of the sampled loop is computed once and interpolated, size by its logarithm and
    phase as it goes on, since each entry asks for it at other frequencies.
    """
    loop = reserve.cut(linear, line)
    if not isinstance(loop, SampledLoop) or not loop.is_stable:
        return None
    omega = loop.frequencies()
    values, ends = loop.at(omega), loop.ends(omega[0])
    size, phase = level(values), np.unwrap(np.angle(values))

    def changed(factor: float, added: float) -> Margins:
        def response(at: Floats | float) -> Complex:
            turned = np.interp(at, omega, phase) - np.asarray(at) * added
            product = factor * np.exp(np.interp(at, omega, size) + 1j * turned)
            return np.asarray(product, dtype=np.complex128)

        # A delay turns L at half the rate, and leaves it as it is at rest.
        real = [(factor * value, w) for value, w in ends if not (added and w)]
        return margins_of(response, omega, is_stable=True, ends=real)

    now = changed(1.0, 0.0)
    lowest, highest = now.gain_reduction.value, now.gain.value
    delays = tuple(
        min(changed(factor, 0.0).delay.value, _LONGEST) if lowest < factor < highest else 0.0
        for factor in _FACTORS
    )
    longest = min(now.delay.value, _LONGEST)
    added = tuple(
        float(delay_s) for delay_s in np.linspace(-longest, longest, 2 * _DELAYS - 1)[:-1]
    )
    gains = tuple(min(changed(1.0, delay_s).gain.value, _LARGEST) for delay_s in added)
    return MarginTable(
        line,
        reserve.delay,
        reserve.gain,
        _FACTORS,
        delays,
        (*added, longest),
        (*gains, 1.0),
    )


class ArmedLine(Struct):
    """One command of a device, and the loop through it.

    line: ``component.output -> component.input``.
    loop: Components of the loop; empty if the command feeds back nowhere.
    margins: As sampled; ``None`` without a loop.
    root: Of the mode that grows fastest, or dies down slowest, 1/s; ``None`` without any.
    lacks: What is below the reserve, in sentences.
    """

    line: str
    loop: tuple[str, ...] = ()
    margins: Margins | None = None
    root: complex | None = None
    lacks: tuple[str, ...] = ()

    @property
    def gain(self) -> float:
        """Factor of the loop's gain that leads to its limit; below 1 if it is unstable."""
        if self.margins is None:
            return math.nan
        return (self.margins.gain if self.margins.is_stable else self.margins.gain_reduction).value

    @property
    def growth(self) -> float:
        """Growth rate of that mode, 1/s; NaN without any."""
        return math.nan if self.root is None else self.root.real

    @property
    def frequency(self) -> float:
        """Its frequency, Hz; NaN without any."""
        return math.nan if self.root is None else abs(self.root.imag) / (2.0 * math.pi)


@dataclass(frozen=True)
class Arming:
    """What arming found of one case.

    reserve: The requested reserve.
    step_ns: Communication step of the run.
    lines: All commands of its devices.
    advice: What would help, where a reserve is not met.
    remarks: What the figures rest on.
    forced: Why the devices move although it was refused; empty: they do not.
    failure: Why no margins could be computed; empty if they were.
    objections: What was identified of devices that margins cannot be relied on with, in sentences.
    delays: Of the lines that begin at devices, as margins are computed with them.
    tables: What is left of the margins when a device changes, of the commands that ask for it.
    again: Computes the same with other values and delays, given as text by name.
    """

    reserve: Reserve
    step_ns: int
    lines: tuple[ArmedLine, ...]
    advice: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    forced: str = ""
    failure: str = ""
    objections: tuple[str, ...] = ()
    delays: tuple[LineDelay, ...] = ()
    tables: tuple[MarginTable, ...] = ()
    again: Callable[[Mapping[str, str]], Arming] | None = field(
        default=None, compare=False, repr=False
    )

    @property
    def is_granted(self) -> bool:
        """Whether every loop has its reserve, by what was identified."""
        lacks = any(line.lacks for line in self.lines)
        return not (self.failure or self.objections or lacks)

    def refusal(self) -> str:
        """Say why it is refused, with the numbers and what would help."""
        shortfalls = [
            f"{line.line}: {lack}{_grows(line)}" for line in self.lines for lack in line.lacks
        ]
        return "; ".join(filter(None, [self.failure, *self.objections, *shortfalls, *self.advice]))

    @property
    def delay_margin(self) -> float:
        """The least of all, s; infinite where no command comes back."""
        return _smallest_margin(self.lines)[1]

    @property
    def smallest_margins(self) -> str:
        """The least margins of all, in words."""
        margins = [line.margins for line in self.lines if line.margins is not None]
        if not margins:
            return "no command of a device feeds back to it"
        delay, gain = (
            min(getattr(line_margins, key).value for line_margins in margins)
            for key in ("delay", "gain")
        )
        return f"a delay margin of {delay * 1e3:.4g} ms and a gain margin of {gain:.4g}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of it in a result, in sentences."""
        if self.is_granted:
            return (*(f"armed: {_margins_text(line)}" for line in self.lines), *self.remarks)
        refused = f"ARMING WAS REFUSED, BUT FORCED ({self.forced}): {self.refusal()}"
        return (refused, *self.remarks)

    def as_json(self) -> dict[str, Any]:
        """Return plain data: seconds, factors, 1/s, Hz; what is infinite or unknown is ``None``."""
        return {
            "granted": self.is_granted,
            "forced": self.forced,
            "delay_reserve_s": self.reserve.delay,
            "gain_reserve": self.reserve.gain,
            "own_growth_1_s": self.reserve.own_growth,
            "step_s": self.step_ns * 1e-9,
            "lines": [_line_json(line) for line in self.lines],
            "advice": list(self.advice),
            "remarks": list(self.remarks),
            "failure": self.failure,
            "objections": list(self.objections),
            "delays": [line.as_json() for line in self.delays],
        }


def arm(
    linear: LinearSystem,
    devices: Collection[str],
    reserve: Reserve,
    knobs: Knobs,
    run: System | None = None,
    tracked: Collection[str] = (),
) -> Arming:
    """Compute the margins of the loops through the commands of devices."""
    names = [str(line) for line in linear.system.connections if line.target.component in devices]
    sides = linear.sides() or (linear,)
    of_sides = [tuple(_armed(side, name, reserve) for name in names) for side in sides]
    if all(math.isinf(_smallest_margin(lines)[1]) for lines in of_sides):  # no side shows the loop
        sides, of_sides = (linear,), [tuple(_armed(linear, name, reserve) for name in names)]
    index = min(range(len(sides)), key=lambda i: _smallest_margin(of_sides[i]))
    linear, lines = sides[index], of_sides[index]
    insufficient = [line for line in lines if line.lacks]
    advice = tuple(advice_of(linear, insufficient[0].line, reserve, knobs)) if insufficient else ()
    remarks = () if run is None else tuple(other_order(linear.system, run, devices))
    remarks = (*_at_kink(sides, of_sides), *remarks)
    computed = (
        margin_table(linear, n, reserve) for n in names if n.rpartition("-> ")[2] in tracked
    )
    tables = tuple(table for table in computed if table is not None)
    return Arming(reserve, linear.step_ns, lines, advice, remarks, tables=tables)


def _armed(linear: LinearSystem, name: str, reserve: Reserve) -> ArmedLine:
    loop = reserve.cut(linear, name)
    if loop is None:
        return ArmedLine(name)
    margins = loop.margins()
    root = loop.roots[0] + reserve.own_growth if loop.roots else None
    return ArmedLine(name, loop.components, margins, root, tuple(reserve.lacks(margins)))


def _smallest_margin(lines: Sequence[ArmedLine]) -> tuple[bool, float]:
    """Return what is less for lines that have less: whether all are granted, and the margin."""
    delays = [line.margins.delay.value for line in lines if line.margins]
    return not any(line.lacks for line in lines), min(delays, default=math.inf)


def _at_kink(
    sides: Sequence[LinearSystem], of_sides: Sequence[Sequence[ArmedLine]]
) -> Sequence[str]:
    """Say what stands at a kink, and how each side of it is."""
    if len(sides) == 1:
        return ()
    kinks = sorted({name for model in sides[0].models.values() for name in model.kinks})
    sides_text = "; ".join(
        f"{side.contact}: {_margins_text(line)}{_grows(line)}"
        for side, lines in zip(sides, of_sides, strict=True)
        for line in lines
    )
    objection = (
        f"{', '.join(kinks)}: the system is at a kink, such as a contact that is just open; both"
        f" sides need the reserve. Choose a time on one side in arming.at: {sides_text}"
    )
    return [objection]


def other_order(model: System, run: System, devices: Collection[str]) -> Sequence[str]:
    """Say where devices are stepped in another order than their models: that is a step of delay."""
    orders = [_positions_in_order(system) for system in (model, run)]
    remarks = []
    for line in run.connections:
        ends = line.source.component, line.target.component
        if not set(ends) & set(devices) or not all(
            set(ends) <= set(positions) for positions in orders
        ):
            continue
        before = [positions[ends[0]] < positions[ends[1]] for positions in orders]
        if before[0] != before[1]:
            remarks.append(
                f"the run steps '{ends[before[1]]}' after '{ends[not before[1]]}', and its models"
                " in the opposite order, so its loop has one step of delay more or less"
            )
    return list(dict.fromkeys(remarks))


def _positions_in_order(system: System) -> Mapping[str, int]:
    order = [name for ring in stepping_order(system) for name in ring]
    return {name: position for position, name in enumerate(order)}


def _grows(line: ArmedLine) -> str:
    if line.root is None or line.growth <= 0.0:
        return ""
    return f": it grows with {line.growth:+.6g} 1/s at {line.frequency:.4g} Hz"


def _margins_text(line: ArmedLine) -> str:
    if line.margins is None:
        return f"{line.line} feeds back nowhere"
    return (
        f"{line.line} has a delay margin of {line.margins.delay.value * 1e3:.4g} ms and a gain"
        f" margin of {line.margins.gain.value:.4g}"
    )


def _line_json(line: ArmedLine) -> dict[str, Any]:
    margins = line.margins
    return {
        "line": line.line,
        "loop": list(line.loop),
        "stable": None if margins is None else margins.is_stable,
        "delay_margin_s": None if margins is None else _finite(margins.delay.value),
        "gain_margin": _finite(line.gain),
        "growth_1_s": _finite(line.growth),
        "frequency_hz": _finite(line.frequency),
        "lacks": list(line.lacks),
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
