"""Sending with faults: drawn for each datagram by its number, so that a seed repeats them."""

from __future__ import annotations

import argparse
import heapq
import math
import random
import signal
import time
from collections.abc import Callable, Mapping, Sequence

from hw_adapters.emulation.event_log import EventLog
from hw_adapters.emulation.faults import CLOCKED, COUNTED_ON, Faults, read_faults
from orchestrator import DescriptionError

Send = Callable[[bytes], object]


class FaultySender:
    """Hands datagrams on as a bad link would.

    Parameters
    ----------
    faults
        What goes wrong; see :class:`Faults`.
    seed
        Of the draws: four for each datagram, whatever they are used for.
    log
        Gets a row ``drop``, ``duplicate``, ``reorder`` or ``malformed`` with the number of the
        datagram in the column ``number``.
    now
        Clock in s; its value at the beginning is that of the device's birth.
    """

    def __init__(
        self, faults: Faults, seed: int, log: EventLog, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._faults, self._log, self._now = faults, log, now
        self._draws = random.Random(seed)  # noqa: S311 # for faults that repeat, not for secrets
        self._born = now()
        self._number = 0
        self._held: list[tuple[Send, bytes]] = []
        self._later: list[tuple[float, int, Send, bytes]] = []
        self._restarted = False
        self._collected: list[tuple[Send, bytes]] = []
        self._frozen: dict[int, list[float]] = {}
        self._next: tuple[Faults, float] | None = None

    def strike_after(self, faults: Faults, seconds: float) -> None:
        """Let other faults act so long after the device first moves."""
        self._next = (faults, seconds)

    def moved(self) -> None:
        """Take note that the device is commanded to move."""
        if self._next is None:
            return
        faults, seconds = self._next
        self._next = None
        signal.signal(signal.SIGALRM, lambda *_: self.strike(faults))
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def strike(self, faults: Faults) -> None:
        """Let other faults act from now on, and count their times from here."""
        self._faults, self._born = faults, self._now()
        self._log.write("fault")

    @property
    def dead(self) -> bool:
        """Whether the device is silent: for ever, or before a restart."""
        gone, faults = self._now() - self._born, self._faults
        if gone >= faults.dead_after_s:
            return True
        return faults.restart_s - faults.restart_pause_s <= gone < faults.restart_s

    @property
    def wrong_status(self) -> bool:
        """Whether the device says that it is not in order."""
        return self._faults.wrong_status

    @property
    def slower_ms(self) -> float:
        """By how much the device follows its commands later, ms."""
        return self._faults.slower_ms

    @property
    def clock_jump_s(self) -> float:
        """By how much the device's clock runs ahead, s; below 0: behind."""
        faults = self._faults
        gone = self._now() - self._born
        return faults.clock_jump_s - faults.clock_back_s + faults.clock_fast * gone

    @property
    def clock_fast(self) -> float:
        """Share by which the device's clock runs too fast."""
        return self._faults.clock_fast

    def values(
        self,
        values: Sequence[float],
        *largest: float,
        part: int = 0,
        drifting: int = 0,
        scale: float = 1.0,
    ) -> list[float]:
        """Return what the device says of its values.

        Parameters
        ----------
        values
            As they are.
        *largest
            The end of their range, in their unit: one for all, or one for each.
        part
            Of the device, where each has values of its own.
        drifting
            Number of the value that drifts.
        scale
            How much of it is one unit of the drift.
        """
        sent, faults = list(values), self._faults
        if faults.freeze:
            return list(self._frozen.setdefault(part, sent))
        if faults.nan:
            return [math.nan] * len(sent)
        if faults.drift_per_s:
            sent[drifting] += faults.drift_per_s * scale * (self._now() - self._born)
        if not faults.saturated:
            return sent
        ends = largest if len(largest) > 1 else largest * len(sent)
        return [math.copysign(end, value) for end, value in zip(ends, sent, strict=True)]

    def first(self, default: float, period: float, rate: float) -> float:
        """Return what a count begins with that grows by ``rate`` in a second up to ``period``."""
        seconds = self._faults.wrap_after_s
        return default if math.isinf(seconds) else (period - round(seconds * rate)) % period

    def restarts(self) -> bool:
        """Return true once, when it is time to restart."""
        if self._restarted or self._now() - self._born < self._faults.restart_s:
            return False
        self._restarted = True
        self._log.write("restart")
        return True

    def count_after_restart(self, count: float, first: float, rate: float) -> float:
        """Return what a count of so many in a second begins with after a restart.

        Parameters
        ----------
        count
            What it would be without a restart.
        first
            What it begins with at power-on.
        rate
            By which it grows, 1/s.
        """
        shift = self._faults.restart_shift_s
        return first if shift is None else count + shift * rate

    @property
    def due(self) -> float | None:
        """When the next late datagram leaves, by the clock."""
        return self._later[0][0] if self._later else None

    def send(self, send: Send, datagram: bytes) -> None:
        """Send a datagram through ``send``, or do what the faults say."""
        self._number += 1
        drop, twice, swap, cut = (self._draws.random() for _ in range(4))
        faults, number = self._faults, self._number
        if self.dead:
            return
        if drop < faults.drop:
            self._log.write("drop", number=number)
            return
        if cut < faults.malformed:
            self._log.write("malformed", number=number)
            datagram = datagram[: max(1, int(cut / faults.malformed * len(datagram)))]
        if swap < faults.reorder and not self._held:
            self._log.write("reorder", number=number)
            self._held.append((send, datagram))
            return
        self._pass(send, datagram)
        if twice < faults.duplicate:
            self._log.write("duplicate", number=number)
            self._pass(send, datagram)
        while self._held:
            self._pass(*self._held.pop())

    def flush(self) -> None:
        """Send what is late and due."""
        while self._later and self._later[0][0] <= self._now():
            _, _, send, datagram = heapq.heappop(self._later)
            if not self.dead:
                send(datagram)

    def _pass(self, send: Send, datagram: bytes) -> None:
        self._collected.append((send, datagram))
        if len(self._collected) < self._faults.burst:
            return
        ready, self._collected = self._collected, []
        for leave, content in ready:
            self._leave(leave, content)

    def _leave(self, send: Send, datagram: bytes) -> None:
        late_ms = self._faults.late_ms
        if late_ms > 0.0:
            due = self._now() + late_ms / 1000.0
            heapq.heappush(self._later, (due, self._number, send, datagram))
        else:
            send(datagram)


def sender_of(
    options: argparse.Namespace,
    log: EventLog,
    without: Mapping[str, str] | None = None,
    *,
    follows: bool = False,
    counts_on: bool = False,
    wraps: bool = False,
) -> FaultySender:
    """Return the sender with the faults of an emulator's options; SIGUSR1 adds those for later.

    With ``--strike-after`` they come by themselves, so long after the device first moves.

    Parameters
    ----------
    options
        Of the emulator.
    log
        See :class:`FaultySender`.
    without
        Faults that its protocol cannot have, and why.
    follows
        Whether it has something that follows commands, and can do so later.
    counts_on
        Whether its count and clock can go on, jump or go back at a restart.
    wraps
        Whether it has a count or clock that runs over.

    Raises
    ------
    DescriptionError
        As :func:`read_faults`, if one of them is among those that it cannot have, if it shall
        follow slower and has nothing that follows, or if a count shall run over that it has not, or
        that is not its first.
    """
    later = read_faults([*options.fault, *options.on_signal])
    reasons = dict(without or {})
    if CLOCKED[0] in reasons:
        reasons |= dict.fromkeys(CLOCKED, reasons[CLOCKED[0]])
    for name in sorted(later.names & reasons.keys()):
        raise DescriptionError.about(
            f"{reasons[name]}; expected another fault than {name}", key="fault"
        )
    if later.slower_ms and not follows:
        raise DescriptionError.about(
            "this emulator has no fault slower: it does not tell how it follows commands",
            key="fault",
        )
    if not counts_on and (unsupported := sorted(later.names & COUNTED_ON)):
        raise DescriptionError.about(
            f"this emulator has no fault {unsupported[0]}: it has no count that could go on",
            key="fault",
        )
    if "wrap-after" in (read_faults(options.on_signal) if wraps else later).names:
        explanation = (
            "is what a count begins with: expected with --fault" if wraps else "cannot come here"
        )
        problem = f"wrap-after {explanation}{'' if wraps else ': nothing that is sent runs over'}"
        raise DescriptionError.about(problem, key="fault")
    if options.strike_after is not None and not follows:
        raise DescriptionError.about(
            "this emulator does not tell when it moves, so nothing comes by itself after that",
            key="strike-after",
        )
    sender = FaultySender(read_faults(options.fault), options.seed, log)
    if options.on_signal:
        signal.signal(signal.SIGUSR1, lambda *_: sender.strike(later))
    if options.strike_after is not None:
        sender.strike_after(later, options.strike_after)
    return sender
