"""Measured values that follow commands: whether a device takes what it is sent."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence

from orchestrator.core.structs import Struct
from orchestrator.rig.devices import DeviceConnector, DeviceConnectors
from orchestrator.rig.devices.device import slices_of

#: A measured value that stands while its command moved by this share of its range, for so long, s.
_TRAVEL, _STANDS_S = 0.01, 0.3
#: A value moves if it changes by this share of that travel, or of what its speed is in a period.
_OF_TRAVEL, _OF_STEP = 0.1, 0.25
#: Commands are held if no value moved for so many times the longest way so far, and periods more.
_WAYS, _PERIODS = 2.0, 3.0
#: A value that stood moves if it leaves its last ones by so many times their spread.
_LAST, _SPREADS = 8, 3.0
#: Catching up, a value may be ahead of its speed by so many periods.
_JUMP = 2.0
#: A shown command is one that was sent if it is as near, in shares of a step at its speed, or of
#: its range.
_EXACT, _OF_RANGE = 2e-3, 1e-5
#: A shown command that has gone from one that was sent to another so often follows them.
_SHOWN = 3
#: Largest number of commands in memory until the robot shows one of them, and the number that is
#: compared before it has shown the first.
_MOST_SENT, _FEW = 4096, 64
#: Without a range, a command that went so many of these steps has to show.
_STEPS = 25.0


def _pairs(ports: DeviceConnectors) -> Iterator[tuple[int, int, DeviceConnector, DeviceConnector]]:
    """Yield where a measured scalar and the command that it follows are, and their connectors."""
    inputs, commands = {port.name: port for port in ports.inputs}, slices_of(ports.inputs)
    measured = slices_of(ports.outputs)
    for port in ports.outputs:
        command = inputs.get(port.follows)
        if command is not None:
            first, of = measured[port.name].start, commands[command.name].start
            yield from (
                (first + i, of + i, port, command) for i in range(min(port.size, command.size))
            )


class _Followed(Struct):
    """A measured scalar, the command that it follows, and from which travel on it must."""

    name: str
    measured: int
    command: int
    travel: float


def _travel(command: DeviceConnector) -> float:
    return _TRAVEL * (command.maximum - command.minimum)


class FollowCheck:
    """Finds measured values that stand while a command moves.

    ports: Of the device; outputs name the input that they follow.
    """

    def __init__(self, ports: DeviceConnectors) -> None:
        first = slices_of(ports.outputs)
        self._pairs = [
            _Followed(port.scalars[at - first[port.name].start], at, of, _travel(command))
            for at, of, port, command in _pairs(ports)
            if math.isfinite(_travel(command))
        ]
        self._at: list[float] = []
        self._low: list[float] = []
        self._high: list[float] = []
        self._since_ns = 0

    def look(self, values: Sequence[float], sent: Sequence[float], now_ns: int) -> str:
        """Say what stands while it should move; empty: something moves, or nothing should.

        All that follows a command counts together: a robot may be commanded in another frame than
        it measures in.
        """
        pairs = self._pairs
        now = [values[pair.measured] for pair in pairs]
        commands = [sent[pair.command] for pair in pairs]
        changes = zip(pairs, self._at, now, strict=False)
        if not self._at or any(abs(x - at) > _OF_TRAVEL * pair.travel for pair, at, x in changes):
            self._at, self._low, self._high = now, commands, commands
            self._since_ns = 0
            return ""
        self._low = [min(*bounds) for bounds in zip(self._low, commands, strict=True)]
        self._high = [max(*bounds) for bounds in zip(self._high, commands, strict=True)]
        ends = zip(pairs, self._low, self._high, now, strict=True)
        moved = [(h - low, p.name, x) for p, low, h, x in ends if h - low > p.travel]
        if not moved:
            return ""
        self._since_ns = self._since_ns or now_ns
        seconds = (now_ns - self._since_ns) * 1e-9
        if seconds <= _STANDS_S:
            return ""
        distance, name, value = moved[0]
        return _stands(name, value, distance, seconds)


def _stands(name: str, value: float, distance: float, seconds: float) -> str:
    return (
        f"its command moved by {distance:.3g}, and '{name}' stands at {value:.6g} for"
        f" {seconds:.2g} s:"
        " it does not take its commands, or repeats the same value"
    )


class JumpCheck:
    """Finds measured values that jump farther than the speed of their commands allows.

    A robot that restarts while its counts go on takes the next command from where it stands. Its
    own counts show nothing, so the jump is the first sign. Angles count if all values are angles:
    those of a pose may jump with its representation.

    ports: Of the device; outputs name the input that they follow, in the same unit and frame.
    """

    def __init__(self, ports: DeviceConnectors) -> None:
        first = slices_of(ports.outputs)
        pairs = [
            (port.scalars[at - first[port.name].start], at, port.unit, command.speed / ports.rate)
            for at, _, port, command in _pairs(ports)
            if math.isfinite(command.speed)
            and (port.unit, port.frame) == (command.unit, command.frame)
        ]
        is_all_angles = all(unit == "rad" for _, _, unit, _ in pairs)
        self._pairs = [pair for pair in pairs if is_all_angles or pair[2] != "rad"]
        self._last: list[float] = []

    def look(self, values: Sequence[float], gap: int) -> str:
        """Say what jumped since the last sample, ``gap`` samples ago; empty: nothing."""
        now = [values[at] for _, at, _, _ in self._pairs]
        last, self._last = self._last, now
        for (name, _, unit, step), before, value in zip(self._pairs, last, now, strict=False):
            moved = value - before
            moved = math.remainder(moved, 2.0 * math.pi) if unit == "rad" else moved
            limit = step * (max(gap, 1) + _JUMP)
            if abs(moved) > limit:
                return (
                    f"'{name}' jumped by {moved:.3g} {unit} to {value:.6g} {unit}, where the speed"
                    f" of its command allows {step * max(gap, 1):.3g} {unit}: it took its command"
                    " from another place, as a device that was restarted"
                )
        return ""


class ShownCommand:
    """Finds a device that shows another command than it was sent, before it is sent the next.

    The commands that may be in force are the last one that the device showed, and all that were
    sent since. A device whose shown command has followed them shows it. One that does not, such as
    a setpoint that the device plans itself, says nothing.

    ports: Of the device.
    """

    def __init__(self, ports: DeviceConnectors) -> None:
        scalars = [(name, port) for port in ports.inputs for name in port.scalars]
        self._axes = [
            (i, name, max(_EXACT * port.speed / ports.rate, _exact(port)))
            for i, (name, port) in enumerate(scalars)
            if math.isfinite(port.speed)
        ]
        start = tuple(port.start for _, port in scalars)
        self._sent: deque[tuple[float, ...]] = deque([start], maxlen=_MOST_SENT)
        self._shown: Sequence[float] = start
        self._moves = 0

    def send(self, values: Sequence[float]) -> None:
        """Take note of a command."""
        self._sent.append(tuple(values))

    def look(self, echoed: Sequence[float] | None) -> str:
        """Say why the device is another one; empty: it shows what it was sent, or says nothing."""
        if echoed is None or not self._axes:
            return ""
        before, self._shown = self._shown, echoed
        follows = self._moves >= _SHOWN
        newest = len(self._sent) - 1
        oldest = 0 if follows else max(newest - _FEW, 0)
        indices = range(newest, oldest - 1, -1)
        index = next((at for at in indices if self._is(echoed, self._sent[at])), None)
        if index is not None:
            self._moves += not self._is(echoed, before)
            for _ in range(index):
                self._sent.popleft()
            return ""
        for i, name, exact in self._axes if follows else ():
            column = [sent[i] for sent in self._sent]
            low, high = min(column), max(column)
            if low - exact <= echoed[i] <= high + exact:
                continue
            return (
                f"it shows {echoed[i]:.6g} as its command '{name}', where {low:.6g} to {high:.6g}"
                " were sent"
            )
        return ""

    def _is(self, echoed: Sequence[float], sent: Sequence[float]) -> bool:
        return all(abs(echoed[i] - sent[i]) <= exact for i, _, exact in self._axes)


def _exact(command: DeviceConnector) -> float:
    span = command.maximum - command.minimum
    return _OF_RANGE * span if math.isfinite(span) else 0.0


class _Held(Struct):
    """A measured scalar, the command that it follows, and how far both go.

    least: By so much it changes at least if it moves.
    probe: By so much the command leads a value that does not move, at first.
    step: By so much at last: half of what its speed is in a period.
    travel: As in :class:`FollowCheck`.
    """

    name: str
    measured: int
    command: int
    least: float
    probe: float
    step: float
    travel: float


def _held(name: str, measured: int, of: int, command: DeviceConnector, period: float) -> _Held:
    step, travel = command.speed * period, _travel(command)
    smallest = min(_OF_STEP * step, _OF_TRAVEL * travel)
    probe = min(command.ramp * period * period, smallest)
    return _Held(name, measured, of, smallest, probe, 0.5 * step, min(travel, _STEPS * step))


class HeldCommands:
    """Finds commands that are held or lost on their way, where only motion says so.

    While commands move and no value that follows them does, the device takes none of them. Then
    they go back to where it stands, and lead it by little until it moves. What they are ahead by
    until that is seen may come at once. From rest, commands may be on their way for twice the
    longest time so far from a command that moves to a value that moves, and three periods. Where a
    command goes on in the direction in which its value moved, the value may stand for that time
    once, and three periods: a pause is not the time of a way, and each would allow a longer one.

    ports: Of the device; outputs name the input that they follow, in the same unit and frame.
    """

    def __init__(self, ports: DeviceConnectors) -> None:
        self._period = 1.0 / ports.rate
        first = slices_of(ports.outputs)
        self._pairs = [
            _held(port.scalars[at - first[port.name].start], at, of, command, self._period)
            for at, of, port, command in _pairs(ports)
            if math.isfinite(command.speed)
            and (port.unit, port.frame) == (command.unit, command.frame)
        ]
        self._sent: deque[tuple[int, tuple[float, ...]]] = deque()  # another thread adds to it
        self._past: deque[tuple[int, tuple[float, ...]]] = deque()
        self._last: deque[list[float]] = deque(maxlen=_LAST)
        self._offsets: list[float] = []
        self._at: list[float] = []
        self._went: list[float] = []
        self._least = [pair.least for pair in self._pairs]
        self._base: tuple[float, ...] = ()
        self._left_ns = self._held_ns = self._away_ns = self._moved_ns = 0
        self._way_s = math.inf  # it is not known before a value followed once

    def send(self, now_ns: int, values: Sequence[float]) -> None:
        """Take note of a command that left."""
        if self._pairs:
            self._sent.append((now_ns, tuple(values)))

    def look(
        self, values: Sequence[float], sample_ns: int, newest: Sequence[float]
    ) -> list[float] | None:
        """Return the commands to go back to; ``None``: none has to.

        values, sample_ns: Of a sample, and its time on this machine.
        newest: What was sent last.
        """
        while self._sent and self._sent[0][0] <= sample_ns:
            self._past.append(self._sent.popleft())
        if not self._pairs or not self._past:
            return None
        now = [values[pair.measured] for pair in self._pairs]
        sent = self._past[-1][1]
        self._see(now, sent, sample_ns)
        self._last.append(now)
        if not self._left_ns and self._leads(sent, 1.0):
            self._left_ns = sample_ns
        way_s = self._way_s if math.isfinite(self._way_s) else 0.0
        self._forget((self._left_ns or sample_ns) - round(1e9 * way_s))
        waits_s = (sample_ns - self._left_ns) * 1e-9 if self._left_ns else 0.0
        ways = 1.0 if self._is_interrupted(sent) else _WAYS
        if waits_s <= ways * self._way_s + _PERIODS * self._period:
            return None
        if not self._held_ns:
            self._hold(now, sample_ns)
        return self._gone_back(sample_ns, newest)

    def _see(self, now: list[float], sent: tuple[float, ...], sample_ns: int) -> None:
        """Look whether a value moves, and learn how long its command took."""
        if not self._offsets:
            self._offsets = [
                x - sent[pair.command] for pair, x in zip(self._pairs, now, strict=True)
            ]
        changes = zip(self._at, now, self._least, strict=False)
        if self._at and not any(abs(x - at) > smallest for at, x, smallest in changes):
            return
        begins = not (self._held_ns or self._is_interrupted(sent))
        if self._at and begins and self._leads(sent, 0.5):
            way_s = (sample_ns - self._left_ns) * 1e-9 if self._left_ns else 0.0
            is_first = math.isinf(self._way_s)
            self._way_s = way_s if is_first else max(self._way_s, way_s)
        self._went = [x - at for at, x in zip(self._at, now, strict=False)]
        self._at, self._base = now, sent
        self._least = [pair.least for pair in self._pairs]
        self._left_ns = self._held_ns = self._away_ns = 0
        self._moved_ns = sample_ns

    def _is_interrupted(self, sent: tuple[float, ...]) -> bool:
        """Whether commands went on, with no rest, in the direction of values that then stood."""
        rest_s = (self._left_ns - self._moved_ns) * 1e-9
        is_known = self._left_ns and math.isfinite(self._way_s)
        if not is_known or rest_s > self._way_s + _PERIODS * self._period:
            return False
        return all(
            (sent[pair.command] - self._base[pair.command]) * went >= 0.0
            for pair, went in zip(self._pairs, self._went, strict=False)
        )

    def _leads(self, sent: tuple[float, ...], share: float) -> bool:
        """Whether a command left where it was when a value moved last, by a share of the least."""
        return any(
            abs(sent[pair.command] - self._base[pair.command]) > share * pair.least
            for pair in self._pairs
        )

    def _forget(self, before_ns: int) -> None:
        while len(self._past) > 1 and self._past[1][0] <= before_ns:
            self._past.popleft()

    def _hold(self, now: list[float], sample_ns: int) -> None:
        """From here on a smaller motion counts: one that its last values do not have."""
        self._at, self._held_ns = now, sample_ns
        spreads = [max(column) - min(column) for column in zip(*self._last, strict=True)]
        self._least = [
            min(pair.least, max(_SPREADS * spread, 0.5 * pair.probe))
            for pair, spread in zip(self._pairs, spreads, strict=True)
        ]

    def _gone_back(self, sample_ns: int, newest: Sequence[float]) -> list[float] | None:
        """Return the newest commands, but those that lead their value by too much with it."""
        back, taken, goes_back = list(newest), self._past[0][1], False
        share = min((sample_ns - self._held_ns) * 1e-9 / _STANDS_S, 1.0)
        rows = zip(self._pairs, self._at, self._offsets, self._least, strict=True)
        for pair, at, offset, smallest in rows:
            stands, was = at - offset, taken[pair.command]
            if abs(stands - was) > 2.0 * pair.least:  # it stands elsewhere than it was led to
                stands = was
            probe = max(pair.probe, 1.5 * smallest)
            lead = probe + share * max(pair.step - probe, 0.0)
            if abs(back[pair.command] - stands) > lead:
                sign = math.copysign(1.0, back[pair.command] - stands)
                back[pair.command], goes_back = stands + sign * (lead - probe), True
        return back if goes_back else None

    def lost(self, commands: Sequence[float], now_ns: int) -> str:
        """Say that the device takes none of its commands; empty: it may.

        wanted: The newest command of the run.
        """
        pairs = self._pairs if self._held_ns else []
        away = [p for p in pairs if abs(commands[p.command] - self._base[p.command]) > p.travel]
        if not away:
            self._away_ns = 0
            return ""
        self._away_ns = self._away_ns or now_ns
        seconds = (now_ns - self._away_ns) * 1e-9
        if seconds <= _STANDS_S:
            return ""
        pair = away[0]
        value = self._at[pairs.index(pair)]
        return _stands(
            pair.name, value, abs(commands[pair.command] - self._base[pair.command]), seconds
        )
